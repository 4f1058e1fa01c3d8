"""What stands: a resource that was well and is so still takes less to conclude about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from controllers.engine import conditions, diff, report
from controllers.engine.drift import health
from controllers.engine.target import Target
from controllers.engine.terms import (
    Case,
    Condition,
    Controller,
    Document,
    Drift,
    Episode,
    Judgement,
    Renewed,
    Resource,
    Snapshot,
    Well,
)

NO_HEALTH: Document = {"score": None, "of": 0}
_QUIET = Episode()
# As the type itself would, without a detour.
_judgement = partial(tuple.__new__, Judgement)


class Usual(dict[int, list[Any]]):
    """What a controller says of a resource that is well, by the generation it speaks of."""

    def __init__(self, controller: Controller) -> None:
        super().__init__()
        self.type = controller.condition_type
        self.message = report.below(controller)
        self.said = (self.type, "True", report.WELL, self.message, controller.ref)

    def __missing__(self, generation: int) -> list[Any]:
        self[generation] = [*self.said, {"observedGeneration": generation}]
        return self[generation]


def settle(
    usual: Usual,
    seen: tuple[Snapshot, Judgement],
    drift: Drift,
    recheck: datetime | None,
    now: datetime,
) -> Case | Renewed | None:
    """Conclude about a resource that was well and is so still; nearly all are."""
    if drift.drifted or not was_well(usual, *seen, recheck):
        return None
    return conclude(usual, seen, drift, now)


def settle_unread(
    usual: Usual,
    seen: tuple[Snapshot, Judgement],
    target: Target,
    measure: diff.Measure,
    now: datetime,
) -> Case | Renewed | None:
    """Conclude the same of one whose conditions are as they were, and were not read."""
    snapshot, judged = seen
    good = still_good(judged, target.kind, target.observations(snapshot, now))
    if good is None or target.recheck(snapshot, now) is not None:
        return None
    drift = measure(snapshot, now, good)
    return conclude(usual, seen, drift, now) if not drift.drifted else None


def still_good(judged: Judgement, kind: str, observed: Sequence[Condition]) -> int | None:
    """Count the conditions of a resource if none was amiss and none can be since."""
    if any(each["dimension"] == health.DIMENSION.name for each in judged.evidence):
        return None
    return health.as_well(judged.dimensions.get(health.DIMENSION.name, NO_HEALTH), kind, observed)


def conclude(
    usual: Usual, seen: tuple[Snapshot, Judgement], drift: Drift, now: datetime
) -> Case | Renewed | None:
    """Conclude about a resource that did not drift."""
    snapshot, judged = seen
    same = type(drift) is Well and judged.score == drift.score and judged.even
    if same and judged.dimensions == drift.figures:
        return renew(snapshot.target, judged)
    return refigured(usual, snapshot, drift, judged, now) if drift.score is not None else None


def was_well(
    usual: Usual, snapshot: Snapshot, judged: Judgement, recheck: datetime | None
) -> bool:
    """Tell whether a resource was well, with no story to go on with, and shows it."""
    target = snapshot.target
    generation = target.generation
    return (
        judged.reason == report.WELL
        and judged.generation == generation
        and judged.basis == snapshot.related.basis
        and judged.plain
        and judged.recheck_at == recheck
        and [*(conditions.stated_as(target, usual.type) or ())] == usual[generation]
    )


def renew(target: Resource, judged: Judgement) -> Renewed:
    """Conclude the same about a resource as before."""
    version = target.version
    return Renewed(target.key, version, judged.version != version)


def refigured(
    usual: Usual, snapshot: Snapshot, drift: Drift, judged: Judgement, now: datetime
) -> Case:
    """Conclude that a resource is well by other figures than before."""
    target, score = snapshot.target, drift.score
    facts = (target.key, target.generation, target.version, judged.basis, score, False)
    said = ("True", report.WELL, usual.message, "none")
    found = (drift.figures, tuple(map(report.written, report.troubling(drift.dimensions))))
    times = (judged.since, now, judged.recheck_at)
    judgement = _judgement((*facts, *said, *found, *times, _QUIET, ""))
    moved, newer = judged.score != score, judged.version != target.version
    changed = moved or newer or report.differs(judged.whole(), judgement)
    return Case(target.ref, judgement, changed, moved, judged)
