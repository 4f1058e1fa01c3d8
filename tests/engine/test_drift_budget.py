"""Budget drift: how far the worst spending exceeds its limit."""

from __future__ import annotations

import math

import pytest

from controllers.engine.drift.budget import measure
from controllers.engine.terms import Evidence, Spend
from tests.rows import every_row


@every_row(
    ("consumed", "allocated", "score", "raw"),
    [
        (110, 100, 0.1, 0.1),
        (90, 100, 0, -0.1),
        (100, 100, 0, 0),
        (200, 100, 1, 1),
        (1_000, 100, 1, 9),
        (0, 0, 0, 0),
        (5, 0, 1, 1),
        (-5, 0, 0, 0),
        (-50, 100, 0, -1.5),
    ],
)
def test_the_score_is_the_overspend_between_nothing_and_all(
    consumed: float, allocated: float, score: float, raw: float
) -> None:
    """I-46 I-67 I-42"""
    dimension = measure([Spend("quarter", consumed, allocated)])

    assert dimension.score == pytest.approx(score)
    assert dimension.raw == raw


def test_the_worst_limit_decides() -> None:
    """I-46"""
    dimension = measure([Spend("a", 50, 100), Spend("b", 130, 100), Spend("c", 120, 100)])

    assert (dimension.score, dimension.raw) == (0.3, 0.3)


def test_a_limit_below_zero_says_nothing() -> None:
    dimension = measure([Spend("odd", 50, -100), Spend("b", 130, 100)])

    assert dimension.score == 0.3
    assert dimension.evidence[0].verdict == "unknown"
    assert dimension.evidence[0].note


def test_only_limits_below_zero_have_evidence_but_no_score() -> None:
    """A-32"""
    dimension = measure([Spend("odd", 50, -100)])

    assert (dimension.score, dimension.raw) == (None, None)
    assert len(dimension.evidence) == 1


def test_no_spending_has_neither_score_nor_evidence() -> None:
    """A-32"""
    assert measure([]).score is None
    assert measure([]).evidence == ()


@pytest.mark.parametrize(
    ("consumed", "allocated", "score"),
    [(1e300, 1e-300, 1), (-1e300, 1e-300, 0), (10**300, 1, 1), (1e-300, 1e300, 0)],
)
def test_the_raw_figure_stays_finite(consumed: float, allocated: float, score: float) -> None:
    """I-67"""
    dimension = measure([Spend("extreme", consumed, allocated)])

    assert dimension.score == score
    assert dimension.raw is not None
    assert math.isfinite(dimension.raw)


def test_the_evidence_says_the_limit_and_what_was_used() -> None:
    spends = [Spend("q1 tokens", 26_000_000, 25_000_000, "tokens"), Spend("q1 cost", 9.5, 10)]

    dimension = measure(spends)

    assert dimension.of == 2
    assert dimension.evidence == (
        Evidence("budget/q1 tokens", "missed", "<= 25,000,000 tokens", 26_000_000),
    )
