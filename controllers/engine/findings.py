"""What an outside controller found, put through the same phases as what we find ourselves.

It measures; the rest is ours: how dimensions weigh, what counts as drift, which of its steps are
declared, what the gate says of each, and what becomes of the story of a drift.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from controllers.engine import act, cycle, diff, explanation, targets
from controllers.engine.hooks import HOOK_FAILED
from controllers.engine.report import ERRORS, NAMEABLE, VERDICTS
from controllers.engine.target import Target
from controllers.engine.terms import (
    ORPHANED,
    Controller,
    Dimension,
    Drift,
    Snapshot,
    Step,
    Well,
)
from controllers.engine.watch import JudgedSnapshot

STALLED = "ControllerStalled"
# Reasons that mean something here; nobody else may give them.
RESERVED = frozenset(
    {HOOK_FAILED, ORPHANED, STALLED, *ERRORS}
    | {reason for state, (_, reason) in VERDICTS.items() if state not in NAMEABLE}
)
PART = "what the controller could not see"


class Finding(NamedTuple):
    """What an outside controller says of one resource; without any figure it knows nothing."""

    dimensions: tuple[Dimension, ...] = ()
    # Given alone, or beside the dimensions it is made of.
    score: float | None = None
    reason: str = ""
    message: str = ""
    steps: tuple[Step, ...] = ()
    # Whether it saw all of it; what rests on a part never changes anything.
    complete: bool = True


Findings = Mapping[int, Finding]


def considered(
    controller: Controller,
    seen: Iterable[JudgedSnapshot],
    found: Findings,
    effects: act.Effects,
    now: datetime,
) -> cycle.Pass:
    """Make the look at some resources whose findings are given instead of measured."""
    given = cycle.Pass(controller, list(marked(seen, found)), effects, now)
    given.target = reporting(controller, found)
    given.measure = lambda snapshot, _, __=None: measured(controller, snapshot, found)
    return given


def marked(seen: Iterable[JudgedSnapshot], found: Findings) -> Iterator[JudgedSnapshot]:
    """Yield what was read, and say where only a part of it was looked at."""
    for snapshot, judged in seen:
        if found[snapshot.target.key].complete:
            yield snapshot, judged
        else:
            yield snapshot._replace(missing=(PART,)), judged


def measured(controller: Controller, snapshot: Snapshot, found: Findings) -> Drift:
    """Weigh what was found about one resource as the controller declares it."""
    finding = found[snapshot.target.key]
    drift = weighed(controller, snapshot, finding)
    if drift.score == 0 and not drift.drifted and not finding.reason:
        return Well(0.0, False, drift.dimensions)
    return drift._replace(reason=finding.reason)


def weighed(controller: Controller, snapshot: Snapshot, finding: Finding) -> Drift:
    """Return the drift that a finding comes to."""
    if finding.dimensions:
        return diff.weighed(controller, snapshot, finding.dimensions)
    if finding.score is None:
        return Drift(None, False, ())
    return diff.scored(controller, snapshot, finding.score)


def reporting(controller: Controller, found: Findings) -> Target:
    """Let a kind be spoken of, and steps be advised, by what was found."""

    def steps(snapshot: Snapshot, _: Drift, __: datetime) -> Sequence[Step]:
        return found[snapshot.target.key].steps

    def explain(snapshot: Snapshot, drift: Drift) -> str:
        return found[snapshot.target.key].message or explanation.explain(snapshot, drift)

    known = targets.by_kind(controller.kind)
    return replace(
        known, glance=None, unmet=None, steps=steps, explain=explain, recheck=Target.recheck
    )
