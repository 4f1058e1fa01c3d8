"""Begin a cycle: decide what it covers, close what a lost worker left open, and say so."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F

from controllers.engine import hooks
from controllers.engine.terms import Controller, Event
from controllers.loop import recovery
from controllers.loop.chunk_writer import Run, entries
from controllers.models import Cycle, Runtime, WorkItem
from controllers.workqueue import leases, queue, target_store
from controllers.workqueue.leases import Lease
from resources.tables import ledger, versions

# A person asked, or the controller was declared anew and may judge otherwise.
FORCING = queue.MANUAL | queue.CHANGE


@dataclass(frozen=True)
class Opened:
    """A cycle that has begun."""

    run: Run
    runtime: Runtime
    whole: WorkItem | None
    full: bool
    # Whether resources reconciled within the interval are looked at again.
    force: bool
    first_look: bool
    # Whether the controller was declared anew since it last looked at everything.
    anew: bool
    now: datetime


def begin(
    lease: Lease, controller: Controller, now: datetime, covers: bool | None = None
) -> Opened:
    """Write that a cycle begins; everything after it can be told from a lost one.

    Whether it covers everything is said by whoever runs it outside, and by what is due for ours.
    """
    recovery.close_lost(controller.key, lease.token, now)
    runtime = Runtime.objects.get(controller=lease.controller)
    whole = queue.whole(controller.key)
    asked = whole is not None and whole.run_at <= now
    force = asked and whole is not None and bool(whole.reasons & FORCING)
    overdue = runtime.resync_at <= now or runtime.stalled_at is not None
    full = asked and (force or overdue) if covers is None else covers
    with transaction.atomic():
        leases.hold(lease, now)
        Runtime.objects.filter(controller=lease.controller).update(cycles=F("cycles") + 1)
        cycle = Cycle.objects.create(
            controller_id=controller.key,
            number=runtime.cycles + 1,
            correlation_id=ledger.correlation.get(),
            generation=controller.generation,
            mode=controller.mode,
            full=full,
            reasons=reasons(controller, whole if asked else None, now),
            requested_by=whole.requested_by if asked and whole else "",
            message=whole.message if asked and whole else "",
            holder=lease.holder,
            token=lease.token,
            revision=versions.horizon(),
            started_at=now,
        )
        run = Run(controller, lease, cycle, hooks.refreshes(controller))
        watched = target_store.living(controller).count() if full else runtime.watched
        ledger.append(entries(run, [started(controller, watched)]), actor=run.actor, now=now)
    first_look = not runtime.has_looked
    anew = force and whole is not None and bool(whole.reasons & queue.CHANGE)
    return Opened(run, runtime, whole if asked else None, full, force, first_look, anew, now)


def reasons(controller: Controller, whole: WorkItem | None, now: datetime) -> int:
    """Add up why the cycle runs."""
    found = whole.reasons if whole is not None else 0
    for each in queue.reasons(controller.key, now):
        found |= each
    return found


def started(controller: Controller, watched: int) -> Event:
    """Tell of the beginning of a cycle."""
    payload = {
        "controllerName": controller.name,
        "targetKind": controller.kind,
        "resourceCount": watched,
    }
    return Event("controller.reconciliation-started", controller.ref, payload)
