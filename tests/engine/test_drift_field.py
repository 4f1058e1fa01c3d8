"""Field drift: how many fields are not as declared."""

from __future__ import annotations

import pytest

from controllers.engine.drift.field import measure
from controllers.engine.terms import Difference, Evidence

AGENTS = Difference("spec.agents", 3, 2)
STALE = Difference("spec.reviewDate", "2026-04-15", "2026-11-16", "stale", "Review is overdue.")
FOREIGN = Difference("status.extra", None, "found", "unmanaged")


@pytest.mark.parametrize(("count", "score"), [(0, 0), (1, 1 / 2), (2, 2 / 3), (9, 9 / 10)])
def test_every_difference_raises_the_score_and_none_fills_it(count: int, score: float) -> None:
    assert measure([AGENTS] * count, compared=True).score == score


def test_a_target_that_compares_no_fields_has_no_score() -> None:
    """A-32"""
    assert measure([], compared=False).score is None


def test_what_nobody_manages_does_not_count() -> None:
    """O-24"""
    assert measure([FOREIGN], compared=True).score == 0
    assert measure([FOREIGN, AGENTS], compared=True) == measure([AGENTS], compared=True)


def test_the_evidence_carries_both_values() -> None:
    """I-43"""
    assert measure([AGENTS, STALE], compared=True).evidence == (
        Evidence("field/spec.agents", "missed", 3, 2, note="drifted"),
        Evidence(
            "field/spec.reviewDate",
            "missed",
            "2026-04-15",
            "2026-11-16",
            note="Review is overdue.",
        ),
    )
