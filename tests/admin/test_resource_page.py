"""One resource on one page: declared, observed, related, and as it was."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from resources.tables.ledger import instant
from resources.tables.models import Compaction
from resources.usecases import deletion
from tests.admin.pages import of, said
from tests.conftest import Clock
from tests.resources.making import ALICE, apply, made, owned, report

pytestmark = pytest.mark.django_db

ROBIN = "/resources/agent/robin"


def test_the_page_shows_what_is_declared_and_observed(
    harbour: Any, viewer: Client, clock: Clock
) -> None:
    """F-46"""
    conditions = [
        {"type": "Ready", "status": "False", "reason": "Tired", "message": "It sleeps."},
        {"type": "Paused", "status": "False"},
    ]
    report(clock.now, "robin", {"state": "running", "conditions": conditions})
    metadata = {"labels": {"tier": "core"}, "owner": {"name": "Maya", "role": "manager"}}
    apply(clock.now, made("Agent", "robin", metadata=metadata))

    page = said(viewer.get(ROBIN, {"view": "all"}))

    assert "Agent Domain harbour Not measured tier: core robin Plan berths." in page
    assert "purpose: Plan berths." in page
    assert "state: running" in page
    assert "False , not as it should be It sleeps. Tired its own report" in page
    assert "False , as it should be" in page
    assert "Owner Maya, manager Type supervised State running Generation 1" in page
    assert page.index("Ready It sleeps") < page.index("Paused")


def test_relations_lead_both_ways_and_mark_what_is_missing(
    harbour: Any, viewer: Client, clock: Clock
) -> None:
    """F-38"""
    spec = {"domain": "pier", "governance": {"escalatesTo": "a-person"}}
    apply(
        clock.now,
        made("Agent", "robin", spec),
        owned("Budget", "money", ("Agent", "robin", "block")),
    )

    page = viewer.get(ROBIN)

    assert "pier Domain does not exist domain" in said(page)
    assert "a-person (Agent, or a person) escalates to" in said(page)
    assert 'href="/resources/budget/money"' in page.content.decode()
    assert "money (Budget) owner" in said(page)


def test_the_history_names_people_and_links_into_the_past(
    harbour: Any, operator: Client, clock: Clock
) -> None:
    apply(clock.advance(minutes=1), made("Agent", "robin", {"purpose": "Paint hulls."}))

    page = operator.get(ROBIN, {"tab": "spec"})

    assert "alice" in said(page)
    assert "Changed spec.purpose." in said(page)
    assert f'href="?at={quote(clock.now.isoformat())}"' in page.content.decode()


@pytest.mark.parametrize(("role", "offered"), [("Viewers", False), ("Operators", True)])
def test_only_those_who_may_are_offered_to_edit(
    harbour: Any, sign_in: Any, role: str, offered: bool
) -> None:
    page = sign_in(role).get(ROBIN)

    assert (f'href="{of("Agent", "robin")}"' in page.content.decode()) is offered


def test_a_resource_is_shown_as_it_was(harbour: Any, viewer: Client, clock: Clock) -> None:
    then = instant(clock.now)
    apply(clock.advance(hours=1), made("Agent", "robin", {"purpose": "Paint hulls."}))

    page = viewer.get(ROBIN, {"at": then})

    assert "as it was on 16 Nov 10:00:00 (UTC)" in said(page)
    assert "purpose: Plan berths." in said(page)
    assert "Back to now" in said(page)
    assert "Next change" in said(page)
    assert "Relations" not in said(page)


def test_a_plus_sign_that_became_a_space_is_understood(harbour: Any, viewer: Client) -> None:
    assert viewer.get(f"{ROBIN}?at=2026-11-16T12:00:00+02:00").status_code == 200


def test_a_deleted_resource_is_still_there_in_the_past(
    harbour: Any, viewer: Client, clock: Clock
) -> None:
    then = instant(clock.now)
    deletion.delete("Agent", "robin", actor=ALICE, now=clock.advance(hours=1))

    assert viewer.get(ROBIN).status_code == 404
    assert viewer.get(ROBIN, {"at": then}).status_code == 200


@pytest.mark.parametrize(
    "at", ["", "yesterday", "2026-11-16T10:00:00", "0001-01-01T00:00:00+23:59", "\x00", "9" * 400]
)
def test_a_time_that_is_none_is_told_in_a_sentence(harbour: Any, viewer: Client, at: str) -> None:
    page = viewer.get(ROBIN, {"at": at})

    assert page.status_code == 400
    assert "This is no time with a zone. Write it like 2026-02-25T10:00:00Z." in said(page)


def test_a_time_before_it_existed_is_told_in_a_sentence(harbour: Any, viewer: Client) -> None:
    page = viewer.get(ROBIN, {"at": "2020-01-01T00:00:00Z"})

    assert page.status_code == 404
    assert "Nothing is known of Agent robin on 1 January 2020 at 00:00:00 UTC." in said(page)


def test_a_time_that_was_dropped_is_told_in_a_sentence(
    harbour: Any, viewer: Client, clock: Clock
) -> None:
    Compaction.objects.create(name="revisions", floor=1, before=clock.now)

    page = viewer.get(ROBIN, {"at": "2020-01-01T00:00:00Z"})

    assert page.status_code == 410
    assert "was dropped." in said(page)


@pytest.mark.parametrize(
    "address",
    [
        "/resources/agent/nobody",
        "/resources/nonsense/robin",
        "/resources/agent/a%00b",
        "/resources/Agent/robin",
    ],
)
def test_what_does_not_exist_is_not_found(harbour: Any, viewer: Client, address: str) -> None:
    assert viewer.get(address).status_code == 404


def test_whoever_is_not_signed_in_is_led_to_sign_in(harbour: Any) -> None:
    assert Client().get(ROBIN).headers["Location"].startswith("/sign-in/")
