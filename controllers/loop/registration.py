"""Controllers come, change and go: what the loop keeps about them follows what is declared."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from django.db import transaction
from django.db.models import F, Q, QuerySet

from controllers.common.rows import Prepared
from controllers.decisions import creation
from controllers.engine import breaker
from controllers.engine.terms import ORPHANED, Condition, Controller
from controllers.loop import recovery
from controllers.loop.target_conditions import state
from controllers.models import Judgement, Runtime, WorkItem
from controllers.notifications import alerts
from controllers.workqueue import compiled_controllers, queue
from resources.documents.actor import SYSTEM
from resources.store import store
from resources.tables.models import Condition as ConditionRow
from resources.tables.models import Resource

# Resources rewritten in one transaction.
SOME = 100


def sync(now: datetime) -> None:
    """Start what was declared, restart what was declared anew, and wind up what was deleted."""
    # Somebody else does it, or changes what is written to: the next round goes on.
    for row in changed() if CHANGED() else ():
        with suppress(store.Stale):
            restart(row, now)
    for row in gone() if GONE() else ():
        with suppress(store.Stale):
            wind_up(row, now)


def changed() -> QuerySet[Resource]:
    """Return the controllers that run under another generation, or not at all."""
    live = Resource.objects.filter(kind="Controller", deleted_at=None)
    return live.filter(Q(runtime=None) | ~Q(runtime__generation=F("generation"))).order_by("pk")


def gone() -> QuerySet[Resource]:
    """Return the controllers that are deleted and still run."""
    return Resource.objects.filter(
        pk__in=Runtime.objects.values("controller"), deleted_at__isnull=False
    )


# Asked in every round, and nearly always in vain.
CHANGED = Prepared(lambda: changed().values_list("pk")[:1])
GONE = Prepared(lambda: gone().values_list("pk")[:1])


def restart(row: Resource, now: datetime) -> None:
    """Start a controller afresh; a cycle of the old generation can write nothing any more."""
    controller, problem = None, ""
    try:
        controller = compiled_controllers.compiled(row.pk, row.generation)
    except compiled_controllers.Invalid as error:
        problem = str(error)
    except Resource.DoesNotExist:
        # It was declared anew since it was read; the next round sees it as it is then.
        return
    with store.all_or_stale():
        Runtime.objects.get_or_create(
            controller=row, defaults={"started_at": now, "resync_at": now}
        )
        fenced = Runtime.objects.filter(controller=row).exclude(generation=row.generation)
        if not fenced.update(
            generation=row.generation,
            problem=problem,
            external=controller is not None and controller.runner == "external",
            token=F("token") + 1,
            holder="",
            leased_until=None,
        ):
            return
        refill(row.pk, controller, now)
        recovery.close_superseded(row.pk, now)
        say(row, readiness(row, controller, problem), now)


def refill(key: int, controller: Controller | None, now: datetime) -> None:
    """Queue a look at everything; what the loop cannot run has nothing to wait for."""
    if controller is None or controller.runner == "external":
        WorkItem.objects.filter(controller=key).delete()
        return
    queue.enqueue_whole(key, queue.Request(queue.CHANGE, now))
    queue.free_all(key, now)


def readiness(row: Resource, controller: Controller | None, problem: str) -> Condition:
    """Say that a controller starts, or why it cannot."""
    ref = f"controller/{row.name}"
    if controller is None:
        return Condition("Ready", "False", "InvalidConfig", problem, ref)
    if controller.runner == "external":
        return Condition("Ready", "Unknown", "External", "An outside process runs it.", ref)
    runtime = Runtime.objects.get(controller=row)
    if runtime.breaker == Runtime.Breaker.OPEN:
        said = breaker.stopped(breaker.Breaker("open", reason=runtime.breaker_reason))
        return Condition("Ready", "False", "CircuitOpen", said, ref)
    return Condition("Ready", "False", "Starting", "Its first cycle is due.", ref)


def say(row: Resource, condition: Condition, now: datetime) -> None:
    """Put a condition on a controller."""
    drafts = store.drafts_of(Resource.objects.filter(pk=row.pk, deleted_at=None))
    for draft in drafts:
        draft.quiet = True
        state(draft, condition, now)
    store.write(drafts, actor=SYSTEM, now=now)


def wind_up(row: Resource, now: datetime) -> None:
    """Forget a deleted controller; what it said about others is no longer known."""
    owner = f"controller/{row.name}"
    while disown(owner, now):
        pass
    # Who could not write a condition because this one did may try again.
    queue.free_about(Resource.objects.filter(conditions__managed_by=owner), now)
    alerts.resolve(row.pk, list(row.alerts.values_list("resource", flat=True)), now)
    creation.close_gone(row.proposals.all(), f"{row} no longer exists.", now)
    with transaction.atomic():
        for table in (WorkItem, Judgement, Runtime):
            table.objects.filter(controller=row.pk).delete()
        recovery.close_superseded(row.pk, now)


def disown(owner: str, now: datetime) -> int:
    """Turn some conditions of a deleted controller into Unknown; return how many."""
    said = ConditionRow.objects.filter(managed_by=owner, resource__deleted_at=None)
    said = said.exclude(reason=ORPHANED).order_by("resource_id")
    keys = list(said.values_list("resource_id", flat=True).distinct()[:SOME])
    drafts = store.drafts_of(Resource.objects.filter(pk__in=keys))
    for draft in drafts:
        draft.quiet = True
        for each in [each for each in draft.conditions.values() if each.managed_by == owner]:
            message = f"{owner} no longer exists."
            gone = Condition(each.type, "Unknown", ORPHANED, message, owner)
            state(draft, gone, now)
    store.write(drafts, actor=SYSTEM, now=now)
    return len(keys)
