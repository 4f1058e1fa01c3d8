"""Security drift: which share of its rules a policy sees violated."""

from __future__ import annotations

import pytest

from controllers.engine.drift.security import measure
from controllers.engine.terms import Compliance, Evidence


@pytest.mark.parametrize(
    ("violations", "rules", "score", "raw"),
    [
        (1, 10, 0.1, 0.1),
        (0, 10, 0, 0),
        (7, 7, 1, 1),
        (21, 7, 1, 3),
        (2, 0, 1, 1),
        (-1, 4, 0, -0.25),
    ],
)
def test_the_score_is_the_share_of_violated_rules(
    violations: float, rules: int, score: float, raw: float
) -> None:
    """I-47 I-68 I-42"""
    dimension = measure([Compliance("privacy", violations, rules)])

    assert (dimension.score, dimension.raw) == (score, raw)


def test_a_policy_without_rules_and_violations_says_nothing() -> None:
    """I-68 A-32"""
    dimension = measure([Compliance("empty", 0, 0)])

    assert dimension.score is None
    assert dimension.evidence == ()


def test_the_worst_policy_decides() -> None:
    dimension = measure([Compliance("a", 1, 8), Compliance("b", 2, 4), Compliance("empty", 0, 0)])

    assert dimension.score == 0.5
    assert [each.subject for each in dimension.evidence] == ["policy/a", "policy/b"]


def test_no_policies_have_neither_score_nor_evidence() -> None:
    """A-32"""
    assert measure([]).score is None
    assert measure([]).evidence == ()


def test_the_evidence_says_how_many_violations_stand_against_how_many_rules() -> None:
    dimension = measure([Compliance("privacy", 2, 7), Compliance("access", 0, 3)])

    assert dimension.of == 2
    assert dimension.evidence == (Evidence("policy/privacy", "missed", 0, 2, note="of 7 rules"),)
