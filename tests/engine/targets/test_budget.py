"""A budget is measured by its limits, its alerts, its projection and its shares."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings

from controllers.engine.targets.budget import TARGET
from controllers.engine.terms import Document, Snapshot, Step
from tests.engine.targets.judging import (
    NOW,
    any_document,
    drift_of,
    holds_for_any_document,
    observed,
    resource,
    steps_of,
    words,
)
from tests.rows import every_row
from tests.tiers import examples

LIMITS = {
    "tokens": {"daily": 10, "monthly": 100, "quarterly": 300},
    "cost": {"daily": 1, "monthly": 10, "quarterly": 30, "currency": "EUR"},
}
ALERTS = [
    {"threshold": 1.0, "severity": "critical", "channels": ["pagerduty"]},
    {"threshold": 0.7, "severity": "info", "channels": ["slack"]},
    {"threshold": 0.9, "severity": "warning", "channels": ["slack", "email"]},
]
AGENTS = [{"name": "triage", "allocation": 0.4}, {"name": "drafter", "allocation": 0.5}]


def budget(status: Document, **spec: Any) -> Snapshot:
    declared = {"domain": "support", "period": "2026-11", "limits": LIMITS, **spec}
    return Snapshot(resource("Budget", "support-budget", declared, status))


def tokens(amount: float) -> Document:
    return {"consumed": {"tokens": amount}}


def proposed(snapshot: Snapshot) -> dict[str, Step]:
    return {each.operation: each for each in steps_of(TARGET, snapshot)}


@pytest.mark.parametrize(
    ("consumed", "score"), [(90, 0), (100, 0), (110, 0.1), (250, 1), (-5, 0), (1e308, 1)]
)
def test_consumption_beyond_the_limit_is_budget_drift(consumed: float, score: float) -> None:
    """I-46"""
    drift = drift_of(TARGET, budget(tokens(consumed), alerts=[]))

    assert drift.of("budget") is not None
    assert drift.score == score


def test_a_budget_of_zero_with_spending_is_fully_drifted() -> None:
    """I-46 I-67"""
    nothing = {"limits": {"tokens": {"monthly": 0}}}

    assert drift_of(TARGET, budget(tokens(5), **nothing)).score == 1
    assert drift_of(TARGET, budget(tokens(0), **nothing)).score == 0


def test_a_budget_half_overspent_scores_a_half_when_nothing_else_is_known() -> None:
    """I-69"""
    assert drift_of(TARGET, budget(tokens(150))).score == 0.5


@every_row(
    ("period", "limits"),
    [
        ("2026-11-15", [10, 1]),
        ("daily", [10, 1]),
        ("2026-11", [100, 10]),
        ("monthly", [100, 10]),
        ("2026-Q4", [300, 30]),
        ("2020-Q1", [300, 30]),
        ("2030-01", [100, 10]),
        ("2026", []),
        ("whenever", []),
        ({"start": "2026-01-01"}, []),
    ],
)
def test_the_period_decides_which_limits_hold_even_when_it_is_over(
    period: object, limits: list[float]
) -> None:
    """I-46"""
    snapshot = budget({"consumed": {"tokens": 1, "cost": 1}}, period=period)

    assert [each.allocated for each in TARGET.spending(snapshot, NOW)] == limits


def test_a_period_of_another_length_can_only_mean_the_limit_that_is_set() -> None:
    limits = {"tokens": {"quarterly": 300}, "cost": {"daily": 1, "monthly": 2}}
    snapshot = budget({"consumed": {"tokens": 1, "cost": 1}}, period="2026", limits=limits)

    spending = TARGET.spending(snapshot, NOW)

    assert [(each.allocated, each.unit) for each in spending] == [(300, "tokens")]


@pytest.mark.parametrize(
    ("currency", "units"),
    [("EUR", ["tokens", "EUR"]), (None, ["tokens", "EUR"]), ("USD", ["tokens"])],
)
def test_money_in_another_currency_is_left_out(currency: str | None, units: list[str]) -> None:
    consumed = {"tokens": 1, "cost": 1, "currency": currency}

    spending = TARGET.spending(budget({"consumed": consumed}), NOW)

    assert [each.unit for each in spending] == units


def test_the_worst_limit_counts() -> None:
    """I-46"""
    drift = drift_of(TARGET, budget({"consumed": {"tokens": 50, "cost": 12, "currency": "EUR"}}))

    assert drift.score == 0.2


def test_a_budget_that_reports_no_consumption_is_unknown() -> None:
    assert drift_of(TARGET, budget({}, alerts=ALERTS)).score is None


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"utilizationRate": 0.75}, "True"),
        ({"utilizationRate": 0.9}, "False"),
        ({"utilizationRate": 1.2}, "False"),
        (tokens(89), "True"),
        (tokens(95), "False"),
    ],
)
def test_an_alert_of_warning_or_worse_shows_before_the_limit(
    status: Document, expected: str
) -> None:
    """I-76"""
    assert words(TARGET, budget(status, alerts=ALERTS)) == {"BelowAlertThreshold": expected}


def test_the_highest_alert_that_is_crossed_is_told() -> None:
    """I-76"""
    snapshot = budget({"utilizationRate": 1.25}, alerts=ALERTS)

    message = observed(TARGET, snapshot, "BelowAlertThreshold").message

    assert message == "125% used, critical at 100%."


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"projectedOverrun": True}, "False"),
        ({"projectedOverrun": False}, "True"),
        ({"projectedEndOfPeriod": {"tokens": 101}}, "False"),
        ({"projectedEndOfPeriod": {"tokens": 100, "cost": 9}}, "True"),
        ({"projectedOverrun": False, "projectedEndOfPeriod": {"tokens": 101}}, "True"),
    ],
)
def test_a_projected_overrun_is_a_condition(status: Document, expected: str) -> None:
    assert words(TARGET, budget(status)) == {"ProjectedWithinBudget": expected}


@pytest.mark.parametrize("key", ["byAgent", "agents"])
def test_an_agent_beyond_its_share_is_a_condition(key: str) -> None:
    reports = [{"name": "triage", "tokens": 41}, {"name": "drafter", "tokens": 50}]

    condition = observed(TARGET, budget({key: reports}, agents=AGENTS), "AllocationsRespected")

    assert condition.status == "False"
    assert condition.message == "Over its share: triage 41 of 40 tokens."


@pytest.mark.parametrize(
    ("reports", "expected"),
    [
        ([{"name": "triage", "tokens": 40}], {"AllocationsRespected": "True"}),
        ([{"name": "triage", "tokens": 90, "period": "2026-10"}], {}),
        ([{"name": "stranger", "tokens": 90}], {}),
        ([], {}),
    ],
)
def test_shares_are_compared_within_the_period_of_the_budget(
    reports: list[Document], expected: dict[str, str]
) -> None:
    assert words(TARGET, budget({"byAgent": reports}, agents=AGENTS)) == expected


def test_a_period_that_is_over_is_stale_from_its_end_on() -> None:
    running, over = budget(tokens(1)), budget(tokens(1), period="2026-Q3")

    [difference] = drift_of(TARGET, over).differences

    assert difference[:4] == ("spec.period", "2026-Q3", "ended 2026-10-01", "stale")
    assert drift_of(TARGET, running).differences == ()
    assert TARGET.recheck(running, NOW) == datetime(2026, 12, 1, tzinfo=UTC)
    assert TARGET.recheck(over, NOW) is None


@pytest.mark.parametrize(
    ("used", "threshold", "severity", "channels"),
    [
        (0.7, 0.7, "info", ["slack"]),
        (0.9, 0.9, "warning", ["slack", "email"]),
        (1.0, 1.0, "critical", ["pagerduty"]),
        (1.5, 1.0, "critical", ["pagerduty"]),
    ],
)
def test_each_threshold_has_its_own_alert(
    used: float, threshold: float, severity: str, channels: list[str]
) -> None:
    """I-76"""
    alert = proposed(budget({"utilizationRate": used}, alerts=ALERTS))["alert"]

    assert alert.kind == "notify"
    assert alert.parameters == {
        "budget": "support-budget",
        "threshold": threshold,
        "severity": severity,
        "channels": channels,
    }


def test_an_overspent_budget_throttles_its_agents_and_blocks_new_spending() -> None:
    """I-76"""
    steps = proposed(budget(tokens(125), alerts=ALERTS, agents=AGENTS))

    assert list(steps) == ["throttle-agents", "block-spend", "alert"]
    throttle, block, _ = steps.values()
    assert (throttle.kind, throttle.risk, throttle.reversible) == ("change", "low", True)
    assert throttle.parameters["agents"] == ["triage", "drafter"]
    assert throttle.parameters["factor"] == 0.8
    assert "support-budget tokens 125 of 100 tokens" in throttle.why
    assert (block.kind, block.reversible) == ("block", True)
    assert block.parameters == {"budget": "support-budget", "domain": "support"}


def test_only_the_agents_beyond_their_share_are_throttled() -> None:
    """I-76"""
    status = {"byAgent": [{"name": "triage", "tokens": 80}, {"name": "drafter", "tokens": 5}]}

    steps = proposed(budget(status, agents=AGENTS))

    assert steps["throttle-agents"].parameters["agents"] == ["triage"]
    assert steps["throttle-agents"].parameters["factor"] == 0.5
    assert "block-spend" not in steps


def test_a_projected_overrun_slows_down_before_the_limit() -> None:
    """I-76"""
    steps = proposed(budget({**tokens(50), "projectedEndOfPeriod": {"tokens": 200}}))

    assert list(steps) == ["throttle-agents", "alert"]
    assert steps["throttle-agents"].parameters["factor"] == 0.5


def test_a_budget_within_its_limits_asks_for_nothing() -> None:
    assert proposed(budget(tokens(50), alerts=ALERTS, agents=AGENTS)) == {}


KEYS = [
    *("period", "limits", "tokens", "cost", "daily", "monthly", "quarterly", "currency"),
    *("alerts", "threshold", "severity", "channels", "agents", "name", "allocation", "byAgent"),
    *("consumed", "utilizationRate", "projectedOverrun", "projectedEndOfPeriod"),
]
VALUES = ["2026-11", "2026-Q3", "monthly", "2026", "info", "critical", "triage", "EUR", 0, 100]


@given(any_document(KEYS, VALUES), any_document(KEYS, VALUES))
@settings(max_examples=examples(150), deadline=None)
def test_any_budget_can_be_judged(spec: Document, status: Document) -> None:
    holds_for_any_document(TARGET, Snapshot(resource("Budget", "any", spec, status)))
