"""The organisation as it was: lists and single resources at any moment."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from resources.documents.kind import Document
from resources.store import history
from resources.tables.ledger import instant
from resources.tables.models import Compaction
from resources.usecases import deletion
from tests.conftest import Clock
from tests.problems import refuses
from tests.resources.making import ALICE, apply, live, made, report, shown

pytestmark = pytest.mark.django_db


def purposes(at: datetime) -> dict[str, str]:
    return {
        each["metadata"]["name"]: each["spec"]["purpose"] for each in history.as_at("Domain", at)
    }


def domain(name: str, purpose: str) -> Document:
    return made("Domain", name, {"purpose": purpose})


def test_lists_show_each_moment_across_a_life(clock: Clock) -> None:
    before = clock.now
    apply(clock.advance(hours=1), domain("a", "first"), domain("b", "always"))
    created = clock.now
    apply(clock.advance(hours=1), domain("a", "second"))
    changed = clock.now
    deletion.delete("Domain", "a", actor=ALICE, now=clock.advance(hours=1))
    deleted = clock.now
    apply(clock.advance(hours=1), domain("a", "reborn"))

    tick = timedelta(microseconds=1)
    assert purposes(before) == {}
    assert purposes(created - tick) == {}
    assert purposes(created) == {"a": "first", "b": "always"}
    assert purposes(changed - tick) == {"a": "first", "b": "always"}
    assert purposes(changed) == {"a": "second", "b": "always"}
    assert purposes(deleted) == {"b": "always"}
    assert purposes(clock.now - tick) == {"b": "always"}
    assert purposes(clock.now) == {"a": "reborn", "b": "always"}


def test_a_single_resource_shows_spec_and_status_of_its_moment(clock: Clock) -> None:
    """O-61"""
    apply(clock.now, made("Domain", "harbour"), made("Agent", "robin"))
    moments = [(clock.now, shown("Agent", "robin"))]
    for state in ("running", "paused"):
        report(clock.advance(hours=1), "robin", {"state": state})
        moments.append((clock.now, shown("Agent", "robin")))
        apply(clock.advance(hours=1), made("Agent", "robin", {"purpose": f"While {state}."}))
        moments.append((clock.now, shown("Agent", "robin")))

    for at, document in moments:
        assert history.document_at("Agent", "robin", at) == document
        assert history.document_at("Agent", "robin", at + timedelta(minutes=59)) == document
    assert history.as_at("Agent", clock.now) == [shown("Agent", "robin")]


def test_what_did_not_live_then_is_nothing(clock: Clock) -> None:
    apply(clock.now, domain("a", "x"))

    assert history.document_at("Domain", "a", clock.now - timedelta(seconds=1)) is None
    assert history.document_at("Domain", "b", clock.now) is None
    assert history.document_at("Agent", "a", clock.now) is None
    deletion.delete("Domain", "a", actor=ALICE, now=clock.advance(hours=1))
    assert history.document_at("Domain", "a", clock.now) is None


def test_recreated_at_once_the_new_one_is_shown(clock: Clock) -> None:
    apply(clock.now, domain("a", "old"))
    deletion.delete("Domain", "a", actor=ALICE, now=clock.advance(hours=1))
    apply(clock.now, domain("a", "new"))

    assert purposes(clock.now) == {"a": "new"}


def test_a_time_of_creation_taken_over_does_not_invent_history(clock: Clock) -> None:
    apply(clock.now, domain("c", "here"))
    old = {"createdAt": "2020-01-01T00:00:00Z"}
    imported = [made("Domain", name, metadata=old) for name in ("a", "b")]
    apply(clock.advance(hours=2), *imported)

    at = clock.now - timedelta(hours=1)
    assert purposes(at) == {"c": "here"}
    assert [each["metadata"]["name"] for each in history.as_at("Domain", at, limit=2)] == ["c"]


def test_lists_go_page_by_page_in_the_order_of_names(clock: Clock) -> None:
    names = [f"d-{n:02}" for n in range(7)]
    apply(clock.now, *(domain(name, "x") for name in reversed(names)))

    pages: list[list[str]] = [[]]
    after = ""
    while page := history.as_at("Domain", clock.now, after=after, limit=3):
        pages.append([each["metadata"]["name"] for each in page])
        after = pages[-1][-1]

    assert [len(page) for page in pages] == [0, 3, 3, 1]
    assert [name for page in pages for name in page] == names


def test_lists_can_be_of_one_domain(clock: Clock) -> None:
    apply(clock.now, made("Agent", "robin"), made("Agent", "wren", {"domain": "hill"}))

    found = history.as_at("Agent", clock.now, domain="hill")

    assert [each["metadata"]["name"] for each in found] == ["wren"]


def test_before_what_was_kept_nothing_is_claimed(clock: Clock) -> None:
    apply(clock.now, domain("a", "x"))
    Compaction.objects.create(name=history.FEED, floor=1, before=clock.now)

    early = clock.now - timedelta(microseconds=1)
    with refuses("gone", match="2026-11-16T10:00:00Z") as caught:
        history.as_at("Domain", early)
    with refuses("gone"):
        history.document_at("Domain", "a", early)
    assert f"before {instant(clock.now)} " in caught.value.message
    assert purposes(clock.now) == {"a": "x"}


def test_revisions_come_newest_first_and_whole(clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour"), made("Agent", "robin"))
    documents = [shown("Agent", "robin")]
    report(clock.advance(hours=1), "robin", {"state": "running"})
    documents.append(shown("Agent", "robin"))
    apply(clock.advance(hours=1), made("Agent", "robin", metadata={"labels": {"a": "b"}}))
    documents.append(shown("Agent", "robin"))

    found = history.revisions(live("Agent", "robin"))

    assert [history.document_of_revision(each) for each in found] == documents[::-1]
    assert [each.change for each in found] == ["MODIFIED", "MODIFIED", "ADDED"]
    older = history.revisions(live("Agent", "robin"), before=found[1].resource_version)
    assert [each.pk for each in older] == [found[2].pk]
    assert [each.pk for each in history.revisions(live("Agent", "robin"), limit=1)] == [
        found[0].pk
    ]


def test_the_whole_history_of_a_deleted_resource_can_be_read(clock: Clock) -> None:
    """O-59 O-61"""
    apply(clock.now, domain("a", "x"))
    row = live("Domain", "a")
    deletion.delete("Domain", "a", actor=ALICE, now=clock.advance(hours=1))

    last, first = history.revisions(row)

    assert (last.change, first.change) == ("DELETED", "ADDED")
    assert history.document_of_revision(last)["spec"] == {"purpose": "x"}
