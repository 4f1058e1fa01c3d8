"""Housekeeping: due work is found in the database and done by exactly one process."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from controllers.models import Chore
from controllers.worker import housekeeping
from controllers.worker.housekeeping import Duty
from resources.store import evidence
from resources.tables.models import Checkpoint, Condition, ResourceRevision
from tests.conftest import Clock
from tests.resources.making import apply, made
from tests.resources.racing import together

STARTING = ["drills", "runs", "triggers", "schedules"]
OFTEN = ["holds", "proposals", "escalation", *STARTING, "telemetry alerts", "violations"]
PUBLISHED = ["autonomy", "checks", "telemetry status", "budgets"]
MINUTELY = [*PUBLISHED, "checkpoint", "references"]
ALL = [*OFTEN, *MINUTELY, "retention", "records", "events", "answers", "door"]


@pytest.mark.django_db
def test_everything_is_due_at_first_and_then_at_its_time(clock: Clock, settings: Any) -> None:
    settings.CHECKPOINT_EVERY = timedelta(minutes=5)
    settings.RETENTION_EVERY = timedelta(hours=1)

    assert housekeeping.run_due(clock.now) == ALL
    assert housekeeping.run_due(clock.advance(seconds=4)) == []
    assert housekeeping.run_due(clock.advance(seconds=55)) == OFTEN
    assert housekeeping.run_due(clock.advance(seconds=1)) == [*PUBLISHED, "references"]
    assert housekeeping.run_due(clock.advance(minutes=4)) == [*OFTEN, *MINUTELY]
    assert housekeeping.run_due(clock.advance(minutes=55)) == ALL


@pytest.mark.django_db
def test_the_heart_beats_every_five_seconds(clock: Clock) -> None:
    assert housekeeping.heartbeat() is None

    housekeeping.run_due(clock.now)
    first = housekeeping.heartbeat()
    housekeeping.run_due(clock.advance(seconds=4))
    between = housekeeping.heartbeat()
    housekeeping.run_due(clock.advance(seconds=1))

    assert first == between == clock.now - timedelta(seconds=5)
    assert housekeeping.heartbeat() == clock.now


@pytest.mark.django_db
def test_a_round_with_nothing_due_only_reads(clock: Clock, django_assert_num_queries: Any) -> None:
    housekeeping.run_due(clock.now)
    clock.advance(seconds=1)

    with django_assert_num_queries(1) as asked:
        housekeeping.run_due(clock.now)

    assert asked[0]["sql"].startswith("SELECT")


@pytest.mark.django_db
def test_a_failing_chore_stops_nobody_and_comes_again(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    runs: list[datetime] = []

    def fail(now: datetime) -> None:
        runs.append(now)
        raise ZeroDivisionError

    minute = timedelta(minutes=1)
    monkeypatch.setattr(
        housekeeping,
        "duties",
        lambda: (Duty("bad", minute, fail), Duty("good", minute, runs.append)),
    )

    with caplog.at_level(logging.ERROR, "ioa.chores"):
        first = housekeeping.run_due(clock.now)
    second = housekeeping.run_due(clock.advance(minutes=1))

    assert (first, second) == (["good"], ["good"])
    assert len(runs) == 4
    assert "The chore bad failed" in caplog.text
    assert housekeeping.heartbeat() == clock.now


def test_of_many_processes_one_does_a_chore(clock: Clock, real_database: None) -> None:
    """A-25"""
    runs: list[datetime] = []
    duty = Duty("work", timedelta(minutes=1), runs.append)

    for _ in range(3):
        claims = together([partial(housekeeping.claim, duty, clock.now)] * 6)
        assert sorted(claims) == [False] * 5 + [True]
        clock.advance(minutes=1)

    assert Chore.objects.count() == 1


def test_many_loops_do_each_chore_once(clock: Clock, real_database: None) -> None:
    apply(clock.now, made("Domain", "harbour"))

    done = together([partial(housekeeping.run_due, clock.now)] * 4)

    assert sorted(name for each in done for name in each) == sorted(ALL)
    assert Checkpoint.objects.count() == 1
    assert housekeeping.heartbeat() == clock.now


@pytest.mark.django_db(transaction=True)
def test_the_chores_do_what_they_are_for(clock: Clock, settings: Any) -> None:
    settings.SPEC_REVISIONS = 1
    for number in range(4):
        apply(clock.now, made("Agent", "robin", {"purpose": str(number)}))
    Condition.objects.all().delete()

    housekeeping.run_due(clock.now)

    assert Checkpoint.objects.count() == 1
    assert Condition.objects.get().type == "ReferencesResolved"
    assert ResourceRevision.objects.count() < 5
    assert evidence.verify().ok
