"""Specification, section 3.2: the drift score is a weighted average across dimensions.

    driftScore = Σ(weight_i x dimension_score_i) / Σ(weight_i)

Each row is plain numbers: parts of a whole for KPIs and conditions, consumed of allocated,
violations of rules. A dimension without numbers has no data.
"""

from __future__ import annotations

import pytest

from controllers.engine.drift import WEIGHTS
from controllers.engine.terms import THRESHOLD, Compliance, Spend
from tests.engine.measuring import World, conditions, kpis, measured, score_of
from tests.rows import every_row

Pair = tuple[int, int] | None


def world(missed: Pair, bad: Pair, consumed: Pair, violations: Pair) -> World:
    return World(
        kpis(*missed) if missed else (),
        conditions(*bad) if bad else (),
        [Spend("budget", *consumed)] if consumed else (),
        [Compliance("policy", *violations)] if violations else (),
    )


def test_the_weights_and_the_threshold_are_the_specifications() -> None:
    """I-64"""
    assert WEIGHTS == {"kpi": 0.3, "health": 0.3, "budget": 0.2, "security": 0.2, "field": 0}
    assert THRESHOLD == 0.15


@every_row(
    ("missed", "bad", "consumed", "violations", "score", "drifted"),
    [
        ((1, 3), (0, 2), (100, 125), (0, 7), "0.100000", False),
        (None, (1, 4), None, None, "0.250000", True),
        ((0, 3), (1, 2), (100, 125), (0, 7), "0.150000", True),
        ((0, 3), (0, 2), (150, 100), (0, 7), "0.100000", False),
        ((0, 3), (0, 2), (400, 100), (0, 7), "0.200000", True),
        ((0, 3), (0, 2), (100, 125), (7, 7), "0.200000", True),
        ((3, 3), (2, 2), (400, 100), (7, 7), "1.000000", True),
        ((2, 4), None, (0, 0), None, "0.300000", True),
        (None, None, None, None, "unknown", False),
    ],
)
def test_the_drift_score_is_the_weighted_average_of_the_dimensions_with_data(
    missed: Pair, bad: Pair, consumed: Pair, violations: Pair, score: str, drifted: bool
) -> None:
    """I-42 I-49 I-64 I-69 A-32"""
    drift = measured(world(missed, bad, consumed, violations))

    assert ("unknown" if drift.score is None else f"{drift.score:.6f}") == score
    assert drift.drifted is drifted


@pytest.mark.parametrize(
    ("missed", "bad", "consumed", "violations", "scores"),
    [
        ((1, 3), (0, 2), (90, 100), (0, 7), (0.333333, 0, 0, 0)),
        ((0, 3), (1, 5), (90, 100), (0, 7), (0, 0.2, 0, 0)),
        ((0, 3), (0, 5), (110, 100), (0, 7), (0, 0, 0.1, 0)),
        ((0, 3), (0, 5), (0, 0), (1, 10), (0, 0, 0, 0.1)),
        ((3, 3), (5, 5), (5, 0), (1, 0), (1, 1, 1, 1)),
        ((0, 1), (0, 1), (1_000, 100), (70, 7), (0, 0, 1, 1)),
    ],
)
def test_each_dimension_has_its_own_formula_and_stays_between_0_and_1(
    missed: Pair,
    bad: Pair,
    consumed: Pair,
    violations: Pair,
    scores: tuple[float, ...],
) -> None:
    """I-42 I-46 I-47 I-65 I-66 I-67 I-68"""
    drift = measured(world(missed, bad, consumed, violations))
    found = [score_of(drift, name) for name in ("kpi", "health", "budget", "security")]

    assert found == list(scores)


def test_a_dimension_without_data_drops_out_of_both_sums() -> None:
    """I-69"""
    alone = measured(world(None, None, (150, 100), None))
    among = measured(world((0, 1), (0, 1), (150, 100), (0, 1)))

    assert (alone.score, among.score) == (0.5, 0.1)


def test_an_average_hides_a_disaster_of_one_dimension() -> None:
    """X-09"""
    overspent = measured(world((0, 3), (0, 2), (150, 100), (0, 7)))
    insecure = measured(world((0, 3), (0, 2), (100, 125), (7, 7)))

    assert (overspent.score, overspent.drifted) == (0.1, False)
    assert insecure.score == 0.2
