"""A schedule starts one run for each of its times, whoever looks and however late."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers.decisions import holds
from controllers.models import Timetable, WorkflowRun
from controllers.workflows import runs, triggers
from resources.tables.models import LedgerEvent
from resources.usecases import deletion
from tests.conftest import Clock
from tests.resources.conftest import real_database as real_database
from tests.resources.making import ALICE
from tests.resources.racing import together
from tests.runs.working import workflow

pytestmark = pytest.mark.django_db

NINE = "0 9 * * *"


@pytest.fixture
def eight(clock: Clock) -> Clock:
    """Return a clock at eight in the morning, on a Monday."""
    clock.now = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
    return clock


def timed(clock: Clock, schedule: str = NINE) -> Any:
    """Declare a workflow with a schedule, and let the loop see it."""
    row = workflow(clock, trigger={"schedule": schedule})
    triggers.keep_time(clock.now)
    return row


def dues() -> list[str]:
    rows = WorkflowRun.objects.order_by("pk")
    return [each.inputs["dueAt"] for each in rows]


def refusals() -> list[str]:
    rows = LedgerEvent.objects.filter(event="workflow.start-refused").order_by("pk")
    return [each.payload["reason"] for each in rows]


def test_a_run_starts_when_it_is_due_and_not_before(eight: Clock) -> None:
    timed(eight)
    early = triggers.keep_time(eight.advance(minutes=59))

    started = triggers.keep_time(eight.advance(minutes=1))
    again = triggers.keep_time(eight.advance(seconds=5))

    run = WorkflowRun.objects.get()
    assert (early, started, again) == (0, 1, 0)
    assert (run.trigger, run.started_by, run.state) == (
        f"schedule {NINE}",
        "system/ioa",
        "executing",
    )
    assert dues() == ["2026-11-16T09:00:00Z"]


def test_each_time_starts_one_run(eight: Clock) -> None:
    timed(eight, "*/15 * * * *")

    for _ in range(120):
        triggers.keep_time(eight.advance(seconds=30))

    assert [each[11:16] for each in dues()] == ["08:15", "08:30", "08:45", "09:00"]


def test_what_was_missed_starts_one_run_and_not_many(eight: Clock) -> None:
    timed(eight, "*/15 * * * *")

    started = triggers.keep_time(eight.advance(days=21, minutes=7))
    again = triggers.keep_time(eight.advance(seconds=5))
    later = triggers.keep_time(eight.advance(minutes=8))

    assert (started, again, later) == (1, 0, 1)
    assert dues() == ["2026-11-16T08:15:00Z", "2026-12-07T08:15:00Z"]


def test_a_time_between_the_declaration_and_the_first_look_is_not_missed(eight: Clock) -> None:
    workflow(eight, trigger={"schedule": "1 8 * * *"})

    assert triggers.keep_time(eight.advance(minutes=2)) == 1


def test_what_was_declared_long_ago_is_not_caught_up_with(eight: Clock) -> None:
    workflow(eight, trigger={"schedule": NINE})

    assert triggers.keep_time(eight.advance(days=3, hours=4)) == 0
    assert Timetable.objects.get().next_at == datetime(2026, 11, 20, 9, 0, tzinfo=UTC)


def test_a_schedule_that_changes_counts_from_then_on(eight: Clock) -> None:
    timed(eight)
    eight.advance(minutes=30)
    timed(eight, "0 10 * * *")

    nine = triggers.keep_time(eight.advance(minutes=30))
    ten = triggers.keep_time(eight.advance(hours=1))

    assert (nine, ten) == (0, 1)


def test_a_time_that_was_started_is_not_started_anew_by_the_same_schedule(eight: Clock) -> None:
    timed(eight)
    triggers.keep_time(eight.advance(hours=1))
    Timetable.objects.all().delete()

    assert triggers.keep_time(eight.advance(minutes=5)) == 0
    assert len(dues()) == 1


def test_a_workflow_without_a_schedule_or_that_is_gone_starts_nothing(eight: Clock) -> None:
    row = timed(eight)
    deletion.delete(row.kind, row.name, actor=ALICE, now=eight.now)

    assert triggers.keep_time(eight.advance(days=1)) == 0
    assert not Timetable.objects.exists()


def test_schedules_do_not_pile_up_behind_a_hold(clock: Clock, ines: User, maya: User) -> None:
    row = timed(clock, "* * * * *")
    wanted = holds.HoldRequest(
        "pause", "resource", "Not now.", resource=row.pk, ends_at=clock.now + timedelta(hours=9)
    )
    hold = holds.place(wanted, now=clock.now, person=ines).hold

    for _ in range(3):
        triggers.keep_time(clock.advance(minutes=1))
    waiting = list(WorkflowRun.objects.values_list("state", flat=True))
    holds.lift(hold.pk, person=maya, now=clock.now, reason="Now.")
    runs.sweep(clock.now)
    triggers.keep_time(clock.advance(minutes=1))

    assert waiting == ["queued"]
    assert refusals() == ["The run of the time before has not begun yet."] * 2
    assert [each.state for each in WorkflowRun.objects.all()] == ["executing"] * 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("real_database")
def test_of_many_workers_one_starts_a_time(eight: Clock) -> None:
    timed(eight)
    later = eight.advance(hours=1)

    started = together([lambda: triggers.keep_time(later) for _ in range(6)])

    assert sum(started) == 1
    assert dues() == ["2026-11-16T09:00:00Z"]
    assert Timetable.objects.get().next_at == later + timedelta(days=1)
