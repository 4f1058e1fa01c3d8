"""Write what a cycle concluded about a chunk: one short transaction, fenced, nothing half."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, F

from controllers.common import judgement_writes
from controllers.decisions import creation
from controllers.engine import act, due_times
from controllers.engine.errors import Conflict, verdict
from controllers.engine.terms import Case, Condition, Controller, Event, Renewed
from controllers.loop import drift_alerts, target_conditions
from controllers.models import Cycle, Runtime
from controllers.models import Judgement as JudgementRow
from controllers.notifications import alerts
from controllers.workqueue import leases, queue
from controllers.workqueue.concurrent_changes import moved_on
from controllers.workqueue.cycle_effects import Notice
from controllers.workqueue.leases import Lease
from resources.documents.actor import Actor
from resources.store import store
from resources.tables import ledger
from resources.tables.batches import batches
from resources.tables.models import Resource

ATTEMPTS = 5
# Resources rewritten, and those written about, in one transaction: as few as keep a person's
# click from waiting. On SQLite people come to write only in between.
REWRITTEN = 100
WRITTEN = 2_000
COUNTERS = {"True": "healthy", "False": "drifted", "Unknown": "unknown"}


@dataclass(frozen=True)
class Run:
    """A cycle under way: who runs what, and under which lease."""

    controller: Controller
    lease: Lease
    cycle: Cycle
    # Status fields that a hook sets to the time of each look.
    refreshed: tuple[tuple[str, ...], ...] = ()
    # The people behind an outside controller, who may not approve what it proposes.
    interested: tuple[str, ...] = ()

    @property
    def actor(self) -> Actor:
        """The controller as the one who acts."""
        return Actor("controller", self.controller.name)


@dataclass(frozen=True)
class Chunk:
    """What was concluded about some resources, and the work that is done with it."""

    cases: Sequence[Case]
    renewed: Sequence[Renewed] = ()
    # Watched before, but gone or no longer matching.
    released: Sequence[int] = ()
    items: Mapping[int, queue.Item] = field(default_factory=dict)
    notices: Sequence[Notice] = ()
    events: Sequence[Event] = ()

    @property
    def seen(self) -> set[int]:
        """The resources that were judged."""
        found = {each.judgement.resource for each in self.cases}
        return found.union([each.resource for each in self.renewed])

    @property
    def keys(self) -> set[int]:
        """All resources it is about."""
        return self.seen.union(self.items, self.released)

    @property
    def versions(self) -> dict[int, int]:
        """The versions in which the resources were read."""
        found = {each.resource: each.version for each in self.renewed}
        return found | {each.judgement.resource: each.judgement.version for each in self.cases}

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        news = any(each.changed or each.condition or each.events for each in self.cases)
        again = any(each.changed for each in self.renewed)
        rest = self.released or self.items or self.notices or self.events
        return not (news or again or rest)


def save(run: Run, chunk: Chunk, now: datetime) -> None:
    """Write a chunk; what somebody changed meanwhile is left out and looked at again."""
    for part in slices(run, chunk):
        news = run.refreshed or not part.empty
        if not news and not creation.differs(run, part.cases, part.renewed, now):
            continue
        for _ in range(ATTEMPTS):
            with suppress(store.Stale):
                attempt(run, part, now)
                break
        else:
            raise Conflict("The resources change faster than they can be judged.")


def slices(run: Run, chunk: Chunk) -> Iterator[Chunk]:
    """Cut a chunk so that no transaction keeps anybody waiting: rewritten resources cost most."""
    rewritten, everything = [*stated(run, chunk), *chunk.released], chunk.keys
    if len(rewritten) <= REWRITTEN and len(everything) <= WRITTEN:
        yield chunk
        return
    for batch in batches(rewritten, REWRITTEN):
        yield cut(chunk, set(batch))
    for batch in batches(sorted(everything.difference(rewritten)), WRITTEN):
        yield cut(chunk, set(batch))


def stated(run: Run, chunk: Chunk) -> dict[int, Condition | None]:
    """Return the resources to note something on, each with its condition if that is news."""
    cases = chunk.cases
    if not run.refreshed:
        return {each.judgement.resource: each.condition for each in cases if each.condition}
    found = dict.fromkeys(each.resource for each in chunk.renewed)
    return found | {each.judgement.resource: each.condition for each in cases}


def cut(chunk: Chunk, keys: set[int]) -> Chunk:
    """Take out of a chunk what is about some resources, with all that is said about them."""
    cases = [each for each in chunk.cases if each.judgement.resource in keys]
    subjects = {each.ref for each in cases}
    return Chunk(
        cases,
        [each for each in chunk.renewed if each.resource in keys],
        [key for key in chunk.released if key in keys],
        {key: item for key, item in chunk.items.items() if key in keys},
        [each for each in chunk.notices if each.resource in keys],
        [each for each in chunk.events if each.subject in subjects],
    )


def attempt(run: Run, chunk: Chunk, now: datetime) -> None:
    """Write a chunk in one transaction, the fence first."""
    with store.all_or_stale(), ledger.together():
        leases.hold(run.lease, now)
        read = chunk.versions
        moved = moved_on(read, str(run.actor))
        kept = cut(chunk, chunk.keys - moved.by_others - moved.gone) if any(moved) else chunk
        # Proposals first, as whoever decides or acts takes them.
        creation.refresh(run, kept.cases, kept.renewed, now)
        creation.let_go(run, kept.released, now)
        noted = target_conditions.drafts(
            run.controller, stated(run, kept), kept.released, run.refreshed, now
        )
        refuse_overtaken(noted, read, moved.by_us)
        store.write(noted, actor=run.actor, now=now)
        # A judgement holds for the resource as our own note leaves it, not as our action does.
        rows = [each.resource for each in noted if each.resource.pk not in moved.by_us]
        versions = {row.pk: row.resource_version for row in rows}
        write_judgements(run, kept, versions, now)
        release(run, kept.released)
        count(run, kept.cases)
        tell(run, kept, now)
        settle(run, chunk, kept.cases, moved.by_others, now)


def refuse_overtaken(
    noted: Iterable[store.Draft], read: Mapping[int, int], by_us: frozenset[int]
) -> None:
    """Begin anew when a resource was changed between being compared and being drafted."""
    for draft in noted:
        key = draft.resource.pk
        if key not in by_us and draft.read_version != read.get(key, draft.read_version):
            raise store.Stale("A resource was changed after it was judged.")


def tell(run: Run, chunk: Chunk, now: datetime) -> None:
    """Tell people and the ledger what was concluded, and end the alerts that are over."""
    key = run.controller.key
    alerts.resolve(key, chunk.released, now)
    drift_alerts.resolve(key, chunk.cases, now)
    notices = [*chunk.notices, *drift_alerts.stopped(chunk.cases)]
    alerts.raise_all(key, notices, run.cycle.correlation_id, now)
    said = [event for each in chunk.cases for event in each.events]
    ledger.append(entries(run, [*said, *chunk.events]), actor=run.actor, now=now)


def write_judgements(run: Run, chunk: Chunk, versions: Mapping[int, int], now: datetime) -> None:
    """Store the judgements that say something new, and a point where the score moved."""
    key = run.controller.key
    changed = [each for each in chunk.cases if each.changed or each.judgement.resource in versions]
    known: list[tuple[Any, ...]] = []
    fresh: list[tuple[Any, ...]] = []
    for each in changed:
        row = judgement_writes.judgement_row(key, each.judgement, versions)
        (known if each.before else fresh).append(row)
    judgement_writes.upsert(judgement_writes.JUDGEMENTS, fresh)
    judgement_writes.update(judgement_writes.JUDGEMENTS, known)
    renewed = {each.resource: each.version for each in chunk.renewed if each.changed}
    if run.refreshed:
        renewed |= {each.resource: versions[each.resource] for each in chunk.renewed}
    judgement_writes.renew(key, renewed, now)
    moved = [each.judgement for each in changed if each.moved]
    judgement_writes.upsert(
        judgement_writes.SAMPLES, [judgement_writes.sample_row(key, each, now) for each in moved]
    )


def release(run: Run, keys: Sequence[int]) -> None:
    """Forget resources that left the watch list, and count them no more."""
    if not keys:
        return
    known = JudgementRow.objects.filter(controller=run.controller.key, resource__in=keys)
    left = Counter(COUNTERS[each] for each in known.values_list("status", flat=True))
    move(run, {name: -count for name, count in left.items()})
    known.delete()


def count(run: Run, cases: Iterable[Case]) -> None:
    """Move the controller's counters by what changed hands."""
    moves: Counter[str] = Counter()
    for case in cases:
        if case.before is None or case.before.status != case.judgement.status:
            moves[COUNTERS[case.judgement.status]] += 1
            moves[COUNTERS[case.before.status] if case.before else ""] -= 1
    move(run, {name: moves[name] for name in COUNTERS.values()})


def move(run: Run, moves: Mapping[str, int]) -> None:
    """Move the controller's counters."""
    changes = {name: F(name) + by for name, by in moves.items() if by}
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
    alerts.raise_all(key, drift_alerts.parked(failures, cases), run.cycle.correlation_id, now)
    look_again(key, moved, now)
    if run.controller.most_actions is not None:
        put_off = {each.judgement.resource for each in cases if act.put_off(each.outcomes)}
        look_again(key, put_off, due_times.next_due(now, run.controller.interval, now))


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
