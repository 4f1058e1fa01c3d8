"""What is wrong is said in one sentence with the names and the figures."""

from __future__ import annotations

from controllers.engine.explanation import explain
from controllers.engine.finding_text import listed, shown, spending_of
from controllers.engine.terms import (
    Difference,
    Dimension,
    Drift,
    Evidence,
    Resource,
    Snapshot,
    Spend,
)

SNAPSHOT = Snapshot(Resource(1, "u", "Agent", "triage", "support", 1, 1, {}, {}, {}))


def drift(name: str, *evidence: Evidence) -> Drift:
    return Drift(0.5, True, (Dimension(name, 0.5, None, evidence, len(evidence) + 1),))


def test_few_words_are_joined_and_many_are_counted() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


def test_values_are_shown_briefly() -> None:
    assert shown(None) == "nothing"
    assert shown(1234567) == "1,234,567"
    assert shown("paused") == "paused"
    assert len(shown("x" * 1000)) < 250


def test_spending_is_told_with_its_unit() -> None:
    assert spending_of([Spend("main cost", 12.5, 10, "EUR")]) == "main cost 12.5 of 10 EUR"


def test_measures_are_counted_among_the_known_ones() -> None:
    found = drift(
        "kpi",
        Evidence("kpi/a/b", "missed", "< 5 percent", 6.1),
        Evidence("kpi/d", "unknown"),
    )

    said = explain(SNAPSHOT, found, "objectives")

    assert said == "1 of 2 objectives misses its target: a/b is 6.1 (wanted < 5 percent)."


def test_a_condition_is_told_with_its_message() -> None:
    found = drift(
        "health",
        Evidence("condition/Ready", "missed", "True", "False", note="It failed."),
        Evidence("condition/Paused", "missed", "False", "True"),
        Evidence("condition/Fine", "met", "True", "True"),
    )

    assert explain(SNAPSHOT, found) == "Ready is False (It failed) and Paused is True."


def test_spending_and_violations_are_told() -> None:
    spent = drift("budget", Evidence("budget/monthly tokens", "missed", "<= 50 tokens", 80))
    broken = drift("security", Evidence("policy/data", "missed", 0, 1, note="of 9 rules"))

    assert explain(SNAPSHOT, spent) == "monthly tokens: 80 used of 50 tokens."
    assert explain(SNAPSHOT, broken) == "data has 1 violation of 9 rules."


def test_a_field_is_told_in_its_own_words_or_by_both_values() -> None:
    found = Drift(
        0,
        False,
        (),
        (
            Difference("spec.state", "running", "paused"),
            Difference("spec.agents", 3, 2, note="2 agents are active."),
        ),
    )

    assert explain(SNAPSHOT, found) == (
        "spec.state is paused, declared running; 2 agents are active."
    )


def test_nothing_wrong_and_nothing_known_are_different_things() -> None:
    assert explain(SNAPSHOT, Drift(0, False, ())) == "agent/triage is as declared."
    assert explain(SNAPSHOT, Drift(None, False, ())) == "agent/triage has reported nothing yet."
