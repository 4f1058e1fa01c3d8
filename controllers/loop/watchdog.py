"""Watch the controllers: one that has stopped must not leave its resources looking healthy."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Count, F, Q

from controllers.engine.findings import STALLED
from controllers.engine.terms import Condition, Controller
from controllers.loop.target_conditions import state
from controllers.models import Runtime
from controllers.notifications import alerts
from controllers.workqueue import compiled_controllers
from controllers.workqueue.cycle_effects import Notice
from resources.documents.actor import SYSTEM
from resources.store import store
from resources.tables import ledger
from resources.tables.models import Condition as ConditionRow
from resources.tables.models import Resource

# Intervals without a cycle after which a controller counts as stalled.
PATIENCE = 3
SOME = 100


def look(now: datetime) -> int:
    """Mark stalled controllers and turn what they said Unknown, some at a time."""
    return sum(turn_unknown(controller, now) for controller in stalled(now))


def stalled(now: datetime) -> list[Controller]:
    """Return the controllers that have not finished a cycle for three intervals."""
    found = []
    for runtime in Runtime.objects.filter(controller__deleted_at=None):
        controller = compiled_controllers.attempt((runtime.controller_id, runtime.generation))
        if controller is not None and is_silent(runtime, controller, now):
            found.append(controller)
    return found


def is_silent(runtime: Runtime, controller: Controller, now: datetime) -> bool:
    """Tell whether a controller has not finished a cycle for three intervals.

    One that runs outside may be at rest: it only has to be heard.
    """
    heard = runtime.last_run_at or runtime.started_at
    if controller.runner == "external":
        heard = runtime.heard_at or heard
    # Three of the longest interval would pass the end of the calendar.
    return (now - heard) / PATIENCE > controller.interval


def census() -> dict[str, int]:
    """Count the controllers: running, or why not."""
    invalid, stopped = ~Q(problem=""), Q(breaker=Runtime.Breaker.OPEN)
    stalled = Q(stalled_at__isnull=False)
    return Runtime.objects.filter(controller__deleted_at=None).aggregate(
        running=Count("pk", filter=~(invalid | stopped | stalled)),
        stopped=Count("pk", filter=stopped & ~invalid),
        stalled=Count("pk", filter=stalled & ~stopped & ~invalid),
        invalid=Count("pk", filter=invalid),
    )


def turn_unknown(controller: Controller, now: datetime) -> int:
    """Turn some conditions of a stalled controller Unknown, its own first."""
    said = ConditionRow.objects.filter(managed_by=controller.ref, resource__deleted_at=None)
    standing = said.filter(type=controller.condition_type).exclude(reason=STALLED)
    keys = list(standing.order_by("resource_id").values_list("resource_id", flat=True)[:SOME])
    own = Resource.objects.filter(pk=controller.key, deleted_at=None)
    drafts = store.drafts_of(Resource.objects.filter(pk__in=keys) | own)
    for draft in drafts:
        draft.quiet = True
        for condition in verdicts(controller, draft.resource.pk == controller.key):
            state(draft, condition, now)
    try:
        with store.all_or_stale():
            store.write(drafts, actor=SYSTEM, now=now)
            mark(controller, now)
    except store.Stale:  # somebody was faster; the next round looks again
        return 0
    return len(keys)


def mark(controller: Controller, now: datetime) -> None:
    """Write down that a controller is stalled; of one that runs outside people are told."""
    first = Runtime.objects.filter(controller=controller.key, stalled_at=None)
    again = Runtime.objects.filter(controller=controller.key, heard_at__gt=F("stalled_at"))
    if not (first.update(stalled_at=now) or again.update(stalled_at=now)):
        return
    if controller.runner == "external":
        said = f"{controller.ref} has not been heard for {PATIENCE} intervals."
        payload = {"controllerName": controller.name, "reason": said}
        told = ("controller.fell-silent", controller.ref, payload, "alert", "error")
        entry = ledger.Entry(f"controller/{controller.uid}", *told)
        (event,) = ledger.append([entry], actor=SYSTEM, now=now)
        notice = Notice(controller.key, "Silent", "", "error", said)
        alerts.raise_all(controller.key, [notice], event.correlation_id, now)


def verdicts(controller: Controller, own: bool) -> list[Condition]:
    """Say what is no longer known."""
    if own and controller.runner == "external":
        said = f"It has not been heard for {PATIENCE} intervals."
        return [
            Condition("Stalled", "True", "NoHeartbeat", said, controller.ref),
            Condition("Ready", "Unknown", "NoHeartbeat", said, controller.ref),
        ]
    if own:
        said = f"No cycle has ended for {PATIENCE} intervals."
        return [Condition("Stalled", "True", "NoCycle", said, controller.ref)]
    message = f"{controller.ref} has stopped looking."
    kind = controller.condition_type
    return [Condition(kind, "Unknown", STALLED, message, controller.ref)]
