"""From marks to work: which controllers have to look at what, because something changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from django.db import connection
from django.db.models import Q, QuerySet

from controllers.common.rows import Prepared, listed, these
from controllers.engine import configuration
from controllers.engine.terms import Controller
from controllers.models import Judgement
from controllers.workqueue import compiled_controllers, queue, target_store
from resources.store.store import Stale, all_or_stale
from resources.tables.models import DirtyMark, Label, Reference, Resource

MOST = 2_000
Labelled = tuple[str, str]
# SQLite goes through the tables of a CROSS JOIN as they are written: the few marks come first, or
# it might go through all resources for them.
TAKE = """
    SELECT marked.resource_id, marked.version, found.kind, found.name, found.domain,
      found.deleted_at IS NULL
    FROM resources_dirtymark AS marked CROSS JOIN resources_resource AS found
    WHERE found.id = marked.resource_id ORDER BY marked.resource_id LIMIT %s {locking}
"""
FORGET = "DELETE FROM resources_dirtymark WHERE resource_id = %s AND version = %s"
FORGET_ALL = """
    DELETE FROM resources_dirtymark AS marked
    USING unnest(%s::bigint[], %s::bigint[]) AS given(id, version)
    WHERE marked.resource_id = given.id AND marked.version = given.version
"""
LOCKING = {"sqlite": "", "postgresql": "FOR UPDATE OF marked SKIP LOCKED"}


# Asked in every round, and often in vain.
MARKED = Prepared(lambda: DirtyMark.objects.order_by().values_list("resource_id")[:1])


class Mark(NamedTuple):
    """A changed resource as the loop found it."""

    key: int
    version: int
    kind: str
    name: str
    domain: str
    lives: bool


def route(now: datetime) -> int:
    """Turn marks into work items; return how many marks were taken."""
    taken = 0
    # Of two that waited for each other one gave way; its marks are left to the next round.
    with suppress(Stale):
        while MARKED():
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
        controllers = [each for each in compiled_controllers.every() if each.runner == "internal"]
        directly(controllers, marks, now)
        for controller in controllers:
            reads = configuration.reads(controller)
            around = [mark for mark in marks if mark.kind in reads]
            if around:
                request = queue.Request(queue.DEPENDENCY, now)
                queue.enqueue(controller.key, dependent(controller, around), request)
        forget(marks)
    return len(marks)


def take() -> list[Mark]:
    """Read marks; one that another worker or an open writer holds is left to the next round."""
    with connection.cursor() as cursor:
        cursor.execute(TAKE.format(locking=LOCKING[connection.vendor]), [MOST])
        return [Mark(*row) for row in cursor.fetchall()]


def forget(marks: Sequence[Mark]) -> None:
    """Take marks away, each only at the version that was seen."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            seen = [mark.key for mark in marks], [mark.version for mark in marks]
            cursor.execute(FORGET_ALL, list(map(listed, seen)))
        else:
            cursor.executemany(FORGET, [(mark.key, mark.version) for mark in marks])


def directly(controllers: Sequence[Controller], marks: Sequence[Mark], now: datetime) -> None:
    """Queue the marked resources for those who watch them, or watched them until now."""
    keys = [mark.key for mark in marks]
    watching = watchers(controllers, marks, labels_of(keys))
    known = {each.key for each in controllers}
    judged = Judgement.objects.filter(resource__in=these(keys)).order_by()
    before = set(judged.values_list("controller_id", "resource_id"))
    left = {pair for pair in before - watching if pair[0] in known}
    for controller in sorted({pair[0] for pair in left}):
        queue.free_left(controller, [key for by, key in left if by == controller], now)
    queue.enqueue_pairs(sorted(watching | left), queue.Request(queue.CHANGE, now))


def labels_of(keys: Sequence[int]) -> dict[int, set[Labelled]]:
    """Read the labels of resources."""
    found: dict[int, set[Labelled]] = defaultdict(set)
    rows = Label.objects.filter(resource__in=these(keys)).order_by()
    for key, *label in rows.values_list("resource_id", "key", "value"):
        found[key].add((label[0], label[1]))
    return found


def watchers(
    controllers: Sequence[Controller], marks: Sequence[Mark], labels: Mapping[int, set[Labelled]]
) -> set[tuple[int, int]]:
    """Return who watches what, as `store.living` says it: by kind, by labels, while it lives.

    Each controller is found by one of its labels, not asked about every mark.
    """
    by_label: dict[tuple[str, Labelled | None], list[Controller]] = defaultdict(list)
    for each in controllers:
        by_label[each.kind, min(each.labels.items(), default=None)].append(each)
    return {
        (each.key, mark.key)
        for mark in marks
        if mark.lives
        for label in (None, *labels[mark.key])
        for each in by_label.get((mark.kind, label), ())
        if labels[mark.key].issuperset(each.labels.items())
    }


def dependent(controller: Controller, marks: Sequence[Mark]) -> QuerySet[Resource]:
    """Return the watched resources whose judgement rests on a marked one."""
    watched = target_store.living(controller)
    if any(mark.domain == target_store.EVERYWHERE for mark in marks):
        return watched
    named = Q()
    for kind in {mark.kind for mark in marks}:
        names = [mark.name for mark in marks if mark.kind == kind]
        named |= Q(target_kind=kind, target_name__in=names)
    out = Reference.objects.filter(named)
    into = Reference.objects.filter(
        resource__in=these(mark.key for mark in marks), target_kind=controller.kind
    )
    domains = {mark.domain for mark in marks}
    inside = Reference.objects.filter(target_kind="Domain", target_name__in=domains)
    return watched.filter(
        Q(domain__in=domains)
        | Q(pk__in=out.values("resource"))
        | Q(name__in=into.values("target_name"))
        | Q(pk__in=inside.values("resource"))
    )
