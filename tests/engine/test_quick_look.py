"""A quick look says the same as a thorough one, only sooner."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.engine.drift import budget, health, security
from controllers.engine.objectives import readings, unmet
from controllers.engine.reading import MEETS
from controllers.engine.targets.agent import TARGET
from controllers.engine.types import Compliance, Condition, Document, Snapshot, Spend, Word
from tests.engine.targets.judging import any_document, drift_of, resource
from tests.engine.targets.test_agent import KEYS, VALUES

NUMBERS = st.one_of(st.integers(-3, 3), st.floats(-3, 3), st.sampled_from([1e300, -1e300, 1e308]))
FIGURES: st.SearchStrategy[Any] = st.one_of(
    NUMBERS, st.sampled_from([None, True, "2s", "1", "soon", [], {}])
)
OBJECTIVES = st.fixed_dictionaries(
    {"name": st.sampled_from(["errorRate", "avgLatency", "healthScore", "other", 7])},
    optional={
        "operator": st.sampled_from([*MEETS, "near"]),
        "value": FIGURES,
        "unit": st.sampled_from(["", "ratio", "percent", "s", "ms", "EUR"]),
    },
)
REPORTED = st.dictionaries(
    st.sampled_from(["errorRate", "avgLatency", "healthScore", "other"]), FIGURES
)
WORDS: list[Word] = ["True", "False", "Unknown"]
CONDITIONS = st.lists(
    st.tuples(
        st.sampled_from(["Ready", "Reporting", "Degraded", "OverBudget"]),
        st.sampled_from(WORDS),
        st.sampled_from(["", "robin", "controller/other"]),
    ),
    max_size=4,
).map(lambda stated: [Condition(name, word, managed_by=by) for name, word, by in stated])


@given(st.lists(OBJECTIVES, max_size=4), REPORTED)
@settings(max_examples=400, deadline=None)
def test_an_objective_is_met_at_a_quick_look_if_it_is_when_read(
    objectives: list[Document], status: Document
) -> None:
    """I-44"""
    agent = resource("Agent", "triage", {"objectives": objectives}, status)
    read = readings(agent)
    missed = [
        each
        for each in read
        if each.target is None
        or each.value is None
        or each.operator not in MEETS
        or not MEETS[each.operator](each.value, each.target)
    ]

    assert unmet(agent) == (len(read) - len(missed), missed or ())


@given(any_document(KEYS, VALUES), any_document(KEYS, VALUES))
@settings(max_examples=150, deadline=None)
def test_an_agent_drifts_the_same_at_a_quick_look(spec: Document, status: Document) -> None:
    """I-44"""
    snapshot = Snapshot(resource("Agent", "triage", spec, status))

    assert drift_of(TARGET, snapshot) == drift_of(replace(TARGET, unmet=None), snapshot)


@given(CONDITIONS, CONDITIONS)
def test_conditions_are_all_good_if_none_is_evidence(
    conditions: list[Condition], observations: list[Condition]
) -> None:
    """I-45"""
    thorough = health.measure(conditions, "Agent", observations)

    expected = None if thorough.evidence else thorough.of
    assert health.well(conditions, "Agent", observations) == expected


@given(st.lists(st.builds(Spend, st.just("a"), NUMBERS, NUMBERS), max_size=3))
def test_limits_are_kept_if_none_is_evidence(spends: list[Spend]) -> None:
    """I-46"""
    thorough = budget.measure(spends)

    assert budget.well(spends) == (None if thorough.evidence else thorough.of)


@given(st.lists(st.builds(Compliance, st.just("a"), NUMBERS, st.integers(0, 3)), max_size=3))
def test_policies_are_kept_if_none_is_evidence(compliances: list[Compliance]) -> None:
    """I-47"""
    thorough = security.measure(compliances)

    assert security.well(compliances) == (None if thorough.evidence else thorough.of)


@pytest.mark.parametrize(("first", "second"), [(1, True), (True, 1)])
def test_a_goal_that_is_no_figure_is_not_taken_for_one(first: object, second: object) -> None:
    goals = [{"name": "errorRate", "operator": "gte", "value": each} for each in (first, second)]
    agent = resource("Agent", "triage", {"objectives": goals}, {"errorRate": 2.0})

    assert unmet(agent)[0] == 1
