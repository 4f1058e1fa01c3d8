"""A quick look says the same as a thorough one, only sooner."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.engine import diff
from controllers.engine.document_values import MEETS, within_limits, without_violation
from controllers.engine.drift import budget, health, security
from controllers.engine.objectives import readings, unmet
from controllers.engine.targets.agent import TARGET
from controllers.engine.terms import (
    Compliance,
    Condition,
    Document,
    Glance,
    Related,
    Snapshot,
    Spend,
    Word,
)
from tests.engine.measuring import USUAL
from tests.engine.targets.judging import NOW, any_document, drift_of, resource
from tests.engine.targets.test_agent import KEYS, VALUES
from tests.tiers import examples

ALONE = Related()
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
@settings(max_examples=examples(400), deadline=None)
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
@settings(max_examples=examples(150), deadline=None)
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

    assert within_limits(spends) == (None if thorough.evidence else thorough.of)


@given(st.lists(st.builds(Compliance, st.just("a"), NUMBERS, st.integers(0, 3)), max_size=3))
def test_policies_are_kept_if_none_is_evidence(compliances: list[Compliance]) -> None:
    """I-47"""
    thorough = security.measure(compliances)

    assert without_violation(compliances) == (None if thorough.evidence else thorough.of)


@pytest.mark.parametrize(("first", "second"), [(1, True), (True, 1)])
def test_a_goal_that_is_no_figure_is_not_taken_for_one(first: object, second: object) -> None:
    goals = [{"name": "errorRate", "operator": "gte", "value": each} for each in (first, second)]
    agent = resource("Agent", "triage", {"objectives": goals}, {"errorRate": 2.0})

    assert unmet(agent)[0] == 1


REPORTS = st.fixed_dictionaries(
    {},
    optional={
        "state": st.sampled_from(["running", "paused", "degraded", 7, []]),
        "costConsumed": st.fixed_dictionaries(
            {"tokens": NUMBERS}, optional={"period": st.sampled_from(["2026-11", "daily", "x"])}
        ),
        "errorRate": FIGURES,
        "avgLatency": FIGURES,
        "model": st.just({"name": "harbor-large"}),
    },
)
DECLARED = st.fixed_dictionaries(
    {},
    optional={
        "state": st.sampled_from(["running", "paused"]),
        "objectives": st.lists(OBJECTIVES, max_size=3),
        "tokenBudget": st.fixed_dictionaries({}, optional={"maxMonthly": NUMBERS}),
        "model": st.just({"name": "harbor-small"}),
        "schedule": st.sampled_from(
            [{"type": "continuous"}, {"type": "cron", "cron": "* * * * *"}]
        ),
    },
)


def glance(spec: Document, status: Document, related: Related = ALONE) -> Glance | None:
    """Look at an agent; what is odd about it gets a closer look."""
    assert TARGET.glance is not None
    with suppress(TypeError, AttributeError, KeyError):
        return TARGET.glance("triage", spec, status, related, NOW)
    return None


@given(DECLARED, REPORTS, REPORTS, CONDITIONS)
@settings(max_examples=examples(400), deadline=None)
def test_what_is_well_at_a_glance_is_so_when_measured(
    spec: Document, before: Document, status: Document, stated: list[Condition]
) -> None:
    """I-44 A glance may ask for a closer look, but never says anything else."""
    conditions = tuple({each.type: each for each in stated}.values())
    agent = resource("Agent", "triage", spec, before)._replace(conditions=conditions)
    judged = diff.measure(USUAL, TARGET, Snapshot(agent), NOW)
    expected = None if judged.drifted else diff.as_glance(judged.figures)

    same = expected is not None and glance(spec, status) == expected

    again = diff.measure(USUAL, TARGET, Snapshot(agent._replace(status=status)), NOW)
    evidence = [each for part in judged.dimensions for each in part.evidence]
    assert not same or evidence or (again, again.figures) == (judged, judged.figures)


def test_an_agent_that_is_well_is_so_at_a_glance() -> None:
    spec = {
        "objectives": [{"name": "errorRate", "operator": "lte", "value": 0.03, "unit": "ratio"}],
        "tokenBudget": {"maxMonthly": 10},
    }
    status: Document = {
        "state": "running",
        "errorRate": 0.01,
        "costConsumed": {"tokens": 9, "period": "2026-11"},
    }
    found = glance(spec, status)

    assert found == Glance(met=1, observed=("Ready",), within=1, clean=0)
    assert glance(spec, {**status, "costConsumed": {"tokens": 11, "period": "2026-11"}}) is None
    assert glance(spec, {**status, "state": "degraded"}) is None
    assert glance(spec, {**status, "errorRate": 0.2}) is None


def test_a_glance_tells_a_state_that_was_not_reported_before() -> None:
    """The figures would be others, though nothing is amiss."""
    quiet = diff.measure(USUAL, TARGET, Snapshot(resource("Agent", "triage", {}, {})), NOW)

    assert diff.as_glance(quiet.figures) != glance({}, {"state": "running"})
