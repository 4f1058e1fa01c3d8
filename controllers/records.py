"""Write what a cycle concluded about a chunk: one short transaction, fenced, nothing half."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Sum

from controllers import alerts, leases, notes, queue, rivals, telling, upserts
from controllers.effects import Notice
from controllers.engine import act, intervals
from controllers.engine.errors import Conflict, verdict
from controllers.engine.types import Action, Case, Controller, Event, Judgement, Planned
from controllers.leases import Lease
from controllers.models import Cycle, Plan, Runtime
from controllers.models import Judgement as JudgementRow
from controllers.rows import these
from resources import ledger, store
from resources.actor import Actor
from resources.batches import batches
from resources.models import Resource

ATTEMPTS = 5
# Resources rewritten in one transaction: as few as keep a person's click from waiting.
REWRITTEN = 100
COUNTERS = {"True": "healthy", "False": "drifted", "Unknown": "unknown"}


@dataclass(frozen=True)
class Run:
    """A cycle under way: who runs what, and under which lease."""

    controller: Controller
    lease: Lease
    cycle: Cycle
    # Status fields that a hook sets to the time of each look.
    refreshed: tuple[tuple[str, ...], ...] = ()

    @property
    def actor(self) -> Actor:
        """The controller as the one who acts."""
        return Actor("controller", self.controller.name)


@dataclass(frozen=True)
class Chunk:
    """What was concluded about some resources, and the work that is done with it."""

    cases: Sequence[Case]
    judged: Mapping[int, Judgement]
    # Watched before, but gone or no longer matching.
    released: Sequence[int] = ()
    items: Mapping[int, queue.Item] = field(default_factory=dict)
    notices: Sequence[Notice] = ()
    events: Sequence[Event] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        news = any(each.changed or each.condition or each.events for each in self.cases)
        return not (news or self.released or self.items or self.notices or self.events)


def save(run: Run, chunk: Chunk, now: datetime) -> None:
    """Write a chunk; what somebody changed meanwhile is left out and looked at again."""
    for part in slices(run, chunk):
        if part.empty and not run.refreshed:
            continue
        for _ in range(ATTEMPTS):
            with suppress(store.Stale):
                attempt(run, part, now)
                break
        else:
            raise Conflict("The resources change faster than they can be judged.")


def slices(run: Run, chunk: Chunk) -> Iterator[Chunk]:
    """Cut a chunk so that no transaction rewrites more than a few resources."""
    rewritten = [each for each in chunk.cases if each.condition or run.refreshed]
    if len(rewritten) <= REWRITTEN:
        yield chunk
        return
    rest = {each.judgement.resource for each in chunk.cases}.union(chunk.items, chunk.released)
    for cases in batches(rewritten, REWRITTEN):
        keys = {each.judgement.resource for each in cases}
        rest -= keys
        yield cut(chunk, keys)
    yield cut(chunk, rest)


def cut(chunk: Chunk, keys: set[int]) -> Chunk:
    """Take out of a chunk what is about some resources, with all that is said about them."""
    cases = [each for each in chunk.cases if each.judgement.resource in keys]
    subjects = {each.snapshot.target.ref for each in cases}
    return Chunk(
        cases,
        chunk.judged,
        [key for key in chunk.released if key in keys],
        {key: item for key, item in chunk.items.items() if key in keys},
        [each for each in chunk.notices if each.resource in keys],
        [each for each in chunk.events if each.subject in subjects],
    )


def attempt(run: Run, chunk: Chunk, now: datetime) -> None:
    """Write a chunk in one transaction, the fence first."""
    with store.all_or_stale():
        leases.hold(run.lease, now)
        moved, acted = moved_on(run, chunk.cases)
        cases = [each for each in chunk.cases if each.judgement.resource not in moved]
        noted = notes.drafts(run.controller, cases, chunk.released, run.refreshed, now)
        store.write(noted, actor=run.actor, now=now)
        # A judgement holds for the resource as our own note leaves it, but not our own action.
        rows = [each.resource for each in noted if each.resource.pk not in acted]
        versions = {row.pk: row.resource_version for row in rows}
        write_judgements(run, cases, versions, now)
        write_plans(run, cases, chunk.judged, now)
        release(run, chunk.released)
        count(run, cases, chunk)
        told = [each for each in chunk.notices if each.resource not in moved]
        alerts.resolve(run.controller.key, chunk.released, now)
        telling.resolve(run.controller.key, cases, chunk.judged, now)
        told += telling.stopped(cases)
        alerts.raise_all(run.controller.key, told, run.cycle.correlation_id, now)
        said = [event for each in cases for event in each.events]
        ledger.append(entries(run, [*said, *chunk.events]), actor=run.actor, now=now)
        settle(run, chunk, cases, moved, now)


def moved_on(run: Run, cases: Sequence[Case]) -> tuple[set[int], set[int]]:
    """Return the resources that are no longer as they were read, by others and by this cycle."""
    read = {each.judgement.resource: each.snapshot.target.version for each in cases}
    living = Resource.objects.filter(pk__in=these(read), deleted_at=None)
    # Versions only grow: as long as neither the number nor the sum moves, none has.
    total = living.aggregate(count=Count("pk"), sum=Sum("resource_version"))
    if total == {"count": len(read), "sum": sum(read.values())}:
        return set(), set()
    found = dict(living.values_list("pk", "resource_version"))
    moved = {key for key, version in read.items() if found.get(key) != version}
    versions = {key: read[key] for key in moved if key in found}
    acted = versions.keys() - rivals.changed_by_others(versions, str(run.actor))
    return moved - acted, acted


def write_judgements(
    run: Run, cases: Iterable[Case], versions: Mapping[int, int], now: datetime
) -> None:
    """Store the judgements that say something new, and a point where the score moved."""
    key = run.controller.key
    changed = [each for each in cases if each.changed or each.judgement.resource in versions]
    upserts.upsert(
        upserts.JUDGEMENTS,
        [upserts.judgement_row(key, each.judgement, versions) for each in changed],
    )
    upserts.upsert(
        upserts.SAMPLES,
        [upserts.sample_row(key, each.judgement, now) for each in changed if each.moved],
    )


def write_plans(
    run: Run, cases: Sequence[Case], judged: Mapping[int, Judgement], now: datetime
) -> None:
    """Store plans that are new or different, and drop those that came to nothing."""
    fresh: list[Case] = []
    stale: list[Case] = []
    for case in cases:
        before = judged.get(case.judgement.resource)
        if case.plan is not None and case.judgement.plan != (before.plan if before else ""):
            (fresh if case.judgement.plan else stale).append(case)
    gone = [case.judgement.resource for case in stale]
    if gone:
        Plan.objects.filter(controller=run.controller.key, resource__in=gone).delete()
    rows = [plan_row(run, case.judgement.resource, case.plan, now) for case in fresh if case.plan]
    upserts.upsert(upserts.PLANS, rows)


def plan_row(run: Run, resource: int, planned: Planned, now: datetime) -> tuple[Any, ...]:
    """Spell a plan: what would be changed, why, and how far the mode lets it go."""
    changes = [as_document(each) for each in planned.actions if each.kind in ("change", "block")]
    return (
        run.controller.key,
        resource,
        planned.digest,
        run.controller.mode,
        changes,
        planned.explanation,
        run.cycle.correlation_id,
        now,
    )


def as_document(action: Action) -> dict[str, Any]:
    """Write an action as plain values; what it does not say is left out."""
    return {key: value for key, value in asdict(action).items() if value not in ("", (), {})}


def release(run: Run, keys: Sequence[int]) -> None:
    """Forget resources that left the watch list."""
    if keys:
        for table in (JudgementRow, Plan):
            table.objects.filter(controller=run.controller.key, resource__in=keys).delete()


def count(run: Run, cases: Iterable[Case], chunk: Chunk) -> None:
    """Move the controller's counters by what changed hands."""
    moves: Counter[str] = Counter()
    for case in cases:
        before = chunk.judged.get(case.judgement.resource)
        if before is None or before.status != case.judgement.status:
            moves[COUNTERS[case.judgement.status]] += 1
            moves[COUNTERS[before.status] if before else ""] -= 1
    for key in chunk.released:
        if key in chunk.judged:
            moves[COUNTERS[chunk.judged[key].status]] -= 1
    changes = {name: F(name) + moves[name] for name in COUNTERS.values() if moves[name]}
    if changes:
        Runtime.objects.filter(controller=run.controller.key).update(**changes)


def entries(run: Run, events: Iterable[Event]) -> list[ledger.Entry]:
    """Write events as entries of the controller's own chain."""
    stream = f"controller/{run.controller.uid}"
    return [
        ledger.Entry(stream, each.name, each.subject, each.payload, each.category, each.severity)
        for each in events
    ]


def settle(run: Run, chunk: Chunk, cases: Sequence[Case], moved: set[int], now: datetime) -> None:
    """Take away the work that is done, keep what failed, and queue what must be seen again."""
    failures = [failure(case, chunk.items) for case in cases if case.failure is not None]
    again = {each.resource for each in failures} | moved
    key = run.controller.key
    queue.done([item for item in chunk.items.values() if item.resource not in again], now)
    queue.failed(key, failures, now)
    alerts.raise_all(key, telling.parked(failures, cases), run.cycle.correlation_id, now)
    look_again(key, moved, now)
    if run.controller.most_actions is not None:
        put_off = {each.judgement.resource for each in cases if act.put_off(each.outcomes)}
        look_again(key, put_off, intervals.next_due(now, run.controller.interval, now))


def look_again(controller: int, resources: set[int], at: datetime) -> None:
    """Queue another look at what still exists."""
    if resources:
        rows = Resource.objects.filter(pk__in=resources, deleted_at=None)
        queue.enqueue(controller, rows, queue.Request(queue.RETRY, at))


def failure(case: Case, items: Mapping[int, queue.Item]) -> queue.Failure:
    """Decide what becomes of a resource that could not be judged."""
    key, target = case.judgement.resource, case.snapshot.target
    item = items.get(key)
    attempts = (item.attempts if item else 0) + 1
    error = case.failure or Conflict(case.error)
    ruling = verdict(error, attempts, random.random())  # noqa: S311 - spreads retries only
    counted = attempts if ruling.counts else attempts - 1
    arrivals = item.arrivals if item else 0
    return queue.Failure(key, target.generation, counted, case.error, ruling, arrivals)
