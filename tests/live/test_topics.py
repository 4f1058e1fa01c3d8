"""What entries are about, and whom that concerns."""

from __future__ import annotations

import pytest

from controllers.web.live.subscription import Seat, seat
from controllers.web.live.topics import Entry, news
from tests.problems import refuses
from tests.rows import every_row

TOLD = news(
    [
        Entry(11, "proposal/8f2c", "proposal.created", "proposal/7", "agent/robin"),
        Entry(14, "resource/77aa", "resource.deleted", "domain/growth", None),
    ],
    since=10,
    upto=15,
)


@pytest.mark.parametrize(
    "topic",
    ["*", "proposal", "proposal/8f2c", "proposal.created", "proposal/7", "agent/robin"],
)
def test_an_entry_concerns_its_kind_stream_event_subject_and_resource(topic: str) -> None:
    assert TOLD.concerns({"something-else", topic}, 10)


@pytest.mark.parametrize("topic", ["controller", "proposal/9", "agent", "7", ""])
def test_an_entry_concerns_nobody_else(topic: str) -> None:
    assert not TOLD.concerns({topic}, 10)


def test_an_event_of_any_domain_concerns_who_waits_for_it_in_all() -> None:
    spent = Entry(12, "resource/91d0", "growth.budget_exceeded", "budget/growth", None)
    told = news([spent], since=10, upto=15)

    assert told.concerns({"growth.budget_exceeded"}, 10)
    assert told.concerns({"budget_exceeded"}, 10)
    assert not told.concerns({"growth", "finance.budget_exceeded"}, 10)


def test_what_somebody_knows_is_not_new_to_them() -> None:
    assert TOLD.concerns({"proposal"}, 10)
    assert not TOLD.concerns({"proposal"}, 11)
    assert TOLD.concerns({"resource"}, 13)
    assert not TOLD.concerns({"resource"}, 15)


def test_who_is_further_behind_than_was_read_is_told_everything() -> None:
    assert TOLD.concerns({"nothing-of-this"}, 9)


def test_who_claims_to_know_the_future_is_told_everything() -> None:
    assert TOLD.concerns({"nothing-of-this"}, 16)


def test_a_page_names_its_address_and_what_it_knows() -> None:
    assert seat("/approvals?state=open", "391") == Seat("/approvals?state=open", 391)
    assert seat("/", None) == seat("/", "") == Seat("/", None)
    assert seat("/", 0) == Seat("/", 0)


@pytest.mark.parametrize("address", [None, "", "approvals", "http://elsewhere/", 7, "/" * 3_000])
def test_what_is_no_address_is_refused(address: object) -> None:
    with refuses("invalid", match="page"):
        seat(address, None)


@every_row("since", ["-1", "1.5", "x", "٣", -1, 1.5, True, [], "9" * 30, 2**60])
def test_what_is_no_number_is_refused(since: object) -> None:
    with refuses("invalid", match="number"):
        seat("/", since)
