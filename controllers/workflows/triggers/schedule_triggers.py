"""Schedules that start runs: once for each time, and once for all that were missed."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime

from controllers.engine.due_times import LONGEST_DELAY
from controllers.models import Timetable, WorkflowRun
from controllers.workflows import runs
from controllers.workflows.triggers import declarations, trigger_refusals
from controllers.workflows.triggers.declarations import Trigger
from resources.documents.actor import SYSTEM
from resources.documents.problems import Problem, refused
from resources.documents.schedules import next_ever, parse
from resources.tables import ledger
from resources.tables.models import Resource

PREFIX = "schedule/"


def keep_time(now: datetime) -> int:
    """Start what is due by the clock; return how many runs that is."""
    timed = {each.workflow: each for each in declarations.every() if each.schedule}
    rows = Timetable.objects.in_bulk()
    forget(rows, timed)
    started = 0
    for key, trigger in timed.items():
        row = rows.get(key)
        if row is None or row.schedule != trigger.schedule:
            row = enter(trigger, now)
        if row is not None and row.next_at <= now:
            started += start(trigger, row, now)
            move_on(trigger, row, now)
    return started


def forget(rows: Mapping[int, Timetable], timed: Mapping[int, Trigger]) -> None:
    """Take away the times of workflows that have no schedule any more."""
    gone = rows.keys() - timed.keys()
    if gone:
        Timetable.objects.filter(pk__in=gone).delete()


def enter(trigger: Trigger, now: datetime) -> Timetable | None:
    """Work out when a schedule comes for the first time after it was declared."""
    row = Resource.objects.only("updated_at").filter(pk=trigger.workflow).first()
    # What was declared long before anybody kept time is not caught up with.
    since = max(min(row.updated_at, now), now - LONGEST_DELAY) if row else now
    following = after(trigger, since)
    if following is None:
        return None
    table = Timetable(workflow_id=trigger.workflow, schedule=trigger.schedule, next_at=following)
    Timetable.objects.bulk_create(
        [table],
        update_conflicts=True,
        unique_fields=["workflow"],
        update_fields=["schedule", "next_at"],
    )
    return table


def after(trigger: Trigger, moment: datetime) -> datetime | None:
    """Return when a schedule comes next."""
    schedule = parse(trigger.schedule)
    return next_ever(schedule, moment) if schedule else None


def start(trigger: Trigger, row: Timetable, now: datetime) -> bool:
    """Start the run of one time; whoever comes second finds it started."""
    due = ledger.instant(row.next_at)
    wish = runs.RunRequest(
        trigger.workflow,
        str(uuid.uuid4()),
        f"schedule {trigger.schedule}"[:200],
        {"dueAt": due},
        f"{PREFIX}{due}",
    )
    try:
        check(trigger, wish)
        return runs.start_by_itself(wish, behind=SYSTEM, now=now).new
    except Problem as problem:
        trigger_refusals.tell(trigger, wish, problem.message, now)
        return False


def check(trigger: Trigger, wish: runs.RunRequest) -> None:
    """Refuse a second run that would only wait behind the first."""
    waiting = WorkflowRun.objects.filter(
        workflow=trigger.workflow, state="queued", request_key__startswith=PREFIX
    ).exclude(request_key=wish.request_key)
    if waiting.exists():
        raise refused("The run of the time before has not begun yet.")


def move_on(trigger: Trigger, row: Timetable, now: datetime) -> None:
    """Go on to the next time that is still to come, whatever was missed before."""
    following = after(trigger, now)
    mine = Timetable.objects.filter(pk=row.pk, schedule=trigger.schedule, next_at=row.next_at)
    if following is None:
        mine.delete()
    else:
        mine.update(next_at=following)
