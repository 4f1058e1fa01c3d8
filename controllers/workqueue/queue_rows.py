"""What is asked of the queue again and again, spelled once."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.db.models import Min, Q, QuerySet

from controllers.common.rows.queries import Prepared, Slot, at, these
from controllers.models import Runtime, WorkItem

ITEM = ("id", "resource_id", "arrivals", "attempts", "reasons")


def ours() -> QuerySet[WorkItem]:
    """Return the items that the loop works on; the others wait for an outside controller."""
    outside = Runtime.objects.filter(external=True).values("controller")
    return WorkItem.objects.exclude(controller__in=outside)


def _with_work() -> QuerySet[WorkItem, Any]:
    """Ask for the controllers that have work to do, the most urgent first."""
    ready = ours().filter(parked_at=None, run_at__lte=at("now")).values("controller")
    first = ready.annotate(rank=Min("priority"), since=Min("run_at"))
    return first.order_by("rank", "since", "controller").values_list("controller", "rank", "since")


def _of_one() -> QuerySet[WorkItem]:
    """Ask for what is queued for a controller."""
    return WorkItem.objects.filter(controller=Slot("controller")).order_by()


def _due() -> QuerySet[WorkItem]:
    """Ask for what is due of it."""
    return _of_one().filter(parked_at=None, run_at__lte=at("now"))


def _items() -> QuerySet[WorkItem]:
    """Ask for that without the item for everything."""
    return _due().exclude(resource=Slot("controller"))


@cache
def columns() -> tuple[str, ...]:
    """Return the columns of an item."""
    return tuple(each.attname for each in WorkItem._meta.concrete_fields)


WITH_WORK = Prepared(_with_work)
DUE = Prepared(lambda: _due().values_list("pk")[:1])
TROUBLED = Q(attempts__gt=0) | Q(parked_at__isnull=False)
FAILED = Prepared(lambda: _of_one().filter(TROUBLED).values_list("pk")[:1])
REASONS = Prepared(lambda: _items().values_list("reasons").distinct())
WHOLE = Prepared(lambda: _of_one().filter(resource=Slot("controller")).values_list(*columns()))


@cache
def following(most: int) -> Prepared:
    """Ask for the next so many items of one priority."""
    return Prepared(
        lambda: (
            _items()
            .filter(priority=Slot("priority"), pk__gt=Slot("after"))
            .order_by("pk")
            .values_list(*ITEM)[:most]
        )
    )


def _among() -> QuerySet[WorkItem, Any]:
    """Ask for what is queued of some resources."""
    found = WorkItem.objects.filter(
        controller=Slot("controller"), resource__in=these(Slot("keys"))
    )
    return found.values_list(*ITEM, "run_at", "parked_at")


AMONG = Prepared(_among)
