"""Close the cycles that a lost or replaced worker left open, so that none stays open for ever."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from controllers.common.rows import Prepared, Slot, at
from controllers.engine import breaker
from controllers.engine.terms import Limits
from controllers.models import Cycle, Runtime
from controllers.workqueue import compiled_controllers, queue
from resources.documents.actor import SYSTEM
from resources.observability import metrics
from resources.tables import ledger


def go_on(now: datetime) -> None:
    """Queue a cycle of each controller whose worker was lost: it says so, and goes on."""
    for key, token, external, breaker_state in LOST(now=now):
        if external:
            free(key, token, now)
        elif breaker_state != Runtime.Breaker.OPEN:
            queue.enqueue_whole(key, queue.Request(queue.RETRY, now))


def lost(now: datetime | Slot) -> QuerySet[Runtime]:
    """Return the controllers whose worker has not been heard of in time."""
    return Runtime.objects.filter(leased_until__lte=now, problem="").order_by("controller")


# Asked in every round, and nearly always in vain.
LOST = Prepared(lambda: lost(at("now")).values_list("controller", "token", "external", "breaker"))


def free(controller: int, token: int, now: datetime) -> None:
    """Take the lease of an outside process that fell silent, and ask for what it left undone."""
    lapsed = Runtime.objects.filter(controller=controller, token=token, leased_until__lte=now)
    if lapsed.update(token=token + 1, holder="", leased_until=None):
        close_lost(controller, token + 1, now)
        queue.enqueue_whole(controller, queue.Request(queue.RETRY, now))


def close_lost(controller: int, token: int, now: datetime) -> int:
    """Close the cycles that holders before this one left open; return how many there were."""
    keys = [row[0] for row in LEFT_OPEN(controller=controller, token=token)]
    found = Cycle.objects.filter(pk__in=keys) if keys else ()
    return sum(close(cycle, Cycle.Outcome.LOST, now) for cycle in found)


def left_open(controller: int | Slot, token: int | Slot) -> QuerySet[Cycle]:
    """Return the cycles that holders before this one left open."""
    return Cycle.objects.filter(controller=controller, finished_at=None, token__lt=token)


LEFT_OPEN = Prepared(
    lambda: left_open(Slot("controller"), Slot("token")).order_by("pk").values_list("pk")
)


def close_superseded(controller: int, now: datetime) -> int:
    """Close every open cycle of a controller that nobody may go on with."""
    found = Cycle.objects.filter(controller=controller, finished_at=None)
    return sum(close(cycle, Cycle.Outcome.SUPERSEDED, now) for cycle in found)


def close(cycle: Cycle, outcome: Cycle.Outcome, now: datetime) -> int:
    """Close one cycle, its last event included; of many workers one does it."""
    controller = cycle.controller
    with transaction.atomic():
        mine = Cycle.objects.filter(pk=cycle.pk, finished_at=None)
        if not mine.update(finished_at=now, outcome=outcome, error=reason(outcome)):
            return 0
        if outcome == Cycle.Outcome.LOST:
            count_failure(controller.pk)
        story = ledger.correlation.set(cycle.correlation_id)
        try:
            entry = ledger.Entry(
                f"controller/{controller.uid}",
                "controller.reconciliation-completed",
                f"controller/{controller.name}",
                completed(cycle, outcome, now),
            )
            ledger.append([entry], actor=SYSTEM, now=now)
        finally:
            ledger.correlation.reset(story)
        transaction.on_commit(metrics.CYCLES.labels(outcome.value).inc)
    return 1


def reason(outcome: Cycle.Outcome) -> str:
    """Say why a cycle was closed by somebody else."""
    if outcome == Cycle.Outcome.SUPERSEDED:
        return "The controller was declared anew, or deleted."
    return "Its worker was lost."


def completed(cycle: Cycle, outcome: Cycle.Outcome, now: datetime) -> dict[str, object]:
    """Write the payload of the last event."""
    return {
        "controllerName": cycle.controller.name,
        "cycle": cycle.number,
        "durationMs": max(0, round((now - cycle.started_at).total_seconds() * 1000)),
        "driftDetected": None,
        "actionsPerformed": 0,
        "outcome": outcome.value,
    }


def count_failure(controller: int) -> None:
    """Count a lost cycle; a controller that takes its worker with it each time is stopped."""
    runtime = Runtime.objects.select_for_update().get(controller=controller)
    declared = compiled_controllers.attempt((controller, runtime.generation))
    limits = declared.limits if declared else Limits()
    state = breaker.Breaker(runtime.breaker, runtime.failures, runtime.breaker_reason)  # type: ignore[arg-type]
    after = breaker.after_cycle(state, False, limits.errors, "Workers were lost.")
    Runtime.objects.filter(controller=controller).update(
        breaker=after.state, failures=after.failures, breaker_reason=after.reason
    )
