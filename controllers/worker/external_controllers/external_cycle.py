"""A cycle that an outside process fills: one call at a time, under its fence, added up here."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from controllers.access import roles
from controllers.engine import hooks
from controllers.engine.cycle import Stopwatch
from controllers.engine.errors import EngineError, Fenced
from controllers.engine.terms import Action, Outcome
from controllers.loop import cycle_run
from controllers.loop.chunk_writer import Run
from controllers.loop.cycle_counts import KEPT, Tally
from controllers.models import Cycle, Runtime
from controllers.worker.external_controllers.leadership import (
    declared,
    hear,
)
from controllers.workqueue import leases
from controllers.workqueue.cycle_effects import Effects
from controllers.workqueue.leases import Lease
from resources.documents.actor import Actor
from resources.documents.problems import FENCED, Problem, missing, refused
from resources.tables import ledger
from resources.tables.models import Resource

# The phase of a cycle while a call about it is under way; others wait.
TAKING = "diff"
# How many changes of a cycle were authorised: its limit counts over all calls.
AUTHORISED = "authorised"


@contextmanager
def entered(row: Resource, number: int, fence: int, now: datetime) -> Iterator[Run]:
    """Enter an open cycle for one call, if it is still the caller's."""
    run = found(row, number, fence)
    hear(row, now)
    mine = Cycle.objects.filter(pk=run.cycle.pk, finished_at=None)
    # A call that was lost with its server keeps others out no longer than a cycle may take.
    free = Q(phase="") | Q(started_at__lt=now - run.controller.timeout)
    if not mine.filter(free).update(phase=TAKING):
        raise refused("Another call about this cycle is under way: send one after the other.")
    run.cycle.refresh_from_db()
    story = ledger.correlation.set(run.cycle.correlation_id)
    try:
        leases.hold(run.lease, now)
        yield run
    except Fenced as error:
        raise Problem(FENCED, str(error)) from error
    except EngineError as error:
        raise refused(str(error)) from error
    finally:
        ledger.correlation.reset(story)
        mine.update(phase="")


def found(row: Resource, number: int, fence: int) -> Run:
    """Return a cycle that is open, with the lease that is named by its fence."""
    controller = declared(row)
    cycle = Cycle.objects.filter(controller=row, number=number).first()
    if cycle is None:
        raise missing(f"{row} has no cycle {number}, or it is no longer kept.")
    if cycle.token != fence:
        raise Problem(
            FENCED, "Another process runs this controller now, or did when this cycle began."
        )
    if cycle.finished_at is not None:
        raise refused(f"Cycle {number} of {row} has ended: {cycle.error or cycle.outcome}")
    behind = roles.interested_in(Actor("controller", row.name), row)
    lease = Lease(row.pk, cycle.holder, fence)
    return Run(controller, lease, cycle, hooks.refreshes(controller), tuple(behind))


def means(run: Run, kind: type[Effects], now: datetime) -> Effects:
    """Return the means of a call: bound to the same holds, modes and limits as our own cycles."""
    effects = kind(run.controller)
    looked = Runtime.objects.get(controller=run.controller.key).has_looked
    cycle_run.govern(effects, not looked, now)
    effects.changes = int(run.cycle.counts.get(AUTHORISED, 0))
    return effects


def fresh() -> Tally:
    """Begin to count."""
    return Tally(Stopwatch(time.perf_counter))


def keep(run: Run, tally: Tally, effects: Effects, now: datetime) -> None:
    """Add what one call came to to the record of its cycle."""
    cycle = run.cycle
    counts = Counter(cycle.counts) + tally.counts
    counts[AUTHORISED] = effects.changes
    actions = [*cycle.actions, *map(written, tally.outcomes)][:KEPT]
    error = tally.errors[-1][1] if tally.errors else cycle.error
    with transaction.atomic():
        leases.hold(run.lease, now)
        Cycle.objects.filter(pk=cycle.pk, finished_at=None).update(
            counts=dict(+counts),
            hooks=[*cycle.hooks, *tally.hooks][:KEPT],
            actions=actions,
            error=error,
        )


def written(outcome: Outcome) -> dict[str, Any]:
    """Write an outcome as the record of a cycle keeps it."""
    action = outcome.action
    return {
        "type": action.type,
        "operation": action.operation,
        "target": action.target,
        "result": outcome.result,
        "reason": outcome.reason,
        "why": action.why,
    }


def counted(cycle: Cycle) -> Tally:
    """Return what all calls about a cycle came to."""
    tally = fresh()
    tally.counts.update(cycle.counts)
    tally.hooks, tally.outcomes = list(cycle.hooks), [read(each) for each in cycle.actions]
    if cycle.error:
        tally.errors = [(TAKING, cycle.error)]
    return tally


def read(given: Mapping[str, Any]) -> Outcome:
    """Read an outcome from the record of a cycle."""
    about = given["type"], given["operation"]
    action = Action(0, *about, kind="change", target=given["target"], why=given["why"])
    return Outcome(action, given["result"], given["reason"])
