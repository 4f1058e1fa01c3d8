"""From marks to work: which controllers have to look at what, because something changed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet

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
            changed = [mark for mark in marks if mark.kind == controller.kind]
            if changed:
                queue.free_left(controller.key, left(controller, changed), now)
                queue.enqueue(
                    controller.key, directly(controller, changed), queue.Request(queue.CHANGE, now)
                )
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


def directly(controller: Controller, marks: Sequence[Mark]) -> QuerySet[Resource]:
    """Return the marked resources a controller watches, or watched until now."""
    keys = [mark.key for mark in marks]
    watched = store.living(controller).filter(pk__in=keys).values("pk")
    judged = Judgement.objects.filter(controller=controller.key, resource=OuterRef("pk"))
    return Resource.objects.filter(pk__in=keys).filter(Q(pk__in=watched) | Exists(judged))


def left(controller: Controller, marks: Sequence[Mark]) -> QuerySet[Resource]:
    """Return the marked resources a controller does not watch, or no longer."""
    keys = [mark.key for mark in marks]
    watched = store.living(controller).filter(pk__in=keys).values("pk")
    return Resource.objects.filter(pk__in=keys).exclude(pk__in=watched)


def dependent(controller: Controller, marks: Sequence[Mark]) -> QuerySet[Resource]:
    """Return the watched resources whose judgement rests on a marked one."""
    watched = store.living(controller)
    if any(mark.domain == store.EVERYWHERE for mark in marks):
        return watched
    named = Q()
    for kind in {mark.kind for mark in marks}:
        names = [mark.name for mark in marks if mark.kind == kind]
        named |= Q(target_kind=kind, target_name__in=names)
    out = Reference.objects.filter(named, resource=OuterRef("pk"))
    into = Reference.objects.filter(
        resource__in=[mark.key for mark in marks],
        target_kind=controller.kind,
        target_name=OuterRef("name"),
    )
    domains = {mark.domain for mark in marks}
    inside = Reference.objects.filter(
        resource=OuterRef("pk"), target_kind="Domain", target_name__in=domains
    )
    nearby = Q(domain__in=domains) | Exists(out) | Exists(into) | Exists(inside)
    return watched.filter(nearby)
