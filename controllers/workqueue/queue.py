"""The durable queue: one item per controller and resource, never lost, never doubled.

An arrival for an item that is being worked on counts it up, and the work that ends then leaves it
in place. So a change during a cycle is always looked at again, and a thousand before one once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Count, Min, Q, QuerySet, Value

from controllers.common.rows import listed, these
from controllers.engine.errors import Verdict
from controllers.models import WorkItem
from controllers.workqueue import queue_rows
from resources.tables.models import Resource

CHANGE, INTERVAL, MANUAL, DEPENDENCY, RETRY, APPROVAL = (each.value for each in WorkItem.Reason)
URGENT, USUAL = 1, 2

ENQUEUE = """
    INSERT INTO controllers_workitem (controller_id, resource_id, reasons, arrivals, run_at,
      priority, attempts, error, requested_by, message, story)
    SELECT found.controller, found.id, %s, 1, %s, %s, 0, '', %s, %s, %s FROM ({found}) AS found
    WHERE true ORDER BY found.controller, found.id
    ON CONFLICT (controller_id, resource_id) DO UPDATE SET
      reasons = controllers_workitem.reasons | excluded.reasons,
      arrivals = controllers_workitem.arrivals + 1,
      priority = CASE WHEN excluded.priority < controllers_workitem.priority
        THEN excluded.priority ELSE controllers_workitem.priority END,
      run_at = CASE WHEN excluded.run_at < controllers_workitem.run_at
          AND (controllers_workitem.attempts = 0 OR excluded.priority = 1)
        THEN excluded.run_at ELSE controllers_workitem.run_at END,
      requested_by = CASE WHEN excluded.requested_by = ''
        THEN controllers_workitem.requested_by ELSE excluded.requested_by END,
      message = CASE WHEN excluded.message = ''
        THEN controllers_workitem.message ELSE excluded.message END,
      story = CASE WHEN excluded.story = ''
        THEN controllers_workitem.story ELSE excluded.story END
"""
# Who has to look at what, as two lists of keys.
PAIRS = {
    "sqlite": "SELECT given.value AS controller, found.value AS id"
    " FROM json_each(%s) AS given JOIN json_each(%s) AS found USING (key)",
    "postgresql": "SELECT * FROM unnest(%s::bigint[], %s::bigint[]) AS given(controller, id)",
}
DONE = "DELETE FROM controllers_workitem WHERE id = %s AND arrivals = %s"
# The same for many at once; whoever queues takes them in that order too.
ALL_DONE = """
    WITH finished AS MATERIALIZED (
      SELECT id FROM controllers_workitem
      JOIN unnest(%s::bigint[], %s::bigint[]) AS given(id, arrivals) USING (id, arrivals)
      ORDER BY resource_id FOR UPDATE OF controllers_workitem
    )
    DELETE FROM controllers_workitem USING finished WHERE controllers_workitem.id = finished.id
"""
# What arrived meanwhile is new work: it starts with a clean record.
AGAIN = """
    UPDATE controllers_workitem SET attempts = 0, error = '', parked_generation = NULL,
      reasons = %s, run_at = %s
    WHERE id = %s AND arrivals <> %s
"""
# What arrived meanwhile may have mended it: only what nothing else arrived for is put off.
FAILED = """
    UPDATE controllers_workitem SET attempts = %s, error = %s, run_at = %s, parked_at = %s,
      parked_generation = %s, reasons = %s
    WHERE controller_id = %s AND resource_id = %s AND arrivals = %s
"""
FREE = """
    UPDATE controllers_workitem SET parked_at = NULL, parked_generation = NULL, attempts = 0
    WHERE resource_id IN ({keys}) AND parked_generation <>
      (SELECT generation FROM resources_resource WHERE id = resource_id)
"""


@dataclass(frozen=True)
class Request:
    """Why something is put into the queue, and when it should run."""

    reasons: int
    run_at: datetime
    priority: int = USUAL
    requested_by: str = ""
    message: str = ""
    story: str = ""


class Item(NamedTuple):
    """An item as it was read; it is done only if nothing arrives after that."""

    key: int
    resource: int
    arrivals: int
    attempts: int
    reasons: int


class Queued(NamedTuple):
    """What is queued of some resources: what is due, and what failed and waits for its time."""

    items: dict[int, Item]
    waiting: set[int]


def enqueue(controller: int, resources: QuerySet[Resource], request: Request) -> None:
    """Ask a controller to look at resources; one statement, however many there are."""
    asked = resources.order_by().annotate(controller=Value(controller)).values("controller", "id")
    insert(*asked.query.sql_with_params(), request)


def enqueue_pairs(pairs: Collection[tuple[int, int]], request: Request) -> None:
    """Ask controllers to look at one resource each; one statement, however many there are."""
    if pairs:
        keys = [listed(each) for each in zip(*pairs, strict=True)]
        insert(PAIRS[connection.vendor], keys, request)


def insert(found: str, parameters: Sequence[Any], request: Request) -> None:
    """Add what a query finds, or count it up."""
    when = connection.ops.adapt_datetimefield_value(request.run_at)
    why = [request.reasons, when, request.priority, request.requested_by]
    told = [request.message[:500], request.story]
    with connection.cursor() as cursor:
        cursor.execute(ENQUEUE.format(found=found), [*why, *told, *parameters])


def enqueue_whole(controller: int, request: Request) -> None:
    """Ask a controller for a cycle over everything it watches."""
    enqueue(controller, Resource.objects.filter(pk=controller), request)


def free_changed(resources: Sequence[int]) -> None:
    """Free the failed items of resources that were declared anew, parked or waiting."""
    keys = these(resources)
    with connection.cursor() as cursor:
        cursor.execute(FREE.format(keys=keys.sql), keys.params)


def free_left(controller: int, resources: Collection[int], now: datetime) -> None:
    """Free the parked items of resources a controller no longer watches: it must forget them."""
    parked = WorkItem.objects.filter(controller=controller, resource__in=resources)
    parked.exclude(parked_at=None).update(parked_at=None, attempts=0, run_at=now)


def free_all(controller: int, run_at: datetime) -> None:
    """Free every parked item of a controller: a person asked for it."""
    parked = WorkItem.objects.filter(controller=controller).exclude(parked_at=None)
    parked.update(parked_at=None, parked_generation=None, attempts=0, run_at=run_at)


def free_about(resources: QuerySet[Resource], now: datetime) -> None:
    """Free every parked item of resources, whoever watches them."""
    parked = WorkItem.objects.filter(resource__in=resources).exclude(parked_at=None)
    parked.update(parked_at=None, parked_generation=None, attempts=0, run_at=now)


def due(now: datetime) -> list[int]:
    """Return the controllers that have work to do, the most urgent first."""
    return [row[0] for row in queue_rows.WITH_WORK(now=now)]


def backlog(now: datetime) -> dict[str, int]:
    """Count what is due and what is parked, and the seconds the oldest of it has waited."""
    due = Q(parked_at=None, run_at__lte=now)
    found = queue_rows.ours().aggregate(
        due=Count("pk", filter=due),
        parked=Count("pk", filter=Q(parked_at__isnull=False)),
        oldest=Min("run_at", filter=due),
    )
    waited = now - (found.pop("oldest") or now)
    return {**found, "oldestSeconds": int(waited.total_seconds())}


def is_due(controller: int, now: datetime) -> bool:
    """Tell whether a controller has work to do."""
    return bool(queue_rows.DUE(controller=controller, now=now))


def has_failed(controller: int) -> bool:
    """Tell whether anything waits for a controller that went wrong the last time."""
    return bool(queue_rows.FAILED(controller=controller))


def whole(controller: int) -> WorkItem | None:
    """Return the item that stands for everything a controller watches."""
    found = queue_rows.WHOLE(controller=controller)
    return WorkItem.from_db(DEFAULT_DB_ALIAS, queue_rows.columns(), found[0]) if found else None


def story(controller: int, now: datetime) -> str:
    """Return the correlation id of the request that is due, if there is one."""
    asked = whole(controller)
    return asked.story if asked is not None and asked.run_at <= now else ""


def ready(controller: int, now: datetime, priority: int, after: int, most: int) -> list[Item]:
    """Read a controller's next items; they stay until they are done."""
    rows = queue_rows.following(most)(
        controller=controller, now=now, priority=priority, after=after
    )
    return [Item(*row) for row in rows]


def among(controller: int, resources: Sequence[int], now: datetime | None) -> Queued:
    """Read what is queued of these resources; without a time everything is due."""
    items, waiting = {}, set()
    for *row, run_at, parked_at in queue_rows.AMONG(controller=controller, keys=listed(resources)):
        item = Item(*row)
        if now is None or (parked_at is None and run_at <= now):
            items[item.resource] = item
        elif parked_at is not None or item.attempts:
            waiting.add(item.resource)
    return Queued(items, waiting)


def due_items(controller: int, now: datetime) -> QuerySet[WorkItem]:
    """Return the items of a controller that are due, without the one for everything."""
    rows = WorkItem.objects.filter(controller=controller, parked_at=None, run_at__lte=now)
    return rows.exclude(resource=controller).order_by("pk")


def reasons(controller: int, now: datetime) -> list[int]:
    """Return the different reasons of what is due for a controller."""
    return [row[0] for row in queue_rows.REASONS(controller=controller, now=now)]


def done(items: Iterable[Item], now: datetime) -> None:
    """Take items away; one that something arrived for meanwhile stays and is due at once."""
    # One order for everybody: who queues and who is done wait for each other, never in a circle.
    rows = sorted(items, key=lambda each: each.resource)
    if not rows:
        return
    when = connection.ops.adapt_datetimefield_value(now)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            worked_on = [each.key for each in rows], [each.arrivals for each in rows]
            cursor.execute(ALL_DONE, list(map(listed, worked_on)))
        else:
            cursor.executemany(DONE, [(each.key, each.arrivals) for each in rows])
        if cursor.rowcount != len(rows):
            left = [(CHANGE, when, each.key, each.arrivals) for each in rows]
            cursor.executemany(AGAIN, left)


class Failure(NamedTuple):
    """Work on a resource that failed, and what is to become of it."""

    resource: int
    generation: int
    attempts: int
    error: str
    verdict: Verdict
    # Of its item as it was read; nothing when there was none.
    arrivals: int = 0


def failed(controller: int, failures: Sequence[Failure], now: datetime) -> None:
    """Keep failed work for later, or park it."""
    if not failures:
        return
    keys = [each.resource for each in failures]
    enqueue(controller, Resource.objects.filter(pk__in=keys), Request(RETRY, now))
    rows = [failed_row(controller, each, now) for each in sorted(failures)]
    with connection.cursor() as cursor:
        cursor.executemany(FAILED, rows)


def failed_row(controller: int, failure: Failure, now: datetime) -> tuple[Any, ...]:
    """Spell a failure as the values of its item; without a delay it waits for the next sweep."""
    adapt = connection.ops.adapt_datetimefield_value
    parked, wait = failure.verdict.parked, failure.verdict.retry_after
    return (
        failure.attempts,
        failure.error[:2_000],
        adapt(now + (wait if wait is not None else timedelta(hours=1))),
        adapt(now) if parked else None,
        failure.generation,
        RETRY,
        controller,
        failure.resource,
        failure.arrivals + 1,
    )


def reschedule(item: WorkItem, run_at: datetime, *, done: bool) -> None:
    """Set when everything is looked at next; a request made meanwhile keeps its own time.

    A controller that was declared anew stays so until it has looked at everything.
    """
    WorkItem.objects.filter(pk=item.pk, arrivals=item.arrivals).update(
        run_at=run_at,
        reasons=INTERVAL if done else INTERVAL | item.reasons & CHANGE,
        priority=USUAL,
        attempts=0,
        requested_by="",
        message="",
        story="",
    )
