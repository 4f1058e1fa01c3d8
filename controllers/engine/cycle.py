"""The reconciliation loop of the specification, for one controller and what it watches.

    WATCH → DIFF → PLAN → ACT → REPORT

Values in, values out: what was read comes as snapshots, what is done goes through the effects,
what is concluded is returned. A resource that cannot be judged costs only itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from controllers.engine import act, conditions, diff, plan, report, targets, watch
from controllers.engine.errors import Fenced, Stopped, TimedOut
from controllers.engine.target import Target
from controllers.engine.types import Case, Condition, Controller, Renewed

PHASES = ("watch", "diff", "plan", "act", "report")


@dataclass
class Pass:
    """One look at some resources: by whom, at what, knowing what, and with which means."""

    controller: Controller
    seen: Iterable[watch.Seen]
    effects: act.Effects
    now: datetime
    # What is looked at even if it was reconciled within the interval; nothing means all.
    forced: frozenset[int] | None = None
    target: Target = field(init=False)
    # What the controller says of a resource that is well.
    usual: Condition = field(init=False)

    def __post_init__(self) -> None:
        self.target = targets.by_kind(self.controller.kind)
        self.usual = report.usual(self.controller)


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


def reconcile(given: Pass, stopwatch: Stopwatch) -> Iterator[Case | Renewed]:
    """Run the five phases for each resource that is due, one after the other."""
    check = given.effects.check
    stopwatch.enter("watch")
    for seen in watch.select(given.controller, given.seen, given.now, given.forced):
        check()
        yield consider(given, seen, stopwatch)
        stopwatch.enter("watch")
    stopwatch.enter("report")


def consider(given: Pass, seen: watch.Seen, stopwatch: Stopwatch) -> Case | Renewed:
    """Take one resource through DIFF, PLAN, ACT and REPORT; whatever fails is reported too."""
    controller, target, now = given.controller, given.target, given.now
    snapshot, judged = seen
    try:
        stopwatch.enter("diff")
        drift = diff.measure(controller, target, snapshot, now)
        recheck = target.recheck(snapshot, now)
        if judged is not None:
            if report.stands(given.usual, snapshot, drift, judged, recheck):
                return report.renew(snapshot.target, judged)
            judged = judged.whole()
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
        before = judged.whole() if judged is not None else None
        return report.failed(controller, snapshot, before, (stopwatch.phase, error), now)
