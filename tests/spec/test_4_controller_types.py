"""Specification, section 4: six controllers by target, each over the example organisation."""

from __future__ import annotations

import pytest

from controllers.models import Cycle, Judgement
from controllers.worker import example_organisation
from tests.conftest import Clock
from tests.controllers.making import cycles, work

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]


@pytest.fixture(autouse=True)
def one_cycle_each(clock: Clock) -> None:
    """Load the example and let every controller of it look once."""
    example_organisation.load(clock.now)
    assert len(work(clock)) == 6


def judged(controller: str, name: str) -> Judgement:
    return Judgement.objects.get(controller__name=controller, resource__name=name)


def off_target(judgement: Judgement) -> set[str]:
    """Return what the judgement rests on, by dimension and subject."""
    return {
        f"{each['dimension']}: {each['subject'].partition('/')[2] or each['subject']}"
        for each in judgement.evidence
        if each["verdict"] == "missed"
    }


def operations(cycle: Cycle, target: str) -> dict[str, str]:
    """Return what a cycle did about a target, each operation with its result."""
    return {
        each["operation"]: each["result"] for each in cycle.actions if each["target"] == target
    }


def test_domain_health_watches_kpis_cost_and_incidents_and_scales_agents() -> None:
    """I-74 I-56 It observes only: what it would have done is on record."""
    [cycle], growth = cycles("domain-health"), judged("domain-health", "growth")

    assert (cycle.outcome, cycle.mode) == ("drift_reported", "observe")
    assert {"kpi: monthly-churn", "kpi: cost-per-order"} <= off_target(growth)
    assert {"kpi", "health", "budget", "security"} <= set(growth.dimensions)
    assert operations(cycle, "domain/growth") == {"alert": "planned", "scale-agents": "planned"}


def test_agent_performance_watches_errors_latency_and_cost_and_throttles_or_escalates() -> None:
    """I-75"""
    [cycle] = cycles("agent-performance")
    optimizer = judged("agent-performance", "growth-optimizer")

    assert {"kpi: errorRate", "kpi: healthScore"} <= off_target(optimizer)
    assert any(each.startswith("budget: ") for each in off_target(optimizer))
    assert "kpi: avgLatency" in off_target(judged("agent-performance", "offer-designer"))
    assert operations(cycle, "agent/growth-optimizer") == {
        "alert": "success",
        "throttle": "planned",
        "escalate": "success",
    }


def test_budget_guardian_watches_utilization_and_throttles_alerts_or_blocks() -> None:
    """I-76"""
    [cycle], support = cycles("budget-guardian"), judged("budget-guardian", "support-budget")

    assert {"health: BelowAlertThreshold", "health: ProjectedWithinBudget"} == off_target(support)
    assert operations(cycle, "budget/support-budget") == {
        "alert": "success",
        "throttle-agents": "planned",
    }


def test_security_auditor_watches_violations_and_threats_and_blocks_or_escalates() -> None:
    """I-77"""
    [cycle] = cycles("security-auditor")
    policy = judged("security-auditor", "finance-restricted")

    assert {"security: finance-restricted", "health: ThreatLevelAcceptable"} <= off_target(policy)
    assert operations(cycle, "securitypolicy/finance-restricted") == {
        "alert": "success",
        "revoke-data-scope": "planned",
        "escalate": "success",
    }


def test_workflow_monitor_watches_state_and_timeout_and_compensates() -> None:
    """I-78"""
    [cycle], run = cycles("workflow-monitor"), judged("workflow-monitor", "churn-response")

    assert {"health: WithinTimeout", "health: StepsHealthy"} == off_target(run)
    assert operations(cycle, "workflow/churn-response") == {
        "alert": "success",
        "compensate": "planned",
    }


def test_decision_tracker_watches_assumptions_and_flags_for_review() -> None:
    """I-79"""
    [cycle] = cycles("decision-tracker")
    decision = judged("decision-tracker", "dec-106-risk-scored-offers")

    assert "health: AssumptionsValid" in off_target(decision)
    assert operations(cycle, "decision/dec-106-risk-scored-offers") == {
        "flag-for-review": "planned"
    }


def test_what_is_in_order_is_left_alone() -> None:
    """I-48"""
    touched = {each["target"] for cycle in Cycle.objects.all() for each in cycle.actions}
    drifted = Judgement.objects.filter(drifted=True).select_related("resource")

    assert touched == {str(each.resource) for each in drifted}
    assert len(touched) == 11
