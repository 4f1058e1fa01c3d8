"""DIFF: measure how far a resource is from what is declared, in five dimensions and one score."""

from __future__ import annotations

import math
import operator
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache

from controllers.engine.drift import budget, field, health, kpi, security
from controllers.engine.target import Target
from controllers.engine.types import (
    DIMENSIONS,
    PLACES,
    Controller,
    Difference,
    Dimension,
    Drift,
    Snapshot,
    Urgency,
)

_LEVELS: tuple[Urgency, ...] = ("low", "medium", "high", "critical")
# The scores from which on a drift is one level more urgent.
_BANDS = (0.10, 0.25, 0.50)
_RAISING = ("high", "critical")


def measure(controller: Controller, target: Target, snapshot: Snapshot, now: datetime) -> Drift:
    """Compare one resource with what is declared; without any data the score is None.

    A quick look at each dimension comes first: where all is well, only the number counts.
    """
    differences = _relevant(target.fields(snapshot, now), controller.ignored)
    compared = target.fields is not Target.fields
    met, others = target.unmet(snapshot, now) if target.unmet else (0, target.kpis(snapshot, now))
    stated = (snapshot.target.conditions, target.kind, target.observations(snapshot, now))
    spending, compliance = target.spending(snapshot, now), target.compliance(snapshot, now)
    good, within, clean = health.well(*stated), budget.well(spending), security.well(compliance)
    if not (differences or others or good is None or within is None or clean is None):
        return _well(controller, (met, good, within, clean), compared)
    measured = (
        kpi.measure(others, controller.missing_kpi, met),
        health.measure(*stated) if good is None else _met("health", good),
        budget.measure(spending) if within is None else _met("budget", within),
        security.measure(compliance) if clean is None else _met("security", clean),
        field.measure(differences, compared),
    )
    return _weighed(controller, snapshot, measured, differences)


def _weighed(
    controller: Controller,
    snapshot: Snapshot,
    measured: Sequence[Dimension],
    differences: tuple[Difference, ...],
) -> Drift:
    score, dimensions = _score(controller, measured), _known(measured)
    causes = _causes(controller, score, dimensions)
    urgency = _urgency(score, snapshot.target.labels) if causes else "none"
    return Drift(score, bool(causes), dimensions, differences, causes, urgency)


def _well(controller: Controller, counts: tuple[int, ...], compared: bool) -> Drift:
    weights, score = controller.weights, None
    for name, count in zip(DIMENSIONS, (*counts, compared), strict=True):
        if count and weights.get(name, 0.0) > 0:
            score = 0.0
            break
    return _nothing_amiss(score, counts, compared)


@lru_cache(maxsize=4096)
def _nothing_amiss(score: float | None, counts: tuple[int, ...], compared: bool) -> Drift:
    found = zip(DIMENSIONS, counts, strict=False)
    dimensions = [_met(name, count) for name, count in found if count]
    if compared:
        dimensions.append(field.measure((), compared))
    return Drift(score, False, tuple(dimensions))


@lru_cache(maxsize=4096)
def _met(name: str, count: int) -> Dimension:
    return Dimension(name, 0.0 if count else None, None, (), count)


def _relevant(found: Sequence[Difference], ignored: tuple[str, ...]) -> tuple[Difference, ...]:
    if not found or not ignored:
        return tuple(found)
    below = tuple(f"{path}{mark}" for path in ignored for mark in ".[")
    return tuple(
        each for each in found if each.path not in ignored and not each.path.startswith(below)
    )


def _score(controller: Controller, dimensions: Sequence[Dimension]) -> float | None:
    weights, scores, unknown = [], [], True
    for name, score, _, evidence, of in dimensions:
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
        name, score, raw, evidence, of = each
        if score:
            known.append(Dimension(name, round(score, PLACES), raw, evidence, of))
        elif of or score is not None:
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
