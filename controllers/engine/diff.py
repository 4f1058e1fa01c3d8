"""DIFF: measure how far a resource is from what is declared, in five dimensions and one score."""

from __future__ import annotations

import math
import operator
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Protocol

from controllers.engine.drift import budget, field, health, kpi, security
from controllers.engine.reading import within_limits, without_violation
from controllers.engine.target import Target
from controllers.engine.types import (
    DIMENSIONS,
    PLACES,
    Controller,
    Difference,
    Dimension,
    Document,
    Drift,
    Glance,
    Reading,
    Snapshot,
    Urgency,
    Well,
)

_LEVELS: tuple[Urgency, ...] = ("low", "medium", "high", "critical")
# The scores from which on a drift is one level more urgent.
_BANDS = (0.10, 0.25, 0.50)
_RAISING = ("high", "critical")
_NOTHING: Document = {"of": 0}


class Measure(Protocol):
    """How a controller measures a resource."""

    def __call__(self, snapshot: Snapshot, now: datetime, good: int | None = None, /) -> Drift:
        """Measure it; where its conditions were not read, so many of them are known to be good."""


def measure(controller: Controller, target: Target, snapshot: Snapshot, now: datetime) -> Drift:
    """Compare one resource with what is declared; without any data the score is None."""
    return measuring(controller, target)(snapshot, now)


def measuring(controller: Controller, target: Target) -> Measure:
    """Say once how a controller measures what it looks at.

    A quick look at each dimension comes first: where all is well, only the number counts.
    """
    kind, compared = target.kind, target.fields is not Target.fields
    alike: dict[tuple[Any, ...], Well] = {}

    def measured(snapshot: Snapshot, now: datetime, good: int | None = None) -> Drift:
        found = target.fields(snapshot, now)
        differences = _relevant(found, controller.ignored) if found else ()
        met, others = _unmet(target, snapshot, now)
        stated, observed = snapshot.target.conditions, target.observations(snapshot, now)
        spending, compliance = target.spending(snapshot, now), target.compliance(snapshot, now)
        names = tuple([each[0] for each in observed])
        good = health.well(stated, kind, observed) if good is None else good
        within, clean = within_limits(spending), without_violation(compliance)
        if not (differences or others or good is None or within is None or clean is None):
            counts = (met, good, within, clean)
            if (counts, names) not in alike:
                alike[counts, names] = _well(controller, counts, names, compared)
            return alike[counts, names]
        dimensions = (
            kpi.measure(others, controller.missing_kpi, met),
            health.measure(stated, kind, observed)
            if good is None
            else _met("health", good, names),
            budget.measure(spending) if within is None else _met("budget", within),
            security.measure(compliance) if clean is None else _met("security", clean),
            field.measure(differences, compared),
        )
        return weighed(controller, snapshot, dimensions, differences)

    return measured


def as_glance(figures: Document) -> Glance | None:
    """Say what a glance must find for stored figures to hold still; None if not all was well."""
    if any(each["score"] or "raw" in each for each in figures.values()):
        return None
    met, good, within, clean = (figures.get(name, _NOTHING) for name in DIMENSIONS[:-1])
    return Glance(met["of"], tuple(good.get("observed", ())), within["of"], clean["of"])


def _unmet(target: Target, snapshot: Snapshot, now: datetime) -> tuple[int, Sequence[Reading]]:
    return target.unmet(snapshot, now) if target.unmet else (0, target.kpis(snapshot, now))


def weighed(
    controller: Controller,
    snapshot: Snapshot,
    measured: Sequence[Dimension],
    differences: tuple[Difference, ...] = (),
) -> Drift:
    """Put dimensions together as a controller weighs them, whoever measured them."""
    score, dimensions = _score(controller, measured), _known(measured)
    causes = _causes(controller, score, dimensions)
    urgency = _urgency(score, snapshot.target.labels) if causes else "none"
    return Drift(score, bool(causes), dimensions, differences, causes, urgency)


def reweighed(controller: Controller, measured: Sequence[Dimension]) -> tuple[float | None, bool]:
    """Weigh what was measured once as a controller would: the score, and whether it drifts."""
    score = _score(controller, measured)
    return score, bool(_causes(controller, score, _known(measured)))


def scored(controller: Controller, snapshot: Snapshot, score: float) -> Drift:
    """Hold a score of which nobody says what it is made of against a controller's limit."""
    causes = _causes(controller, round(score, PLACES), ())
    urgency = _urgency(score, snapshot.target.labels) if causes else "none"
    return Drift(round(score, PLACES), bool(causes), (), (), causes, urgency)


def _well(
    controller: Controller, counts: tuple[int, ...], observed: tuple[str, ...], compared: bool
) -> Well:
    named = tuple(zip(DIMENSIONS, (*counts, compared), strict=True))
    known = any(count and controller.weights.get(name, 0.0) > 0 for name, count in named)
    dimensions = [
        _met(name, count, observed if name == "health" else ())
        for name, count in named[:-1]
        if count
    ]
    if compared:
        dimensions.append(field.measure((), compared))
    return Well(0.0 if known else None, False, tuple(dimensions))


@lru_cache(maxsize=4096)
def _met(name: str, count: int, observed: tuple[str, ...] = ()) -> Dimension:
    return Dimension(name, 0.0 if count else None, None, (), count, observed)


def _relevant(found: Sequence[Difference], ignored: tuple[str, ...]) -> tuple[Difference, ...]:
    if not found or not ignored:
        return tuple(found)
    below = tuple(f"{path}{mark}" for path in ignored for mark in ".[")
    return tuple(
        each for each in found if each.path not in ignored and not each.path.startswith(below)
    )


def _score(controller: Controller, dimensions: Sequence[Dimension]) -> float | None:
    weights, scores, unknown = [], [], True
    for name, score, _, evidence, of, _ in dimensions:
        if score is not None and (weight := controller.weights.get(name, 0.0)) > 0:
            weights.append(weight)
            scores.append(score)
            if unknown:
                unknown = 0 < of == [each.verdict for each in evidence].count("unknown")
    # Where everything looked at is unknown, nothing says that it is well.
    if unknown:
        return None
    if not any(scores):
        return 0.0
    if controller.aggregation == "max":
        return round(max(scores), PLACES)
    divergence = math.fsum(map(operator.mul, weights, scores))
    return round(divergence / math.fsum(weights), PLACES)


def _known(measured: Sequence[Dimension]) -> tuple[Dimension, ...]:
    """Keep what looked at something, rounded: what is compared is what is shown."""
    known = []
    for each in measured:
        if each.score:
            known.append(each._replace(score=round(each.score, PLACES)))
        elif each.of or each.score is not None:
            known.append(each)
    return tuple(known)


def _causes(
    controller: Controller, score: float | None, dimensions: Sequence[Dimension]
) -> tuple[str, ...]:
    causes = ["score"] if _passes(score, controller.threshold) else []
    if controller.dimension_thresholds:
        for each in dimensions:
            limit = controller.dimension_thresholds.get(each.name)
            if limit is not None and _passes(each.score, limit):
                causes.append(each.name)
    return tuple(causes)


def _passes(score: float | None, limit: float) -> bool:
    # A limit of zero asks for some drift, or all that is well would pass it.
    return score is not None and score > 0 and score >= round(limit, PLACES)


def _urgency(score: float | None, labels: Mapping[str, str]) -> Urgency:
    level = bisect_right(_BANDS, score or 0.0)
    if labels.get("priority") in _RAISING:
        level += 1
    return _LEVELS[min(level, len(_LEVELS) - 1)]
