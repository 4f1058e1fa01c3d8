"""Who runs an outside controller: one process under a lease, heard again and again."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from django.db.models import F, Q

from controllers.decisions import holds
from controllers.engine import breaker
from controllers.engine.errors import Fenced
from controllers.engine.precedence import Standing
from controllers.engine.terms import Condition, Controller
from controllers.loop import cycle_begin, registration
from controllers.loop.chunk_writer import ATTEMPTS
from controllers.loop.controller_status import breaker_of
from controllers.models import Cycle, Runtime, WorkItem
from controllers.notifications import alerts
from controllers.workqueue import compiled_controllers, leases, queue, target_store
from controllers.workqueue.leases import Lease
from resources.documents.actor import Actor
from resources.documents.problems import FENCED, Problem, refused
from resources.store import announcements
from resources.store import store as rows
from resources.tables import ledger
from resources.tables.models import Resource

# How many of the resources it was asked to look at are named at once.
MOST_ASKED = 200


class ControllerDirectives(NamedTuple):
    """What an outside controller hears with every answer: what people said no to."""

    epoch: int
    holds: tuple[Standing, ...]
    # The resources that holds are on, by their keys.
    names: Mapping[int, str]
    # Whether nothing runs without a person: a hold has ended since its last full look.
    only_proposes: bool
    # Whether it is to look at everything: for the first time, or after it was silent.
    overdue: bool
    # The resources it was asked to look at.
    asked: tuple[str, ...]


class Begun(NamedTuple):
    """A cycle that an outside process may fill, and the lease it does so under."""

    cycle: Cycle
    lease: Lease
    leased_until: datetime
    told: ControllerDirectives


def declared(row: Resource) -> Controller:
    """Return a controller that others run, ready to be used; ours are refused."""
    try:
        controller = compiled_controllers.compiled(row.pk, row.generation)
    except compiled_controllers.Invalid as error:
        raise refused(f"{row} cannot run: {error}") from error
    except Resource.DoesNotExist as error:
        raise Problem(FENCED, f"{row} was declared anew meanwhile.") from error
    if controller.runner != "external":
        raise refused(f"{row} is run by the loop itself: declare spec.runner external first.")
    return controller


def begin(row: Resource, holder: str, now: datetime, *, full: bool) -> Begun:
    """Open a cycle, if no other process has one open; what was lost before is closed."""
    controller = declared(row)
    registration.sync(now)
    hear(row, now)
    lease = leases.take(row.pk, holder, now)
    if lease is None:
        raise refused(hindrance(row))
    try:
        opened = cycle_begin.begin(lease, controller, now, covers=full)
    except Fenced as error:
        raise Problem(FENCED, str(error)) from error
    if opened.whole is not None:
        taken = WorkItem.objects.filter(pk=opened.whole.pk, arrivals=opened.whole.arrivals)
        taken.delete()
    return Begun(opened.run.cycle, lease, now + leases.TERM, told(controller, now))


def hindrance(row: Resource) -> str:
    """Say why nobody may run a controller now."""
    runtime = Runtime.objects.filter(controller=row).first()
    if runtime is None or runtime.problem:
        return f"{row} cannot run: {runtime.problem if runtime else 'it is not known yet.'}"
    if runtime.breaker == Runtime.Breaker.OPEN:
        return breaker.stopped(breaker_of(runtime))
    until = f" until {runtime.leased_until:%H:%M:%S} UTC" if runtime.leased_until else ""
    return f"Another process has a cycle of {row} open{until}, or longer if it goes on."


def heartbeat(row: Resource, fence: int | None, now: datetime) -> ControllerDirectives:
    """Hear a controller; with the fence of an open cycle its lease goes on."""
    controller = declared(row)
    registration.sync(now)
    if fence is not None:
        try:
            leases.hold(Lease(row.pk, "", fence), now)
        except Fenced as error:
            raise Problem(FENCED, str(error)) from error
    hear(row, now)
    return told(controller, now)


def hear(row: Resource, now: datetime) -> None:
    """Note that a controller was heard; one that had fallen silent is welcomed back once."""
    known = Runtime.objects.filter(controller=row)
    unheard = Q(heard_at=None) | Q(heard_at__lte=F("stalled_at"))
    silent = known.filter(unheard, stalled_at__isnull=False)
    for _ in range(ATTEMPTS):
        with suppress(rows.Stale), rows.all_or_stale():
            if silent.update(heard_at=now):
                welcome(row, now)
            elif not known.update(heard_at=now):
                raise refused(f"{row} is not known yet. Try again.")
            return
    raise refused(f"{row} changed at the same moment. Try again.")


def welcome(row: Resource, now: datetime) -> None:
    """Say that a controller is heard again; what it said before waits for its next look."""
    payload = {"controllerName": row.name}
    entry = ledger.Entry(f"controller/{row.uid}", "controller.heard-again", str(row), payload)
    ledger.append([entry], actor=Actor("controller", row.name), now=now)
    alerts.resolve(row.pk, [row.pk], now, {"Silent"})
    for said in (
        Condition("Ready", "Unknown", "External", "An outside process runs it.", str(row)),
        Condition("Stalled", "False", "Heard", "It is heard again.", str(row)),
    ):
        registration.say(row, said, now)
    announcements.announce()


def told(controller: Controller, now: datetime) -> ControllerDirectives:
    """Return what people said no to, and what is asked of a controller."""
    standing = holds.concerning(controller.key, target_store.living(controller), now)
    named = {each.resource for each in standing if each.resource is not None}
    asked = queue.due_items(controller.key, now).select_related("resource")
    return ControllerDirectives(
        holds.epoch(),
        standing,
        alerts.names_of(named) if named else {},
        holds.only_proposes(controller.key, now),
        queue.whole(controller.key) is not None or is_overdue(controller.key, now),
        tuple(str(each.resource) for each in asked[:MOST_ASKED]),
    )


def is_overdue(controller: int, now: datetime) -> bool:
    """Tell whether a controller has to look at everything."""
    overdue = Q(resync_at__lte=now) | Q(stalled_at__isnull=False)
    return Runtime.objects.filter(overdue, controller=controller).exists()
