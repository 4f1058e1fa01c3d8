"""Forgetting what the loop recorded: by age, then by count, announced first."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from controllers.common import retention
from controllers.common.retention import Swept
from controllers.models import Alert, Cycle, DriftSample
from controllers.worker import housekeeping
from resources.store import evidence
from resources.tables import ledger
from resources.tables.models import LedgerEvent, Resource
from tests.conftest import Clock
from tests.controllers.making import (
    KEEPER,
    controller,
    cycles,
    declare,
    domain,
    drifted,
    measure,
    work,
)
from tests.resources.making import live

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def short_memory(settings: Any) -> None:
    settings.DRIFT_HISTORY = timedelta(days=30)
    settings.DRIFT_SAMPLES = 200
    settings.CYCLE_HISTORY = timedelta(days=30)
    settings.CYCLE_RECORDS = 200
    settings.ALERT_HISTORY = timedelta(days=30)


@pytest.fixture
def harbour(clock: Clock) -> Resource:
    """A domain and the controller that looks after it, before its first cycle."""
    declare(clock, domain("harbour"), controller())
    return live("Domain", "harbour")


def sample(resource: Resource, *times: datetime) -> None:
    """Record a point of a resource's drift at each time."""
    keeper = live("Controller", KEEPER)
    for number, at in enumerate(times):
        DriftSample.objects.create(
            controller=keeper, resource=resource, at=at, score=number / 1_000, drifted=False
        )


def ended(*times: datetime, finished: bool = True) -> None:
    """Record a cycle at each time."""
    keeper = live("Controller", KEEPER)
    first = Cycle.objects.count() + 1
    Cycle.objects.bulk_create(
        Cycle(
            controller=keeper,
            number=first + number,
            correlation_id=str(number),
            generation=1,
            mode="warn",
            full=True,
            reasons=2,
            holder="worker",
            token=1,
            revision=1,
            started_at=at,
            finished_at=at if finished else None,
        )
        for number, at in enumerate(times)
    )


def ring(resource: Resource, reason: str, resolved_at: datetime | None, clock: Clock) -> None:
    """Record an alert."""
    Alert.objects.create(
        controller=live("Controller", KEEPER),
        resource=resource,
        reason=reason,
        severity="info",
        message="Look.",
        correlation_id="1",
        raised_at=clock.now - timedelta(days=400),
        resolved_at=resolved_at,
    )


def ages(clock: Clock, table: Any, field: str) -> list[int]:
    """Return how many days old what is left is, the oldest first."""
    return [
        (clock.now - at).days for at in table.objects.order_by(field).values_list(field, flat=True)
    ]


def days_ago(clock: Clock, *days: int) -> list[datetime]:
    return [clock.now - timedelta(days=each) for each in days]


def dropped() -> list[dict[str, Any]]:
    found = LedgerEvent.objects.filter(event="retention.dropped").order_by("pk")
    return [{"what": each.subject, **each.payload} for each in found]


def test_what_is_too_old_goes(clock: Clock, harbour: Resource) -> None:
    """A-20 What a score was at the limit is still known: the point before it stays."""
    sample(harbour, *days_ago(clock, 50, 40, 31, 29, 1))
    ended(*days_ago(clock, 50, 31, 29, 1))
    ring(harbour, "Old", clock.now - timedelta(days=31), clock)
    ring(harbour, "Late", clock.now - timedelta(days=29), clock)
    ring(harbour, "Open", None, clock)

    assert retention.sweep(clock.now) == Swept(by_age=5)
    assert ages(clock, DriftSample, "at") == [31, 29, 1]
    assert ages(clock, Cycle, "started_at") == [29, 1]
    assert set(Alert.objects.values_list("reason", flat=True)) == {"Late", "Open"}


def test_what_is_too_much_goes(clock: Clock, harbour: Resource, settings: Any) -> None:
    """A-21"""
    times = [clock.now - timedelta(minutes=minutes) for minutes in range(250, 0, -1)]
    sample(harbour, *times)
    ended(*times)

    assert retention.sweep(clock.now) == Swept(by_count=100)
    assert list(DriftSample.objects.order_by("at").values_list("at", flat=True)) == times[50:]
    assert [each.started_at for each in cycles()] == times[50:]
    settings.DRIFT_SAMPLES = settings.CYCLE_RECORDS = 1
    retention.sweep(clock.now)
    assert [DriftSample.objects.get().at, Cycle.objects.get().started_at] == [times[-1]] * 2


def test_age_comes_before_count(clock: Clock, harbour: Resource) -> None:
    """A-22"""
    old = [clock.now - timedelta(days=60, minutes=minutes) for minutes in range(150, 0, -1)]
    fresh = [clock.now - timedelta(minutes=minutes) for minutes in range(150, 0, -1)]
    sample(harbour, *old, *fresh)
    ended(*old, *fresh)

    assert retention.sweep(clock.now) == Swept(by_age=149 + 150)
    assert [each.started_at for each in cycles()] == fresh
    assert DriftSample.objects.count() == 151


def test_what_goes_is_counted_in_the_ledger_first(clock: Clock, harbour: Resource) -> None:
    """A-23"""
    sample(harbour, *days_ago(clock, 50, 40, 31, 1))
    ended(*days_ago(clock, 50, 1))
    ring(harbour, "Old", clock.now - timedelta(days=99), clock)
    retention.sweep(clock.now)

    told = [ledger.instant(clock.now - timedelta(days=days)) for days in (40, 50, 99)]
    assert dropped() == [
        {"what": "drift samples", "reason": "age", "count": 2, "upto": told[0]},
        {"what": "cycles", "reason": "age", "count": 1, "upto": told[1]},
        {"what": "alerts", "reason": "age", "count": 1, "upto": told[2]},
    ]
    assert evidence.verify().ok


def test_without_its_entry_nothing_goes(
    clock: Clock, harbour: Resource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A-23"""
    sample(harbour, *days_ago(clock, 50, 40, 31, 1))

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(ledger, "append", refuse)
    with pytest.raises(OSError, match="disk full"):
        retention.sweep(clock.now)
    assert DriftSample.objects.count() == 4


def test_the_last_cycle_and_what_still_runs_stay(clock: Clock, harbour: Resource) -> None:
    """A-20"""
    ended(*days_ago(clock, 90, 80), finished=False)
    ended(*days_ago(clock, 70, 60))
    retention.sweep(clock.now)

    assert ages(clock, Cycle, "started_at") == [90, 80, 60]


def test_each_pair_is_counted_by_itself(clock: Clock, harbour: Resource, settings: Any) -> None:
    """A-21"""
    settings.DRIFT_SAMPLES = 2
    declare(clock, domain("city"))
    sample(harbour, *days_ago(clock, 3, 2, 1))
    sample(live("Domain", "city"), *days_ago(clock, 9, 8))

    assert retention.sweep(clock.now) == Swept(by_count=1)
    assert ages(clock, DriftSample, "at") == [9, 8, 2, 1]


def test_nothing_is_said_when_nothing_goes(clock: Clock, harbour: Resource) -> None:
    """A-23"""
    sample(harbour, *days_ago(clock, 400))
    ended(*days_ago(clock, 400))

    assert retention.sweep(clock.now) == Swept()
    assert dropped() == []


def test_the_loop_looks_after_it(clock: Clock, settings: Any) -> None:
    """A-20 A-21"""
    settings.CYCLE_RECORDS = 2
    drifted(clock, "harbour")
    declare(clock, controller())
    for ships in range(4):
        measure(clock, "harbour", ships)
        work(clock)
        clock.advance(minutes=5)

    assert "records" in housekeeping.run_due(clock.now)
    assert [each.number for each in cycles()] == [3, 4]
    assert [each["what"] for each in dropped()] == ["cycles"]
    [after] = work(clock)
    assert after.number == 5
