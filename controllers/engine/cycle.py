"""The reconciliation loop of the specification, for one controller and what it watches.

    WATCH → DIFF → PLAN → ACT → REPORT

Values in, values out: what was read comes as snapshots, what is done goes through the effects,
what is concluded is returned. A resource that cannot be judged costs only itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from controllers.engine import act, conditions, diff, plan, report, targets, watch
from controllers.engine.errors import Fenced, Stopped, TimedOut
from controllers.engine.types import Case, Controller, Judgement, Snapshot

PHASES = ("watch", "diff", "plan", "act", "report")


class Pass(NamedTuple):
    """One look at some resources: by whom, at what, knowing what, and with which means."""

    controller: Controller
    snapshots: Iterable[Snapshot]
    judged: Mapping[int, Judgement]
    effects: act.Effects
    now: datetime
    # What is looked at even if it was reconciled within the interval; nothing means all.
    forced: frozenset[int] | None = None


class Stopwatch:
    """How long each phase took, added up over all resources."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self.phase, self.since = "watch", clock()

    def enter(self, phase: str) -> None:
        """Leave the phase before and begin this one."""
        at = self.clock()
        self.seconds[self.phase] += at - self.since
        self.phase, self.since = phase, at


def reconcile(given: Pass, stopwatch: Stopwatch) -> Iterator[Case]:
    """Run the five phases for each resource that is due, one after the other."""
    stopwatch.enter("watch")
    for snapshot in watch.select(*given[:3], given.now, given.forced):
        given.effects.check()
        yield consider(given, snapshot, stopwatch)
        stopwatch.enter("watch")
    stopwatch.enter("report")


def consider(given: Pass, snapshot: Snapshot, stopwatch: Stopwatch) -> Case:
    """Take one resource through DIFF, PLAN, ACT and REPORT; whatever fails is reported too."""
    controller, now = given.controller, given.now
    judged = given.judged.get(snapshot.target.key)
    target = targets.by_kind(controller.kind)
    try:
        stopwatch.enter("diff")
        drift = diff.measure(controller, target, snapshot, now)
        recheck = target.recheck(snapshot, now)
        if judged is not None and report.is_as_before(
            controller, snapshot, drift, judged, recheck
        ):
            return report.renew(snapshot.target, judged, now)
        stopwatch.enter("plan")
        conditions.claim(controller, snapshot.target)
        planned = plan.draft(controller, target, snapshot, drift, judged, now)
        stopwatch.enter("act")
        outcomes = act.execute(controller, planned, given.effects)
        stopwatch.enter("report")
        return report.conclude(controller, planned, outcomes, judged, recheck, now)
    except (Fenced, Stopped, TimedOut):
        raise
    except Exception as error:  # one resource that cannot be judged must not stop the others
        return report.failed(controller, snapshot, judged, (stopwatch.phase, error), now)
