"""From marks to work: which controllers have to look at what, because something changed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from django.db import connection
from django.db.models import Q, QuerySet

from controllers import compiled, queue, store
from controllers.engine.types import Controller
from controllers.models import Judgement
from resources.models import DirtyMark, Reference, Resource
from resources.store import Stale, all_or_stale

MOST = 2_000


class Mark(NamedTuple):
    """A changed resource as the loop found it."""

    key: int
    version: int
    kind: str
    name: str
    domain: str


def route(now: datetime) -> int:
    """Turn marks into work items; return how many marks were taken."""
    taken = 0
    # Of two that waited for each other one gave way; its marks are left to the next round.
    with suppress(Stale):
        while DirtyMark.objects.exists():
            found = route_some(now)
            taken += found
            if found < MOST:
                break
    return taken


def route_some(now: datetime) -> int:
    """Take some marks and queue what they call for, in one transaction."""
    with all_or_stale():
        marks = take()
        queue.free_changed([mark.key for mark in marks])
        # After the marks: a controller declared later looks at everything anyway.
        for controller in compiled.every():
            if controller.runner == "external":
                continue
            directly(controller, [mark for mark in marks if mark.kind == controller.kind], now)
            around = [mark for mark in marks if mark.kind in compiled.reads(controller)]
            if around:
                request = queue.Request(queue.DEPENDENCY, now)
                queue.enqueue(controller.key, dependent(controller, around), request)
        forget(marks)
    return len(marks)


def take() -> list[Mark]:
    """Read marks; one that another worker or an open writer holds is left to the next round."""
    marks = DirtyMark.objects.order_by("resource_id")
    if connection.features.has_select_for_update_skip_locked:
        marks = marks.select_for_update(skip_locked=True, of=("self",))
    fields = ("resource_id", "version", "resource__kind", "resource__name", "resource__domain")
    return [Mark(*row) for row in marks.values_list(*fields)[:MOST]]


def forget(marks: Sequence[Mark]) -> None:
    """Take marks away, each only at the version that was seen."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "DELETE FROM resources_dirtymark WHERE resource_id = %s AND version = %s",
            [(mark.key, mark.version) for mark in marks],
        )


def directly(controller: Controller, marks: Sequence[Mark], now: datetime) -> None:
    """Queue the marked resources that a controller watches, or watched until now."""
    keys = [mark.key for mark in marks]
    watching = store.living(controller).filter(pk__in=keys)
    watched = set(watching.values_list("pk", flat=True)) if keys else set()
    others = [key for key in keys if key not in watched]
    judged = Judgement.objects.filter(controller=controller.key, resource__in=others)
    left = set(judged.values_list("resource_id", flat=True)) if others else set()
    if left:
        queue.free_left(controller.key, left, now)
    if watched or left:
        rows = Resource.objects.filter(pk__in=watched | left)
        queue.enqueue(controller.key, rows, queue.Request(queue.CHANGE, now))


def dependent(controller: Controller, marks: Sequence[Mark]) -> QuerySet[Resource]:
    """Return the watched resources whose judgement rests on a marked one."""
    watched = store.living(controller)
    if any(mark.domain == store.EVERYWHERE for mark in marks):
        return watched
    named = Q()
    for kind in {mark.kind for mark in marks}:
        names = [mark.name for mark in marks if mark.kind == kind]
        named |= Q(target_kind=kind, target_name__in=names)
    out = Reference.objects.filter(named)
    into = Reference.objects.filter(
        resource__in=[mark.key for mark in marks], target_kind=controller.kind
    )
    domains = {mark.domain for mark in marks}
    inside = Reference.objects.filter(target_kind="Domain", target_name__in=domains)
    return watched.filter(
        Q(domain__in=domains)
        | Q(pk__in=out.values("resource"))
        | Q(name__in=into.values("target_name"))
        | Q(pk__in=inside.values("resource"))
    )
