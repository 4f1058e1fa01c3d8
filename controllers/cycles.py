"""Run one cycle: begin it, take its resources through the engine in chunks, and always report."""

from __future__ import annotations

import gc
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from controllers import closing, compiled, leases, opening, queue, records
from controllers.effects import Check, Effects, never
from controllers.engine import cycle as engine
from controllers.engine import watch
from controllers.engine.errors import Blocked, EngineError, Fenced, Stopped, TimedOut
from controllers.engine.types import Case, Controller, Episode, Judgement, Snapshot
from controllers.leases import Lease
from controllers.models import Cycle, Runtime
from controllers.models import Judgement as JudgementRow
from controllers.records import Chunk, Run
from controllers.store import Reader
from controllers.tally import Tally
from resources import ledger
from resources.batches import batches

logger = logging.getLogger("ioa.cycles")

Clock = Callable[[], datetime]
MakeEffects = Callable[[Controller], Effects]
# More objects than a chunk holds, and few enough to be swept up quickly.
ALLOCATIONS = 200_000
PRIORITIES = (queue.URGENT, queue.USUAL)


@dataclass(frozen=True)
class Means:
    """What a worker lends to a cycle: its clock, its way of acting, and its own end."""

    clock: Clock
    effects: MakeEffects = Effects
    stopping: Check = never


@dataclass(frozen=True)
class Piece:
    """Some resources to look at, and the work items that asked for it."""

    keys: list[int]
    items: dict[int, queue.Item]
    # Whether even those are looked at that nobody asked for and that were seen in the interval.
    force: bool

    @property
    def forced(self) -> frozenset[int] | None:
        """Which of them are looked at in any case; nothing means all."""
        return None if self.force else frozenset(self.items)


def run(lease: Lease, means: Means) -> Cycle:
    """Run a controller once under a lease; the report is written however it ends."""
    controller = compiled.load(lease.controller)
    told = queue.story(lease.controller, means.clock()) or str(uuid.uuid4())
    story = ledger.correlation.set(told)
    try:
        opened = opening.begin(lease, controller, means.clock())
        tally, effects = Tally(engine.Stopwatch(time.perf_counter)), means.effects(controller)
        effects.stopping = means.stopping
        effects.first_look = opened.first_look
        with few_collections():
            outcome = attempt(opened, effects, tally, means.clock)
        closing.finish(opened, effects, tally, outcome, means.clock())
        return opened.run.cycle
    finally:
        ledger.correlation.reset(story)


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
    opened: opening.Opened, effects: Effects, tally: Tally, clock: Clock
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


def go_through(opened: opening.Opened, effects: Effects, tally: Tally, clock: Clock) -> None:
    """Read, judge and write, piece by piece; only the writing is in a transaction."""
    if opened.runtime.breaker == Runtime.Breaker.OPEN:
        raise Blocked(opened.runtime.breaker_reason)
    controller, held = opened.run.controller, opened.now
    reader = Reader(controller, compiled.reads(controller))
    for piece in pieces(opened, reader):
        effects.check()
        held = leases.keep(opened.run.lease, held, clock())
        tally.stopwatch.enter("watch")
        snapshots, judged = reader.snapshots(piece.keys)
        if opened.force:
            judged = revived(judged)
        look = engine.Pass(controller, snapshots, judged, effects, clock(), piece.forced)
        look_at(look, piece, opened.run, effects, tally)


def look_at(look: engine.Pass, piece: Piece, run: Run, effects: Effects, tally: Tally) -> None:
    """Judge one piece and write it; what is cut short is written as far as it came."""
    cases: list[Case] = []
    kept: set[int] = set()
    cut_short: EngineError | None = None
    look = look._replace(snapshots=noting(look, kept))
    try:
        for case in engine.reconcile(look, tally.stopwatch):
            cases.append(case)
    except (Stopped, TimedOut) as error:
        cut_short = error
    released = [key for key in piece.keys if key in look.judged and key not in kept]
    chunk = Chunk(cases, look.judged, released, piece.items, *effects.drain())
    if cut_short is not None:
        chunk = records.cut(chunk, {each.judgement.resource for each in cases})
    records.save(run, chunk, look.now)
    tally.add(cases, len(kept))
    if cut_short is not None:
        raise cut_short


def noting(look: engine.Pass, kept: set[int]) -> Iterator[Snapshot]:
    """Pass snapshots on, one at a time, and note which of them are still watched."""
    for each in look.snapshots:
        if watch.matches(look.controller, each.target):
            kept.add(each.target.key)
        yield each


def revived(judged: Mapping[int, Judgement]) -> dict[int, Judgement]:
    """Let what was given up be tried again: a person asked, or the controller is another now."""
    return {
        key: each._replace(episode=Episode()) if each.episode.parked else each
        for key, each in judged.items()
    }


def pieces(opened: opening.Opened, reader: Reader) -> Iterator[Piece]:
    """Yield what there is to look at: everything, or what the clock may have changed; and all
    that was asked for.
    """
    key, now, size = opened.run.controller.key, opened.now, chunk_size()
    yield from sweep(opened, reader, size) if opened.full else rechecks(key, now, size)
    for priority in PRIORITIES:
        after = 0
        while items := queue.ready(key, now, priority, after, size):
            after = items[-1].key
            by_resource = {item.resource: item for item in items}
            yield Piece(list(by_resource), by_resource, force=True)


def sweep(opened: opening.Opened, reader: Reader, size: int) -> Iterator[Piece]:
    """Yield everything the controller watches, with the work that is done by looking at it, and
    what it watched before.
    """
    key, after = opened.run.controller.key, 0
    while keys := reader.sweep(after, size):
        after = keys[-1]
        queued = queue.among(key, keys, None if opened.force else opened.now)
        seen = [each for each in keys if each not in queued.waiting]
        yield Piece(seen, queued.items, opened.force)
    if opened.force:
        for strays in batches(list(reader.strays(size)), records.REWRITTEN):
            yield Piece(list(strays), {}, force=True)


def rechecks(controller: int, now: datetime, size: int) -> Iterator[Piece]:
    """Yield the resources whose judgement the clock alone may have changed."""
    due = JudgementRow.objects.filter(controller=controller, recheck_at__lte=now).order_by()
    # In no order, and all at once: for the sake of an order SQLite would go through all there are.
    for keys in batches(sorted(due.values_list("resource_id", flat=True)), size):
        yield Piece(keys, {}, force=True)


def chunk_size() -> int:
    """Return how many resources one chunk holds: what each database writes in a blink."""
    return 2_000 if connection.vendor == "postgresql" else 1_000
