"""`/readyz` says whether the loop is alive, and how it gets on."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone

from controllers.models import Runtime, WorkItem
from controllers.worker import housekeeping
from tests.conftest import Clock
from tests.controllers.making import controller, declare, healthy, work

pytestmark = pytest.mark.django_db


@pytest.fixture
def today() -> Clock:
    """Return a clock that begins when the test does, as views read the real one."""
    clock = Clock()
    clock.now = timezone.now()
    return clock


def ask() -> Any:
    return Client().get("/readyz")


def test_a_beating_heart_is_ready(today: Clock) -> None:
    housekeeping.run_due(today.now)

    answer = ask()

    assert answer.status_code == 200
    assert (answer.json()["database"], answer.json()["loop"]) == ("ok", "ok")


def test_a_silent_loop_is_not_ready_and_still_counts(today: Clock) -> None:
    housekeeping.run_due(today.advance(seconds=-20))

    answer = ask()

    assert answer.status_code == 503
    assert answer.json()["loop"] == "silent"
    assert answer.json()["queue"] == {"due": 0, "parked": 0, "oldestSeconds": 0}


def test_controllers_are_counted_once_each(today: Clock) -> None:
    names = ["well", "stopped", "stalled", "both", "broken"]
    declare(today, *map(controller, names))
    work(today)
    rows = {name: Runtime.objects.filter(controller__name=name) for name in names}
    rows["stopped"].update(breaker="open")
    rows["stalled"].update(stalled_at=today.now)
    rows["both"].update(breaker="open", stalled_at=today.now)
    rows["broken"].update(problem="No kind.", breaker="open")

    counts = ask().json()["controllers"]

    assert counts == {"running": 1, "stopped": 2, "stalled": 1, "invalid": 1}


def test_the_queue_is_counted(today: Clock) -> None:
    declare(today, controller())
    healthy(today, "farm", "harbour")
    work(today)
    [item] = WorkItem.objects.all()
    WorkItem.objects.update(run_at=today.advance(seconds=-60))
    parked = WorkItem(
        controller=item.controller, resource_id=item.resource_id + 1, reasons=1, run_at=today.now
    )
    parked.parked_at = today.now
    parked.save()

    counts = ask().json()["queue"]

    assert (counts["due"], counts["parked"]) == (1, 1)
    assert 60 <= counts["oldestSeconds"] < 120


def test_it_costs_three_queries(today: Clock, django_assert_num_queries: Any) -> None:
    declare(today, controller())
    work(today)

    with django_assert_num_queries(3):
        ask()


def test_a_database_that_is_gone_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise DatabaseError

    monkeypatch.setattr(housekeeping, "heartbeat", fail)

    answer = ask()

    assert answer.status_code == 503
    assert answer.json() == {"database": "unreachable", "loop": "unknown"}


def test_a_process_without_a_loop_is_ready_though_none_beats(today: Clock, settings: Any) -> None:
    settings.LOOP_ELSEWHERE = True

    answer = ask()

    assert (answer.status_code, answer.json()["loop"]) == (200, "silent")
