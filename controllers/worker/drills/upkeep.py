"""What the clock does about drills: ends lost ones, asks for due ones, and tells of late ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction

from controllers.common.clocks import current
from controllers.engine.document_values import later, moment
from controllers.models import Drill
from controllers.worker.drills import drill_run
from resources.documents.durations import is_positive, parse_duration
from resources.documents.problems import Problem
from resources.tables.ledger import instant
from resources.tables.models import Resource

# One that failed is tried again after this; one this late rings, once.
AGAIN = timedelta(hours=1)
LATE = timedelta(days=1)
LOST = "The process that ran it was lost in the middle. Nothing is proven."


class Due(NamedTuple):
    """A Governance whose way to step in is to be tested, and since when."""

    governance: Resource
    at: datetime


def sweep(now: datetime) -> int:
    """Do what is due; return how many drills that were."""
    ended = sum(end_lost(each, now) for each in lost(now))
    for each in due(now):
        plan(each, now)
    asked = Drill.objects.filter(state=Drill.State.ASKED).order_by("pk")
    done = [drill_run.run(key, now) for key in list(asked.values_list("pk", flat=True))]
    return ended + len(done)


def lost(now: datetime) -> list[Drill]:
    """Return those whose process must be gone."""
    rows = Drill.objects.filter(state=Drill.State.RUNNING, until__lte=current(now))
    return list(rows.select_related("governance").order_by("pk"))


def end_lost(drill: Drill, now: datetime) -> bool:
    """End what a killed process left: its pause, its canary, itself."""
    return drill_run.end(drill, LOST, now)


def every(governance: Resource) -> timedelta | None:
    """Return how often drills are declared; nothing when none are, or nobody may step in."""
    rule = governance.spec.get("humanOverride")
    if not isinstance(rule, dict) or rule.get("enabled") is False:
        return None
    text = rule.get("drillEvery")
    return parse_duration(text) if isinstance(text, str) and is_positive(text) else None


def next_at(governance: Resource) -> datetime | None:
    """Return when the next drill is due: from the last one that passed, or at once."""
    interval = every(governance)
    if interval is None:
        return None
    last = moment(governance.status.get("lastOverrideTest"))
    return governance.created_at if last is None else later(last, interval)


def due(now: datetime) -> Iterator[Due]:
    """Yield what is to be tested by now."""
    for row in Resource.objects.filter(kind="Governance", deleted_at=None).order_by("pk"):
        at = next_at(row)
        if at is not None and at <= now:
            yield Due(row, at)


def since_when(found: Due, now: datetime) -> datetime:
    """Return since when it waits; what was never tested waits since it was first tried."""
    if "lastOverrideTest" in found.governance.status:
        return found.at
    first = Drill.objects.filter(governance=found.governance).order_by("pk").first()
    return first.asked_at if first else now


def plan(found: Due, now: datetime) -> None:
    """Ask for a drill that is due, unless one is open or failed just now; tell when it is late."""
    drills = Drill.objects.filter(governance=found.governance)
    since = since_when(found, now)
    if now - since >= LATE:
        said = f"A drill was due at {instant(since)} and none has passed since."
        with transaction.atomic():
            key = f"drill/{found.governance.uid}/{instant(since)}"
            drill_run.alarm(found.governance, key, said, now)
    if drills.filter(state=Drill.State.FAILED, ended_at__gt=now - AGAIN).exists():
        return
    with suppress(Problem):
        drill_run.ask(found.governance.name, now=now)
