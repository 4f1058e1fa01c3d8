"""Run one cycle: begin it, take its resources through the engine in chunks, and always report."""

from __future__ import annotations

import gc
import logging
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from controllers.common.rows import Prepared, Slot, at
from controllers.decisions import gate_facts, holds
from controllers.engine import configuration, watch
from controllers.engine import cycle as engine
from controllers.engine.errors import Blocked, EngineError, Fenced, Stopped, TimedOut
from controllers.engine.terms import Case, Controller, Renewed
from controllers.loop import chunk_writer, cycle_begin, cycle_end
from controllers.loop.chunk_writer import Chunk, Run
from controllers.loop.cycle_counts import Tally
from controllers.models import Cycle, Runtime
from controllers.models import Judgement as JudgementRow
from controllers.workqueue import compiled_controllers, leases, queue
from controllers.workqueue.chunk_snapshot import InSight, one_view
from controllers.workqueue.cycle_effects import Check, Effects, never
from controllers.workqueue.leases import Lease
from controllers.workqueue.target_store import Reader
from resources.observability import spans
from resources.tables import ledger
from resources.tables.batches import batches

logger = logging.getLogger("ioa.cycles")

Clock = Callable[[], datetime]
MakeEffects = Callable[[Controller], Effects]
# More objects than a chunk holds, and few enough to be swept up quickly.
ALLOCATIONS = 200_000
PRIORITIES = (queue.URGENT, queue.USUAL)
# How many resources are read at once; what is written about them is cut once more.
CHUNK = 2_000


@dataclass(frozen=True)
class Means:
    """What a worker lends to a cycle: its clock, its way of acting, and its own end."""

    clock: Clock
    effects: MakeEffects = Effects
    stopping: Check = never


@dataclass(frozen=True)
class Piece:
    """Some resources to look at, and the work items that asked for it."""

    seen: InSight | Iterable[watch.JudgedSnapshot]
    # How many of them the controller watches.
    watched: int
    items: dict[int, queue.Item]
    # Whether even those are looked at that nobody asked for and that were seen in the interval.
    force: bool
    # Judged before, but no longer there or no longer watched.
    released: Sequence[int] = ()

    @property
    def forced(self) -> frozenset[int] | None:
        """Which of them are looked at in any case; nothing means all."""
        return None if self.force else frozenset(self.items)


def run(lease: Lease, means: Means) -> Cycle:
    """Run a controller once under a lease; the report is written however it ends."""
    controller = compiled_controllers.load(lease.controller)
    told = queue.story(lease.controller, means.clock()) or str(uuid.uuid4())
    story = ledger.correlation.set(told)
    try:
        opened = cycle_begin.begin(lease, controller, means.clock())
        tally, effects = Tally(engine.Stopwatch(time.perf_counter)), means.effects(controller)
        effects.stopping = means.stopping
        govern(effects, opened.first_look, opened.now)
        with spans.span("cycle", controller=controller.name, number=opened.run.cycle.number):
            with few_collections():
                outcome = attempt(opened, effects, tally, means.clock)
            cycle_end.finish(opened, effects, tally, outcome, means.clock())
            spans.parts(tally.stopwatch.seconds)
        return opened.run.cycle
    finally:
        ledger.correlation.reset(story)


def govern(effects: Effects, first_look: bool, now: datetime) -> None:
    """Bind the means of a cycle to what people said and the catalogue knows, whoever runs it."""
    effects.first_look = first_look
    effects.only_propose = holds.only_proposes(effects.controller.key, now)
    effects.earned = gate_facts.earned_by(effects.controller)
    effects.catalogue = gate_facts.traits
    effects.now = now


@contextmanager
def few_collections() -> Iterator[None]:
    """Let the collector of cycles in memory wait: a chunk has none, and looking costs a third."""
    usual = gc.get_threshold()
    gc.set_threshold(ALLOCATIONS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def attempt(
    opened: cycle_begin.Opened, effects: Effects, tally: Tally, clock: Clock
) -> Cycle.Outcome | None:
    """Go through all there is to look at; return what cut it short, if anything did."""
    try:
        go_through(opened, effects, tally, clock)
    except Stopped:
        return Cycle.Outcome.INTERRUPTED
    except Fenced:
        raise
    except TimedOut as error:
        tally.fail(str(error))
        return Cycle.Outcome.TIMED_OUT
    except Exception as error:  # a fault of ours must not end the loop, nor go unreported
        logger.exception("A cycle of %s failed.", opened.run.controller.name)
        tally.fail(f"{type(error).__name__}: {error}")
        return Cycle.Outcome.FAILED
    return None


def go_through(opened: cycle_begin.Opened, effects: Effects, tally: Tally, clock: Clock) -> None:
    """Read, judge and write, piece by piece; only the writing is in a transaction."""
    if opened.runtime.breaker == Runtime.Breaker.OPEN:
        raise Blocked(opened.runtime.breaker_reason)
    controller, held = opened.run.controller, opened.now
    reader = Reader(controller, configuration.reads(controller))
    for piece in pieces(opened, reader):
        effects.check()
        held = leases.keep(opened.run.lease, held, clock())
        now = effects.now = clock()
        effects.holds = holds.standing(now)
        look = engine.Pass(
            controller, piece.seen, effects, now, piece.forced, opened.force, opened.anew
        )
        look_at(look, piece, opened.run, effects, tally)
        tally.stopwatch.enter("watch")


def look_at(
    look: engine.Pass, piece: Piece, run: Run, effects: Effects, tally: Tally
) -> Sequence[Case]:
    """Judge one piece and write it; what is cut short is written as far as it came."""
    cases: list[Case] = []
    renewed: list[Renewed] = []
    cut_short: EngineError | None = None
    try:
        for each in engine.reconcile(look, tally.stopwatch):
            if isinstance(each, Renewed):
                renewed.append(each)
            else:
                cases.append(each)
    except (Stopped, TimedOut) as error:
        cut_short = error
    chunk = Chunk(cases, renewed, piece.released, piece.items, *effects.drain())
    if cut_short is not None:
        chunk = chunk_writer.cut(chunk, chunk.seen)
    chunk_writer.save(run, chunk, look.now)
    if isinstance(piece.seen, InSight):
        chunk_writer.look_again(run.controller.key, piece.seen.overtaken, look.now)
    tally.add(cases, renewed, piece.watched if cut_short is None else len(chunk.seen))
    if cut_short is not None:
        raise cut_short
    return cases


def pieces(opened: cycle_begin.Opened, reader: Reader) -> Iterator[Piece]:
    """Yield what there is to look at: everything, or what the clock may have changed; and all
    that was asked for.
    """
    key, now, size = opened.run.controller.key, opened.now, CHUNK
    yield from sweep(opened, reader, size) if opened.full else rechecks(reader, now, size)
    for priority in PRIORITIES:
        after = 0
        while items := queue.ready(key, now, priority, after, size):
            after = items[-1].key
            by_resource = {item.resource: item for item in items}
            yield named(reader, list(by_resource), by_resource)


def sweep(opened: cycle_begin.Opened, reader: Reader, size: int) -> Iterator[Piece]:
    """Yield everything the controller watches, with the work that is done by looking at it, and
    what it watched before.
    """
    key, after = opened.run.controller.key, 0
    while True:
        with one_view():
            found = reader.sweep(after, size)
            if not found.rows:
                break
            queued = queue.among(key, found.keys, None if opened.force else opened.now)
            seen = found.without(queued.waiting)
            piece = Piece(reader.snapshots(seen), len(seen.rows), queued.items, opened.force)
        after = found.rows[-1][0]
        yield piece
    if opened.force:
        for strays in batches(reader.strays(), size):
            yield named(reader, strays, {})


def rechecks(reader: Reader, now: datetime, size: int) -> Iterator[Piece]:
    """Yield the resources whose judgement the clock alone may have changed."""
    due = RECHECKS(controller=reader.controller.key, now=now)
    for keys in batches(sorted(row[0] for row in due), size):
        yield named(reader, keys, {})


def to_recheck() -> QuerySet[JudgementRow]:
    """Ask for the judgements that the clock alone may have changed.

    In no order: for the sake of one SQLite would go through all there are.
    """
    rows = JudgementRow.objects.filter(controller=Slot("controller"), recheck_at__lte=at("now"))
    return rows.order_by()


RECHECKS = Prepared(lambda: to_recheck().values_list("resource_id"))


def named(reader: Reader, keys: Sequence[int], items: dict[int, queue.Item]) -> Piece:
    """Read some resources that were asked for; those that are not watched are let go."""
    with one_view():
        found = reader.among(keys)
        released = reader.judged(set(keys).difference(found.keys))
        seen = reader.snapshots(found)
    return Piece(seen, len(found.rows), items, force=True, released=released)
