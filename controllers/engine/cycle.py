"""The reconciliation loop of the specification, for one controller and what it watches.

    WATCH → DIFF → PLAN → ACT → REPORT

Values in, values out: what was read comes as snapshots, what is done goes through the effects,
what is concluded is returned. A resource that cannot be judged costs only itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from controllers.engine import act, conditions, diff, plan, report, targets, unchanged, watch
from controllers.engine.errors import Fenced, Stopped, TimedOut
from controllers.engine.target import Measure, Target
from controllers.engine.terms import Case, Controller, Glimpse, Judgement, Renewed, Snapshot

PHASES = ("watch", "diff", "plan", "act", "report")
# As the type itself would, without a detour.
_renewed = partial(tuple.__new__, Renewed)


@dataclass
class Pass:
    """One look at some resources: by whom, at what, knowing what, and with which means."""

    controller: Controller
    seen: watch.Sights | Iterable[watch.JudgedSnapshot]
    effects: act.Effects
    now: datetime
    # What is looked at even if it was reconciled within the interval; nothing means all.
    forced: frozenset[int] | None = None
    # Whether even what was given up is tried again.
    revive: bool = False
    # Whether nothing is settled at a glance: the controller was declared anew.
    closely: bool = False
    target: Target = field(init=False)
    measure: diff.Measure = field(init=False)
    # What the controller says of a resource that is well.
    usual: unchanged.Usual = field(init=False)

    def __post_init__(self) -> None:
        self.target = targets.by_kind(self.controller.kind)
        self.measure = diff.measuring(self.controller, self.target)
        self.usual = unchanged.Usual(self.controller)


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
    controller, check = given.controller, given.effects.check
    yield from glances(given, stopwatch)
    stopwatch.enter("watch")
    for each in given.seen:
        if watch.is_chosen(controller, each, given.now, given.forced):
            check()
            yield consider(given, watch.revived(each) if given.revive else each, stopwatch)
            stopwatch.enter("watch")
    stopwatch.enter("report")


def glances(given: Pass, stopwatch: Stopwatch) -> Iterator[Case | Renewed]:
    """Settle at a glance what was well and is so still, where that can be told so quickly."""
    measure = diff.glancing(given.controller, given.target)
    if given.closely or measure is None or not isinstance(given.seen, watch.Sights):
        return
    stopwatch.enter("diff")
    yield from given.seen.glanced(glancing(given, measure))
    yield from given.seen.reweighed(reweighing(given))


def glancing(given: Pass, measure: Measure) -> watch.QuickCheck:
    """Tell of a resource at a glance that the same holds as before, or ask for a closer look."""
    controller, now, forced, check = given.controller, given.now, given.forced, given.effects.check

    def glance(seen: Glimpse) -> Renewed | None:
        key, name, version, spec, status, related, judged, before, _ = seen
        asked = forced is None or key in forced
        if not (asked or watch.is_due_at_a_glance(controller, seen, now)):
            return None
        check()
        try:
            if measure(name, spec, status, related, now) == before:
                return _renewed((key, version, version != judged))
        except Exception:  # whatever is odd about it, a closer look will say
            return None
        return None

    return glance


def reweighing(given: Pass) -> watch.Weigh:
    """Conclude about a resource whose conditions are as they were, or ask for a closer look."""
    controller, now, forced, check = given.controller, given.now, given.forced, given.effects.check

    def reweigh(seen: tuple[Snapshot, Judgement]) -> Case | Renewed | None:
        if not watch.is_chosen(controller, seen, now, forced):
            return None
        check()
        try:
            return unchanged.settle_unread(given.usual, seen, given.target, given.measure, now)
        except Exception:  # whatever is odd about it, a closer look will say
            return None

    return reweigh


def consider(given: Pass, seen: watch.JudgedSnapshot, stopwatch: Stopwatch) -> Case | Renewed:
    """Take one resource through DIFF, PLAN, ACT and REPORT; whatever fails is reported too."""
    controller, target, now = given.controller, given.target, given.now
    snapshot, judged = seen
    try:
        stopwatch.enter("diff")
        drift = given.measure(snapshot, now)
        recheck = target.recheck(snapshot, now)
        if judged is not None:
            stands = unchanged.settle(given.usual, (snapshot, judged), drift, recheck, now)
            if stands is not None:
                return stands
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
