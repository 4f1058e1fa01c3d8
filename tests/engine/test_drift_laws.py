"""Laws of the drift score, for whatever a document may hold."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, Literal, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.engine.document_values import number
from controllers.engine.drift import DIMENSIONS
from controllers.engine.terms import (
    Compliance,
    Condition,
    Controller,
    Difference,
    Drift,
    Reading,
    Spend,
    Word,
)
from tests.engine.measuring import USUAL, World, measured
from tests.tiers import examples

NEGATIVE = ("Reconciling", "Progressing", "Degraded", "Stalled", "Paused", "Overridden")
OPERATORS = ("gt", "gte", "lt", "lte", "eq")
ROUNDING = Fraction(51, 10**8)

# Figures as documents hold them: small ones meet often, extreme ones must do no harm. Every
# part of a world is one draw from all there are, which keeps examples quick to make.
SMALL = (-3, 0, 1, 2, 7, 10, 0.1, 1 / 3, 0.3, 10 + 1e-9, 10.5)
EXTREME = (10**400, -(10**400), 10**40, 1e308, -1e308, 5e-324, 1e-300, -0.0, 123456789.123)
FIGURES = [number(each) or 0 for each in (*SMALL, *EXTREME)]
OWNERS = ("", "agent/a", "system/references", "controller/c")
CONTROLLERS = [
    replace(
        USUAL,
        threshold=threshold,
        weights=dict(zip(DIMENSIONS, weights, strict=True)),
        dimension_thresholds=limits,
        aggregation=aggregation,
        missing_kpi=missing,
        ignored=ignored,
    )
    for threshold, weights, limits, aggregation, missing, ignored in product(
        (0, 0.15, 1 / 3, 1),
        ((0.3, 0.3, 0.2, 0.2, 0), (1, 5, 0, 1e15, 2), (0, 0, 0, 0, 0.1), (1e-9, 3, 1, 0, 0)),
        ({}, {"budget": 0, "field": 0.5}),
        get_args(Literal["weighted", "max"]),
        get_args(Literal["ignore", "fail"]),
        ((), ("spec.agents",)),
    )
]

figures = st.sampled_from(FIGURES) | st.floats(-1e300, 1e300)
controllers = st.sampled_from(CONTROLLERS)
readings = st.sampled_from(
    [
        Reading("churn", operator, target, value)
        for operator, target, value in product(
            (*OPERATORS, "about"), (None, *FIGURES), (None, *FIGURES)
        )
    ]
)
conditions = st.sampled_from(
    [
        Condition(name, status, managed_by=owner)
        for name, status, owner in product(
            ("Ready", "Works", "", *NEGATIVE), get_args(Word), OWNERS
        )
    ]
)
spends = st.sampled_from([Spend("quarter", *each) for each in product(FIGURES, FIGURES)])
compliances = st.sampled_from(
    [Compliance("privacy", *each) for each in product(FIGURES, (-1, 0, 1, 7, 10**40))]
)
differences = st.sampled_from(
    [
        Difference("spec.agents", 3, 2),
        Difference("spec.model.version", "4", None, "missing"),
        Difference("spec.agents[0]", None, {"name": "analyst"}, "unmanaged"),
    ]
)
worlds = st.builds(
    lambda *parts: World(*parts),
    st.lists(readings, max_size=4),
    st.lists(conditions, max_size=4, unique_by=lambda each: each.type),
    st.lists(spends, max_size=2),
    st.lists(compliances, max_size=2),
    st.none() | st.lists(differences, max_size=2),
    st.lists(conditions, max_size=2, unique_by=lambda each: each.type),
)


def clamped(value: Fraction) -> Fraction:
    return min(Fraction(1), max(Fraction(0), value))


def misses(reading: Reading) -> bool | None:
    """Whether a KPI misses its target; None when that cannot be known."""
    if reading.target is None or reading.value is None or reading.operator not in OPERATORS:
        return None
    target, value = Fraction(reading.target), Fraction(reading.value)
    close = abs(value - target) <= Fraction(1, 10**9) * max(abs(value), abs(target))
    met = {
        "gt": value > target,
        "gte": value >= target,
        "lt": value < target,
        "lte": value <= target,
        "eq": close,
    }
    return not met[reading.operator]


def kpi_drift(world: World, missing: str) -> Fraction | None:
    verdicts = [misses(each) for each in world.kpis]
    if missing == "fail":
        verdicts = [True if each is None else each for each in verdicts]
    known = [each for each in verdicts if each is not None]
    return Fraction(sum(known), len(known)) if known else None


def stated(world: World) -> list[Condition]:
    said = [each for each in world.conditions if not each.managed_by.startswith("controller/")]
    types = [each.type for each in said]
    return said + [each for each in world.observations if each.type not in types]


def health_drift(world: World) -> Fraction | None:
    said = stated(world)
    bad = [each.status == ("True" if each.type in NEGATIVE else "False") for each in said]
    return Fraction(sum(bad), len(bad)) if bad else None


def budget_drift(world: World) -> Fraction | None:
    scores = []
    for _, consumed, allocated, _ in world.spending:
        if allocated > 0:
            limit = Fraction(allocated)
            scores.append(clamped((Fraction(consumed) - limit) / limit))
        elif allocated == 0:
            scores.append(Fraction(consumed > 0))
    return max(scores) if scores else None


def security_drift(world: World) -> Fraction | None:
    scores = []
    for _, violations, rules in world.compliance:
        if rules > 0:
            scores.append(clamped(Fraction(violations) / rules))
        elif violations > 0:
            scores.append(Fraction(1))
    return max(scores) if scores else None


def field_drift(world: World, ignored: Sequence[str]) -> Fraction | None:
    if world.differences is None:
        return None
    counted = [
        each
        for each in world.differences
        if each.category != "unmanaged"
        and not any(each.path.replace("[", ".").startswith(path) for path in ignored)
    ]
    return 1 - Fraction(1, 1 + len(counted))


def exact(world: World, controller: Controller) -> Fraction | None:
    """The specification's formula, in numbers that do not round."""
    scores = {
        "kpi": kpi_drift(world, controller.missing_kpi),
        "health": health_drift(world),
        "budget": budget_drift(world),
        "security": security_drift(world),
        "field": field_drift(world, controller.ignored),
    }
    counted = [
        name
        for name, score in scores.items()
        if score is not None and controller.weights.get(name, 0) > 0
    ]
    known = any(each.status != "Unknown" for each in stated(world))
    if not counted or (counted == ["health"] and not known):
        return None
    weighed = [
        (Fraction(controller.weights[name]), scores[name] or Fraction(0)) for name in counted
    ]
    if controller.aggregation == "max":
        return max(score for _, score in weighed)
    return sum(w * s for w, s in weighed) / sum((w for w, _ in weighed), Fraction(0))


def scores(drift: Drift) -> dict[str, float | None]:
    return {each.name: each.score for each in drift.dimensions}


def never_lower(before: Drift, after: Drift) -> bool:
    """Whether no dimension, nor the score over the same dimensions, went down."""
    pairs = [(before.score, after.score)]
    pairs += [(score, scores(after)[name]) for name, score in scores(before).items()]
    return all(b is None or (a is not None and a >= b) for b, a in pairs)


@given(worlds, controllers)
@settings(max_examples=examples(200))
def test_any_world_has_a_drift_that_can_be_written_down(
    world: World, controller: Controller
) -> None:
    """I-42 I-67 A-32"""
    drift = measured(world, controller)

    assert drift.drifted is bool(drift.causes)
    assert drift.drifted is (drift.urgency != "none")
    for score in (drift.score, *scores(drift).values()):
        assert score is None or (math.isfinite(score) and 0 <= score <= 1)
    assert json.dumps(drift, allow_nan=False)


@given(worlds, controllers)
@settings(max_examples=examples(200))
def test_the_score_is_the_specifications(world: World, controller: Controller) -> None:
    """I-64 I-65 I-66 I-67 I-68 I-69"""
    drift = measured(world, controller)
    wanted = exact(world, controller)

    assert (drift.score is None) == (wanted is None)
    if drift.score is not None and wanted is not None:
        assert abs(Fraction(drift.score) - wanted) <= ROUNDING
        threshold = Fraction(controller.threshold)
        if wanted == 0 or (wanted > ROUNDING and abs(wanted - threshold) > ROUNDING):
            assert ("score" in drift.causes) == (wanted >= threshold and wanted > 0)


@given(worlds, controllers, st.randoms(use_true_random=False))
@settings(max_examples=examples(100))
def test_the_order_of_what_was_observed_does_not_matter(
    world: World, controller: Controller, random: Any
) -> None:
    """D-14"""
    parts: list[Any] = [list(part) if part else part for part in world[:-1]]
    for part in parts:
        if part:
            random.shuffle(part)
    before = measured(world, controller)

    after = measured(World(*parts), controller)

    assert scores(after) == scores(before)
    assert (after.score, after.causes, after.urgency) == (
        before.score,
        before.causes,
        before.urgency,
    )


@given(worlds, controllers)
@settings(max_examples=examples(60))
def test_a_kpi_that_begins_to_miss_never_lowers_the_score(
    world: World, controller: Controller
) -> None:
    met = Reading("churn", "lt", 5, 3.2)
    before = measured(world._replace(kpis=[*world.kpis, met]), controller)

    after = measured(world._replace(kpis=[*world.kpis, met._replace(value=6.1)]), controller)

    assert never_lower(before, after)


@given(worlds, controllers, st.sampled_from(["Ready", "Stalled"]), st.booleans())
@settings(max_examples=examples(60))
def test_a_condition_that_turns_bad_never_lowers_the_score(
    world: World, controller: Controller, name: str, known: bool
) -> None:
    others = [each for each in world.conditions if each.type != name]
    bad = Condition(name, "True" if name == "Stalled" else "False")
    fine = Condition(name, "Unknown" if not known else "False" if name == "Stalled" else "True")
    before = measured(world._replace(conditions=[*others, fine]), controller)

    after = measured(world._replace(conditions=[*others, bad]), controller)

    assert never_lower(before, after)


@given(worlds, controllers, spends, figures)
@settings(max_examples=examples(60))
def test_spending_more_never_lowers_the_score(
    world: World, controller: Controller, spend: Spend, more: float
) -> None:
    before = measured(world._replace(spending=[*world.spending, spend]), controller)
    dearer = spend._replace(consumed=max(spend.consumed, more))

    after = measured(world._replace(spending=[*world.spending, dearer]), controller)

    assert never_lower(before, after)


@given(worlds, controllers, figures, figures, st.integers(1, 9))
@settings(max_examples=examples(60))
def test_another_violation_never_lowers_the_score(
    world: World, controller: Controller, violations: float, more: float, rules: int
) -> None:
    policy = Compliance("privacy", violations, rules)
    before = measured(world._replace(compliance=[*world.compliance, policy]), controller)
    worse = policy._replace(violations=max(violations, more))

    after = measured(world._replace(compliance=[*world.compliance, worse]), controller)

    assert never_lower(before, after)


@given(worlds, controllers, differences)
@settings(max_examples=examples(60))
def test_another_difference_never_lowers_the_score(
    world: World, controller: Controller, difference: Difference
) -> None:
    found = world.differences or []
    before = measured(world._replace(differences=found), controller)

    after = measured(world._replace(differences=[*found, difference]), controller)

    assert never_lower(before, after)
