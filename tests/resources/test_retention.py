"""Forgetting: by age, then by count, announced first; what is shown now always stays."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from resources.documents.kind import Document
from resources.documents.problems import Problem
from resources.store import evidence, history
from resources.tables import ledger
from resources.tables.models import Compaction, LedgerEvent, Resource, ResourceRevision
from resources.usecases import deletion, retention, watch
from tests.conftest import Clock
from tests.problems import refuses
from tests.resources.making import ALICE, apply, everything, live, made, report, shown

pytestmark = pytest.mark.django_db
# The feed follows only what is committed.
committed = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def short_memory(settings: Any) -> None:
    settings.SPEC_HISTORY = timedelta(days=100)
    settings.STATUS_HISTORY = timedelta(days=10)
    settings.SPEC_REVISIONS = 500
    settings.STATUS_REVISIONS = 1_000


def domain(purpose: str) -> Document:
    return made("Domain", "harbour", {"purpose": purpose})


def versions_of(kind: str, name: str) -> list[int]:
    found = live(kind, name).revisions.order_by("resource_version")
    return list(found.values_list("resource_version", flat=True))


def purpose_at(at: datetime) -> str | None:
    found = history.document_at("Domain", "harbour", at)
    return found["spec"]["purpose"] if found else None


def test_an_old_organisation_that_never_changed_keeps_everything(clock: Clock) -> None:
    apply(clock.now, domain("x"), made("Agent", "robin", status={"state": "idle"}))
    before = everything()

    swept = retention.sweep(clock.advance(days=1_000))

    assert swept == retention.Swept()
    assert everything() == before
    assert not Compaction.objects.exists()


def test_a_declaration_is_dropped_once_it_was_superseded_long_ago(clock: Clock) -> None:
    """A-20"""
    apply(clock.now, domain("first"))
    apply(clock.advance(days=10), domain("second"))
    second = clock.now
    apply(clock.advance(days=60), domain("third"))

    swept = retention.sweep(second + timedelta(days=101))

    assert (swept.by_age, swept.by_count, swept.tombstones) == (1, 0, 0)
    assert [purpose_at(second), purpose_at(clock.now)] == ["second", "third"]
    with refuses("gone"):
        purpose_at(second - timedelta(microseconds=1))


def test_what_was_in_force_at_the_limit_stays(clock: Clock) -> None:
    """A-20"""
    apply(clock.now, domain("first"))
    start = clock.now
    apply(clock.advance(days=150), domain("second"))

    swept = retention.sweep(start + timedelta(days=200))

    assert swept == retention.Swept()
    assert purpose_at(start + timedelta(days=120)) == "first"


def test_observations_are_forgotten_sooner_than_declarations(clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour"), made("Agent", "robin"))
    start = clock.now
    for state in ("running", "paused", "idle"):
        report(clock.advance(days=1), "robin", {"state": state})
    kept = versions_of("Agent", "robin")

    swept = retention.sweep(clock.advance(days=11))

    assert swept.by_age == 2
    assert versions_of("Agent", "robin") == [kept[0], kept[3]]
    assert shown("Agent", "robin")["status"]["state"] == "idle"
    at_start = history.document_at("Agent", "robin", start)
    assert at_start is not None
    assert at_start["metadata"]["generation"] == 1


def test_an_observation_a_kept_declaration_leans_on_stays(clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour"), made("Agent", "robin"))
    report(clock.advance(days=1), "robin", {"state": "running"})
    apply(clock.advance(days=1), made("Agent", "robin", {"purpose": "Else."}))
    declared = clock.now
    report(clock.advance(days=1), "robin", {"state": "paused"})

    retention.sweep(clock.advance(days=50))

    found = history.document_at("Agent", "robin", declared)
    assert found is not None
    assert (found["spec"]["purpose"], found["status"]["state"]) == ("Else.", "running")


def test_beyond_the_count_the_oldest_go(clock: Clock, settings: Any) -> None:
    """A-21"""
    settings.SPEC_REVISIONS = 2
    moments = []
    for number in range(6):
        apply(clock.advance(hours=1), domain(str(number)))
        moments.append(clock.now)
    every = versions_of("Domain", "harbour")

    swept = retention.sweep(clock.now)

    assert (swept.by_age, swept.by_count) == (0, 3)
    assert versions_of("Domain", "harbour") == every[3:]
    assert [purpose_at(at) for at in moments[3:]] == ["3", "4", "5"]
    for at in moments[:3]:
        with refuses("gone"):
            purpose_at(at)


def test_thinned_history_never_shows_a_wrong_declaration(clock: Clock, settings: Any) -> None:
    settings.SPEC_REVISIONS = 1
    told: dict[datetime, str] = {}
    for number in range(5):
        apply(clock.advance(hours=1), made("Agent", "robin", {"purpose": str(number)}))
        told[clock.now] = str(number)
        if number in (0, 2):
            report(clock.advance(minutes=1), "robin", {"errorRate": number})
            told[clock.now] = str(number)

    assert retention.sweep(clock.now).by_count > 0

    for at, purpose in told.items():
        try:
            found = history.document_at("Agent", "robin", at)
        except Problem as problem:
            if problem.code != "gone":
                raise
            continue
        assert found is not None
        assert found["spec"]["purpose"] == purpose
    assert shown("Agent", "robin")["spec"]["purpose"] == "4"


def test_what_goes_is_counted_in_the_ledger(clock: Clock, settings: Any) -> None:
    """A-23 X-26"""
    settings.SPEC_REVISIONS = 1
    for number in range(4):
        apply(clock.advance(hours=1), domain(str(number)))
    every = versions_of("Domain", "harbour")

    retention.sweep(clock.now)

    entry = LedgerEvent.objects.get(event="retention.dropped")
    assert (entry.subject, entry.actor) == ("revisions", "system/ioa")
    assert entry.payload == {"reason": "count", "count": 2, "upto": every[1]}
    assert evidence.verify().ok


def test_without_its_entry_nothing_is_dropped(
    clock: Clock, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A-23"""
    settings.SPEC_REVISIONS = 1
    for number in range(4):
        apply(clock.advance(hours=1), domain(str(number)))
    before = everything()

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(ledger, "append", refuse)
    with pytest.raises(OSError, match="disk full"):
        retention.sweep(clock.now)
    assert everything() == before


def test_tombstones_go_with_their_history_after_their_time(clock: Clock) -> None:
    apply(clock.now, domain("x"), made("Domain", "hill"))
    deletion.delete("Domain", "harbour", actor=ALICE, now=clock.advance(days=1))
    died = clock.now

    early = retention.sweep(died + timedelta(days=99))
    late = retention.sweep(died + timedelta(days=101))

    assert (early.tombstones, late.tombstones) == (0, 1)
    assert [row.name for row in Resource.objects.all()] == ["hill"]
    assert {each.resource.name for each in ResourceRevision.objects.all()} == {"hill"}
    assert LedgerEvent.objects.filter(subject="tombstones").count() == 1
    assert LedgerEvent.objects.filter(subject="domain/harbour").count() == 2
    with refuses("gone"):
        purpose_at(died - timedelta(seconds=1))
    assert purpose_at(died) is None
    assert evidence.verify().ok


@committed
def test_a_watcher_from_before_the_floor_is_told_to_list_again(clock: Clock) -> None:
    start = watch.current()
    apply(clock.now, domain("first"))
    dropped = live("Domain", "harbour").resource_version
    apply(clock.advance(days=1), domain("second"))
    second = live("Domain", "harbour").resource_version
    assert [each.resource_version for each in watch.changes(start).events] == [dropped, second]

    retention.sweep(clock.advance(days=101))

    for since in (start, dropped - 1):
        with refuses("gone") as caught:
            watch.changes(since)
        assert f"up to version {dropped} " in caught.value.message
    assert [each.resource_version for each in watch.changes(dropped).events] == [second]


def during(table: str, act: Callable[[], object]) -> Any:
    """Act once, just before the next query that reads the table."""
    state = {"done": False}

    def wrapper(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("SELECT") and f'FROM "{table}"' in sql and not state["done"]:
            state["done"] = True
            act()
        return execute(sql, params, many, context)

    return connection.execute_wrapper(wrapper)


@committed
def test_what_is_dropped_while_reading_is_not_passed_over(clock: Clock) -> None:
    start = watch.current()
    apply(clock.now, domain("first"))
    apply(clock.advance(days=1), domain("second"))
    late = clock.now + timedelta(days=101)

    with (
        during("resources_resourcerevision", lambda: retention.sweep(late)),
        refuses("gone"),
    ):
        watch.changes(start)


def test_what_is_dropped_while_looking_back_is_not_passed_over(clock: Clock) -> None:
    apply(clock.now, domain("first"))
    start = clock.now
    apply(clock.advance(days=1), domain("second"))
    late = clock.now + timedelta(days=101)

    with (
        during("resources_resource", lambda: retention.sweep(late)),
        refuses("gone"),
    ):
        purpose_at(start)
