"""The end of a cycle that an outside process ran: the same report as of our own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, NamedTuple

from controllers.engine import configuration
from controllers.engine.cycle import PHASES
from controllers.loop import chunk_writer, cycle_end
from controllers.loop.chunk_writer import Chunk, Run
from controllers.loop.cycle_begin import Opened
from controllers.loop.cycle_counts import Tally
from controllers.models import Cycle, Runtime
from controllers.worker.external_controllers import external_cycle
from controllers.workqueue import target_store
from controllers.workqueue.cycle_effects import Effects
from controllers.workqueue.target_store import Reader
from resources.documents.problems import refused
from resources.tables.models import Resource

Outcome = Literal["completed", "failed", "interrupted"]
CUT_SHORT: Mapping[str, Cycle.Outcome | None] = {
    "completed": None,
    "failed": Cycle.Outcome.FAILED,
    "interrupted": Cycle.Outcome.INTERRUPTED,
}


class End(NamedTuple):
    """How an outside process says that its cycle ended."""

    outcome: Outcome
    error: str = ""
    # How many resources it looked at, where it did not report on each.
    watched: int | None = None
    # The milliseconds of each phase.
    times: Mapping[str, float] = {}


def close(row: Resource, number: int, fence: int, end: End, now: datetime) -> Cycle:
    """Close a cycle: its record, the controller's status, the breaker, and the lease."""
    with external_cycle.entered(row, number, fence, now) as run:
        tally = external_cycle.counted(run.cycle)
        if end.outcome == "failed":
            tally.error("watch", end.error or "It gave no reason.")
        if end.watched is not None:
            tally.counts["watched"] = max(end.watched, tally.counts["judged"])
        if end.outcome == "completed" and run.cycle.full:
            let_go(run, now)
        finish(run, tally, CUT_SHORT[end.outcome], end.times, now)
    return Cycle.objects.get(pk=run.cycle.pk)


def check_time(run: Run, now: datetime) -> None:
    """End a cycle that takes longer than its controller declares; nothing more is taken."""
    if now - run.cycle.started_at <= run.controller.timeout:
        return
    tally = external_cycle.counted(run.cycle)
    seconds = run.controller.timeout.total_seconds()
    tally.error("watch", f"The cycle took longer than {seconds:g} seconds.")
    finish(run, tally, Cycle.Outcome.TIMED_OUT, {}, now)
    raise refused(tally.errors[-1][1])


def let_go(run: Run, now: datetime) -> None:
    """Forget what the controller looked after before and does so no more."""
    strays = Reader(run.controller, configuration.reads(run.controller)).strays()
    if strays:
        chunk_writer.save(run, Chunk((), released=strays), now)


def finish(
    run: Run,
    tally: Tally,
    cut_short: Cycle.Outcome | None,
    times: Mapping[str, float],
    now: datetime,
) -> None:
    """Write the report, as at the end of our own cycles; only what covered all counts as full."""
    runtime = Runtime.objects.get(controller=run.controller.key)
    full = run.cycle.full and tally.counts["judged"] >= target_store.living(run.controller).count()
    if full != run.cycle.full:
        Cycle.objects.filter(pk=run.cycle.pk).update(full=full)
    tally.counts.pop(external_cycle.AUTHORISED, None)
    began = run.cycle.started_at
    first = not runtime.has_looked
    opened = Opened(run, runtime, None, full, False, first, anew=False, now=began)
    taken = {name: round(float(times.get(name, 0.0)), 3) for name in PHASES}
    cycle_end.finish(opened, Effects(run.controller), tally, cut_short, now, taken)
