"""Write what a cycle concluded about a chunk: one short transaction, fenced, nothing half."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, F, Sum

from controllers import alerts, leases, notes, queue, rivals, telling, upserts
from controllers.effects import Notice
from controllers.engine import act, intervals
from controllers.engine.errors import Conflict, verdict
from controllers.engine.types import Case, Controller, Event, Judgement
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
    def keys(self) -> set[int]:
        """All resources it is about."""
        return {each.judgement.resource for each in self.cases}.union(self.items, self.released)

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
    noted = (each for each in chunk.cases if each.condition or run.refreshed)
    rewritten = [*(each.judgement.resource for each in noted), *chunk.released]
    if len(rewritten) <= REWRITTEN:
        yield chunk
        return
    rest = chunk.keys
    for batch in batches(rewritten, REWRITTEN):
        rest.difference_update(batch)
        yield cut(chunk, set(batch))
    yield cut(chunk, rest)


def cut(chunk: Chunk, keys: set[int]) -> Chunk:
    """Take out of a chunk what is about some resources, with all that is said about them."""
    cases = [each for each in chunk.cases if each.judgement.resource in keys]
    subjects = {each.ref for each in cases}
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
        moved = moved_on(run, chunk.cases)
        kept = cut(chunk, chunk.keys - moved.by_others - moved.gone) if any(moved) else chunk
        noted = notes.drafts(run.controller, kept.cases, kept.released, run.refreshed, now)
        refuse_overtaken(noted, kept.cases, moved.by_us)
        store.write(noted, actor=run.actor, now=now)
        # A judgement holds for the resource as our own note leaves it, not as our action does.
        rows = [each.resource for each in noted if each.resource.pk not in moved.by_us]
        versions = {row.pk: row.resource_version for row in rows}
        write_judgements(run, kept, versions, now)
        write_plans(run, kept.cases, chunk.judged, now)
        release(run, kept.released)
        count(run, kept)
        tell(run, kept, now)
        settle(run, chunk, kept.cases, moved.by_others, now)


class Moved(NamedTuple):
    """Resources that are no longer as they were read."""

    by_others: frozenset[int] = frozenset()
    by_us: frozenset[int] = frozenset()
    gone: frozenset[int] = frozenset()


def moved_on(run: Run, cases: Sequence[Case]) -> Moved:
    """Find the resources that are no longer as they were read, and who changed them."""
    read = {each.judgement.resource: each.judgement.version for each in cases}
    living = Resource.objects.filter(pk__in=these(read), deleted_at=None)
    # Versions only grow: as long as neither the number nor the sum moves, none has.
    total = living.aggregate(count=Count("pk"), sum=Sum("resource_version"))
    if total == {"count": len(read), "sum": sum(read.values())}:
        return Moved()
    found = dict(living.values_list("pk", "resource_version"))
    changed = {key: read[key] for key, version in found.items() if read[key] != version}
    others = rivals.changed_by_others(changed, str(run.actor))
    return Moved(others, frozenset(changed) - others, frozenset(read.keys() - found.keys()))


def refuse_overtaken(
    noted: Iterable[store.Draft], cases: Iterable[Case], by_us: frozenset[int]
) -> None:
    """Begin anew when a resource was changed between being compared and being drafted."""
    read = {each.judgement.resource: each.judgement.version for each in cases}
    for draft in noted:
        key = draft.resource.pk
        if key not in by_us and draft.read_version != read.get(key, draft.read_version):
            raise store.Stale("A resource was changed after it was judged.")


def tell(run: Run, chunk: Chunk, now: datetime) -> None:
    """Tell people and the ledger what was concluded, and end the alerts that are over."""
    key = run.controller.key
    alerts.resolve(key, chunk.released, now)
    telling.resolve(key, chunk.cases, chunk.judged, now)
    notices = [*chunk.notices, *telling.stopped(chunk.cases)]
    alerts.raise_all(key, notices, run.cycle.correlation_id, now)
    said = [event for each in chunk.cases for event in each.events]
    ledger.append(entries(run, [*said, *chunk.events]), actor=run.actor, now=now)


def write_judgements(run: Run, chunk: Chunk, versions: Mapping[int, int], now: datetime) -> None:
    """Store the judgements that say something new, and a point where the score moved."""
    key = run.controller.key
    changed = [each for each in chunk.cases if each.changed or each.judgement.resource in versions]
    known: list[tuple[Any, ...]] = []
    fresh: list[tuple[Any, ...]] = []
    renewed: list[tuple[Any, ...]] = []
    for each in changed:
        judgement = each.judgement
        if each.renewed:
            version = versions.get(judgement.resource, judgement.version)
            renewed.append((key, judgement.resource, version, now))
        else:
            rows = known if judgement.resource in chunk.judged else fresh
            rows.append(upserts.judgement_row(key, judgement, versions))
    upserts.upsert(upserts.JUDGEMENTS, fresh)
    upserts.update(upserts.JUDGEMENTS, known)
    upserts.update(upserts.RENEWED, renewed)
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
        if case.judgement.plan != (before.plan if before else ""):
            (fresh if case.judgement.plan else stale).append(case)
    gone = [case.judgement.resource for case in stale]
    if gone:
        Plan.objects.filter(controller=run.controller.key, resource__in=gone).delete()
    rows = [upserts.plan_row(run.controller, case.plan, now) for case in fresh if case.plan]
    upserts.upsert(upserts.PLANS, [(*row, run.cycle.correlation_id) for row in rows])


def release(run: Run, keys: Sequence[int]) -> None:
    """Forget resources that left the watch list."""
    if keys:
        for table in (JudgementRow, Plan):
            table.objects.filter(controller=run.controller.key, resource__in=keys).delete()


def count(run: Run, chunk: Chunk) -> None:
    """Move the controller's counters by what changed hands."""
    moves: Counter[str] = Counter()
    for case in chunk.cases:
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


def recount(controller: int) -> None:
    """Count what is known after a look at everything; a row that somebody removed is no more."""
    rows = JudgementRow.objects.filter(controller=controller).order_by().values_list("status")
    found = dict(rows.annotate(found=Count("pk")))
    counters = {name: found.get(status, 0) for status, name in COUNTERS.items()}
    Runtime.objects.filter(controller=controller).update(**counters)


def entries(run: Run, events: Iterable[Event]) -> list[ledger.Entry]:
    """Write events as entries of the controller's own chain."""
    stream = f"controller/{run.controller.uid}"
    return [
        ledger.Entry(stream, each.name, each.subject, each.payload, each.category, each.severity)
        for each in events
    ]


def settle(
    run: Run, chunk: Chunk, cases: Sequence[Case], moved: frozenset[int], now: datetime
) -> None:
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


def look_again(controller: int, resources: Collection[int], at: datetime) -> None:
    """Queue another look."""
    if resources:
        rows = Resource.objects.filter(pk__in=resources)
        queue.enqueue(controller, rows, queue.Request(queue.RETRY, at))


def failure(case: Case, items: Mapping[int, queue.Item]) -> queue.Failure:
    """Decide what becomes of a resource that could not be judged."""
    key, generation = case.judgement.resource, case.judgement.generation
    item = items.get(key)
    attempts = (item.attempts if item else 0) + 1
    error = case.failure or Conflict(case.error)
    ruling = verdict(error, attempts, random.random())  # noqa: S311 - spreads retries only
    counted = attempts if ruling.counts else attempts - 1
    arrivals = item.arrivals if item else 0
    return queue.Failure(key, generation, counted, case.error, ruling, arrivals)
