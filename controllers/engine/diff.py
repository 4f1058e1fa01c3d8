"""DIFF: measure how far a resource is from what is declared, by dimension and in one score."""

from __future__ import annotations

import math
import operator
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from controllers.engine import drift
from controllers.engine.dimension import DimensionProbe
from controllers.engine.drift import field, health
from controllers.engine.target import Measure as Glancing
from controllers.engine.target import Target
from controllers.engine.terms import (
    PLACES,
    Controller,
    Difference,
    Dimension,
    Document,
    Drift,
    Glance,
    Related,
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
    given = {each.name: each.look(controller, target) for each in drift.ALL}
    named = {name: look for name, look in given.items() if look is not None}
    places, looks = [*named], [*named.values()]
    stated, differing = (places.index(each.DIMENSION.name) for each in (health, field))
    quick = [(each.read, each.well) for each in looks]
    unread = [*quick]
    unread[stated] = (looks[stated].read, health.unread)
    alike: dict[tuple[Any, ...], Well] = {}

    def measured(snapshot: Snapshot, now: datetime, good: int | None = None) -> Drift:
        found, known = [], []
        for read, well in quick if good is None else unread:
            each = read(snapshot, now)
            found.append(each)
            known.append(well(each))
        if good is not None:
            known[stated] = (good, known[stated])
        counts = tuple(known)
        if counts in alike:
            return alike[counts]
        if None not in counts:
            return alike.setdefault(counts, _well(controller, looks, counts))
        dimensions = []
        for place, count in enumerate(counts):
            _, _, met, thorough = looks[place]
            dimensions.append(thorough(found[place]) if count is None else met(count))
        return weighed(controller, snapshot, dimensions, tuple(found[differing]))

    return measured


def glancing(controller: Controller, target: Target) -> Glancing | None:
    """Return the quick look at resources of a kind; None where each takes a closer one."""
    look = target.glance
    others = [each for each in drift.ALL if not each.in_glance]
    if look is None or not others:
        return look
    measured = [each for each in others if each.look(controller, target) is not None]
    if any(each.glance is None for each in measured):
        return None
    counts = [each.glance if each in measured else None for each in others]

    def glance(
        name: str, spec: Document, status: Document, related: Related, now: datetime
    ) -> Glance | None:
        seen = look(name, spec, status, related, now)
        if seen is None:
            return None
        found = [count(name, spec, status, related, now) if count else 0 for count in counts]
        well = [each for each in found if each is not None]
        return seen._replace(others=tuple(well)) if len(well) == len(found) else None

    return glance


def as_glance(figures: Document) -> Glance | None:
    """Say what a glance must find for stored figures to hold still; None if not all was well."""
    if any(each["score"] or "raw" in each for each in figures.values()):
        return None
    met, good, within, clean = (
        figures.get(name, _NOTHING) for name in ("kpi", "health", "budget", "security")
    )
    others = [figures.get(each.name, _NOTHING)["of"] for each in drift.ALL if not each.in_glance]
    observed = tuple(good.get("observed", ()))
    return Glance(met["of"], observed, within["of"], clean["of"], tuple(others))


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


def _well(controller: Controller, looks: Sequence[DimensionProbe], known: tuple[Any, ...]) -> Well:
    met = [look.met(count) for look, count in zip(looks, known, strict=True)]
    dimensions = tuple([each for each in met if each.score is not None])
    weighs = any(controller.weights.get(each.name, 0.0) > 0 for each in dimensions)
    return Well(0.0 if weighs else None, False, dimensions)


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
