"""DIFF: five dimensions become one score, a verdict, its causes and how urgent it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controllers.engine.terms import Compliance, Condition, Difference, Reading, Spend, Urgency
from tests.engine.measuring import USUAL, World, conditions, kpis, measured, score_of
from tests.rows import every_row

CLEAN = World(
    kpis=[
        Reading("activation", "gte", 40, 44, "percent"),
        Reading("monthly-churn", "lt", 5, 3.2, "percent"),
        Reading("lead-time", "lte", 4, 4, "hours"),
    ],
    conditions=[Condition("HealthReported", "True"), Condition("Reconciling", "False")],
    spending=[Spend("product-q1-budget cost", 100, 125, "USD")],
    compliance=[Compliance("product-policy", 0, 7)],
)
AGENTS = Difference("spec.agents", 3, 2)
MODEL = Difference("spec.model.version", "4", "3")

# The nine vectors: a missed KPI, only conditions, half of them, and so on down to nothing.
VECTORS = [
    pytest.param(
        CLEAN._replace(kpis=[*CLEAN.kpis[:2], Reading("lead-time", "lte", 4, 9, "hours")]),
        (0.1, False),
        id="one of three KPIs missed",
    ),
    pytest.param(World(conditions=conditions(1, 4)), (0.25, True), id="only conditions"),
    pytest.param(
        CLEAN._replace(
            conditions=[Condition("HealthReported", "True"), Condition("Stalled", "True")]
        ),
        (0.15, True),
        id="half of the conditions bad",
    ),
    pytest.param(CLEAN._replace(spending=[Spend("b", 150, 100)]), (0.1, False), id="half over"),
    pytest.param(CLEAN._replace(spending=[Spend("b", 400, 100)]), (0.2, True), id="fourfold"),
    pytest.param(
        CLEAN._replace(compliance=[Compliance("p", 7, 7)]), (0.2, True), id="every rule broken"
    ),
    pytest.param(
        World(kpis(3, 3), conditions(2, 2), [Spend("b", 900, 100)], [Compliance("p", 7, 7)]),
        (1, True),
        id="everything at worst",
    ),
    pytest.param(
        World(kpis(2, 4), spending=[Spend("b", 0, 0)]), (0.3, True), id="KPIs and an empty budget"
    ),
    pytest.param(World(), (None, False), id="no data at all"),
]


@every_row(("world", "expected"), VECTORS)
def test_the_vectors_hold(world: World, expected: tuple[float | None, bool]) -> None:
    """I-42 I-64 I-69 A-32"""
    drift = measured(world)

    assert (drift.score, drift.drifted) == expected


def test_a_clean_world_has_not_drifted() -> None:
    """I-48"""
    drift = measured(CLEAN)

    assert (drift.score, drift.drifted, drift.causes, drift.urgency) == (0, False, (), "none")


def test_without_data_nothing_is_claimed() -> None:
    """A-32"""
    drift = measured(World())

    assert drift.score is None
    assert not drift.drifted
    assert drift.dimensions == ()
    assert drift.urgency == "none"


def test_unknown_kpis_alone_leave_the_score_unknown_and_say_why() -> None:
    """A-32"""
    drift = measured(World([Reading("churn", "lt", 5, None, note="no observation")]))

    assert drift.score is None
    assert [each.name for each in drift.dimensions] == ["kpi"]


def test_missing_kpis_fail_where_the_controller_says_so() -> None:
    world = World([Reading("churn", "lt", 5, None)])

    assert measured(world, replace(USUAL, missing_kpi="fail")).score == 1


def test_dimensions_are_rounded_as_they_are_compared() -> None:
    """I-65 X-02"""
    drift = measured(World(kpis(1, 3)), replace(USUAL, dimension_thresholds={"kpi": 1 / 3}))

    assert score_of(drift, "kpi") == 0.333333
    assert drift.causes == ("score", "kpi")


@pytest.mark.parametrize(
    ("threshold", "drifted"), [(0.19, True), (0.2, True), (0.200001, False), (0.21, False)]
)
def test_the_threshold_acts_from_equality_on(threshold: float, drifted: bool) -> None:
    """I-48 I-49 D-44 X-02"""
    world = CLEAN._replace(compliance=[Compliance("p", 7, 7)])

    drift = measured(world, replace(USUAL, threshold=threshold))

    assert drift.score == 0.2
    assert drift.drifted is drifted


def test_float_noise_does_not_decide_a_tie() -> None:
    """I-49 X-02"""
    world = World(kpis(0, 1), compliance=[Compliance("p", 7, 10)])

    drift = measured(world, replace(USUAL, threshold=0.28))

    assert 0.2 * 0.7 / 0.5 < 0.28
    assert (drift.score, drift.drifted) == (0.28, True)


def test_a_threshold_of_zero_asks_for_some_drift() -> None:
    """I-49"""
    strict = replace(USUAL, threshold=0, dimension_thresholds={"budget": 0, "security": 0})

    assert not measured(CLEAN, strict).drifted
    assert measured(CLEAN._replace(spending=[Spend("b", 101, 100)]), strict).causes == (
        "score",
        "budget",
    )


def test_a_dimension_that_passes_its_own_limit_is_drift_whatever_the_average() -> None:
    """X-09"""
    overspent = CLEAN._replace(spending=[Spend("b", 150, 100)])

    drift = measured(overspent, replace(USUAL, dimension_thresholds={"budget": 0.5, "kpi": 0.1}))

    assert (drift.score, drift.drifted, drift.causes) == (0.1, True, ("budget",))
    assert not measured(overspent, replace(USUAL, dimension_thresholds={"budget": 0.51})).drifted


def test_a_tenfold_overspend_stays_in_bounds_and_keeps_its_raw_figure() -> None:
    """I-42 X-09"""
    drift = measured(CLEAN._replace(spending=[Spend("b", 1_000, 100)]))
    budget = drift.of("budget")

    assert drift.score == 0.2
    assert budget is not None
    assert (budget.score, budget.raw) == (1, 9)


def test_weights_are_the_controllers() -> None:
    """I-64"""
    world = CLEAN._replace(compliance=[Compliance("p", 7, 7)])
    weights = {"kpi": 1, "health": 1, "budget": 1, "security": 5}

    assert measured(world, replace(USUAL, weights=weights)).score == 0.625
    assert measured(world, replace(USUAL, weights={"security": 2})).score == 1


def test_a_dimension_of_no_weight_has_no_say() -> None:
    weights = {"kpi": 0, "health": 0.3, "budget": -1, "security": 0}
    world = World(kpis(1, 1), conditions(1, 4), [Spend("b", 500, 100)])

    assert measured(world, replace(USUAL, weights=weights)).score == 0.25
    assert measured(world._replace(conditions=()), replace(USUAL, weights=weights)).score is None


def test_the_maximum_is_taken_over_dimensions_that_have_a_weight() -> None:
    world = World(kpis(1, 1), conditions(1, 4), [Spend("b", 140, 100)])
    worst = replace(USUAL, aggregation="max")

    assert measured(world, worst).score == 1
    assert measured(world, replace(worst, weights={**USUAL.weights, "kpi": 0})).score == 0.4
    assert measured(World(), worst).score is None


def test_the_average_over_nothing_but_a_budget_is_the_budget() -> None:
    """I-69"""
    assert measured(World(spending=[Spend("b", 150, 100)])).score == 0.5


def test_a_policy_without_rules_leaves_the_average_to_the_others() -> None:
    """I-68 I-69"""
    drift = measured(World(conditions=conditions(1, 4), compliance=[Compliance("empty", 0, 0)]))

    assert drift.score == 0.25
    assert drift.of("security") is None


def test_observations_count_unless_the_type_was_reported() -> None:
    late = Condition("AgentsAvailable", "False")
    reported = Condition("AgentsAvailable", "True")

    assert measured(World(observations=[late])).score == 1
    assert measured(World(conditions=[reported], observations=[late])).score == 0


def test_field_differences_are_kept_but_do_not_drift_by_themselves() -> None:
    """I-43 X-06"""
    drift = measured(CLEAN._replace(differences=[AGENTS]))

    assert (drift.score, drift.drifted) == (0, False)
    assert drift.differences == (AGENTS,)
    assert score_of(drift, "field") == 0.5
    assert measured(World(differences=[AGENTS])).score is None


def test_field_differences_count_where_they_are_weighed_or_limited() -> None:
    weighed = replace(USUAL, weights={**USUAL.weights, "field": 1.0})
    limited = replace(USUAL, dimension_thresholds={"field": 0.5})

    assert measured(CLEAN._replace(differences=[AGENTS]), weighed).score == 0.25
    assert measured(CLEAN._replace(differences=[]), weighed).score == 0
    assert measured(CLEAN._replace(differences=[AGENTS]), limited).causes == ("field",)
    assert measured(World(differences=[AGENTS]), limited).drifted


@pytest.mark.parametrize(
    ("ignored", "left"),
    [
        (("spec.agents",), (MODEL,)),
        (("spec.model",), (AGENTS,)),
        (("spec",), ()),
        (("spec.mod", "agents", "spec.agents.name", ""), (AGENTS, MODEL)),
    ],
)
def test_ignored_paths_and_what_lies_below_them_are_no_differences(
    ignored: tuple[str, ...], left: tuple[Difference, ...]
) -> None:
    """O-55"""
    drift = measured(World(differences=[AGENTS, MODEL]), replace(USUAL, ignored=ignored))

    assert drift.differences == left
    assert score_of(drift, "field") == pytest.approx(len(left) / (len(left) + 1), abs=1e-6)


def test_an_ignored_list_takes_its_items_with_it() -> None:
    item = Difference("spec.agents[2].name", "analyst", None, "missing")

    assert (
        measured(World(differences=[item]), replace(USUAL, ignored=("spec.agents",))).differences
        == ()
    )


@every_row(
    ("bad", "urgency", "raised"),
    [
        (50, "low", "medium"),
        (99, "low", "medium"),
        (100, "medium", "high"),
        (249, "medium", "high"),
        (250, "high", "critical"),
        (499, "high", "critical"),
        (500, "critical", "critical"),
        (1000, "critical", "critical"),
    ],
)
def test_urgency_follows_the_score_and_rises_with_priority(
    bad: int, urgency: Urgency, raised: Urgency
) -> None:
    """D-13"""
    world = World(conditions=conditions(bad, 1000))
    strict = replace(USUAL, threshold=0)

    assert measured(world, strict).urgency == urgency
    for priority in ("high", "critical"):
        assert measured(world._replace(labels={"priority": priority}), strict).urgency == raised
    assert measured(world._replace(labels={"priority": "low"}), strict).urgency == urgency


def test_what_has_not_drifted_is_not_urgent_whatever_its_priority() -> None:
    """D-13"""
    assert measured(CLEAN._replace(labels={"priority": "critical"})).urgency == "none"


def test_drift_without_a_score_is_of_low_urgency() -> None:
    """D-13"""
    limited = replace(USUAL, dimension_thresholds={"field": 0.1})

    assert measured(World(differences=[AGENTS]), limited).urgency == "low"


def test_a_drift_says_how_much_of_what_it_looked_at_is_amiss() -> None:
    """D-12"""
    drift = measured(World(kpis(3, 12)))
    (kpi,) = drift.dimensions

    assert [each.verdict for each in kpi.evidence] == ["missed"] * 3
    assert (kpi.of, drift.score) == (12, 0.25)


def test_the_same_snapshot_gives_the_same_drift_to_the_byte() -> None:
    """A-15 D-14 D-15"""
    world = CLEAN._replace(kpis=kpis(1, 3), conditions=conditions(1, 7), differences=[AGENTS])

    first, second = measured(world), measured(world)

    assert first == second
    assert repr(first).encode() == repr(second).encode()
