"""A domain is measured by its KPIs, its budgets, its policies and its agents."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from controllers.engine.targets.domain import TARGET
from controllers.engine.terms import Document, Related, Resource, Snapshot
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

YESTERDAY = "2026-11-15T00:30:00Z"


def domain(spec: Document | None = None, status: Document | None = None) -> Snapshot:
    return Snapshot(resource("Domain", "growth", spec or {}, status))


def budget(name: str, consumed: float, domain: str = "growth") -> Resource:
    spec = {"domain": domain, "period": "2026-11", "limits": {"tokens": {"monthly": 100}}}
    return resource("Budget", name, spec, {"consumed": {"tokens": consumed}})


def policy(name: str, violations: int, domain: str = "growth") -> Resource:
    spec = {"domain": domain, "dataScopes": [{}, {}]}
    return resource("SecurityPolicy", name, spec, {"violations": violations})


FLOOR = {"name": "churn", "target": {"operator": "gte", "value": 12, "unit": "percent"}}


def test_spending_is_that_of_the_budget_referred_to() -> None:
    """I-46"""
    snapshot = domain({"budgetRef": "main"})._replace(
        related=Related({"Budget": (budget("main", 110, "shared"), budget("other", 500))})
    )

    dimension = drift_of(TARGET, snapshot).of("budget")

    assert [each.name for each in TARGET.spending(snapshot, NOW)] == ["main tokens"]
    assert dimension is not None
    assert dimension.score == 0.1


@pytest.mark.parametrize("reference", [None, "gone", 7])
def test_without_a_budget_it_refers_to_the_worst_of_its_own_counts(reference: object) -> None:
    budgets = (budget("one", 90), budget("two", 125), budget("theirs", 900, "support"))
    snapshot = domain({"budgetRef": reference})._replace(related=Related({"Budget": budgets}))

    dimension = drift_of(TARGET, snapshot).of("budget")

    assert [each.consumed for each in TARGET.spending(snapshot, NOW)] == [90, 125]
    assert dimension is not None
    assert dimension.score == 0.25


def test_cost_to_date_without_a_budget_is_no_spending() -> None:
    snapshot = domain({}, {"costToDate": {"value": 900, "currency": "EUR"}})

    assert list(TARGET.spending(snapshot, NOW)) == []


def test_its_policy_and_those_of_the_whole_organisation_count() -> None:
    """I-47"""
    policies = (
        policy("referred", 0, "shared"),
        policy("own", 2),
        policy("everywhere", 1, "*"),
        policy("theirs", 2, "support"),
    )
    referring = domain({"securityPolicyRef": "referred"})._replace(
        related=Related({"SecurityPolicy": policies})
    )
    silent = domain()._replace(related=Related({"SecurityPolicy": policies}))

    named = [each.policy for each in TARGET.compliance(referring, NOW)]
    found = [each.policy for each in TARGET.compliance(silent, NOW)]

    assert named == ["referred", "everywhere"]
    assert found == ["own", "everywhere"]
    assert [each.violations for each in TARGET.compliance(silent, NOW)] == [2, 1]


@every_row(
    ("status", "expected"),
    [
        ({"health": "healthy"}, {"HealthReported": "True"}),
        ({"health": "degraded"}, {"HealthReported": "False"}),
        ({"health": "critical"}, {"HealthReported": "False"}),
        ({"cognitiveLoadScore": 0.75}, {"CognitiveLoadHealthy": "True"}),
        ({"cognitiveLoadScore": 0.76}, {"CognitiveLoadHealthy": "False"}),
        ({"activeIncidents": 2}, {"IncidentsWithinLimit": "True"}),
        ({"activeIncidents": 3}, {"IncidentsWithinLimit": "False"}),
        ({"activeAgents": 2}, {"AgentsAvailable": "True"}),
        ({"activeAgents": 1}, {"AgentsAvailable": "False"}),
        ({}, {}),
    ],
)
def test_what_a_domain_reports_becomes_a_condition(
    status: Document, expected: dict[str, str]
) -> None:
    assert words(TARGET, domain({"agents": ["a", "b"]}, status)) == expected


def test_a_condition_carries_the_figures() -> None:
    snapshot = domain({"agents": ["a", "b"]}, {"activeAgents": 1, "activeIncidents": 3})

    assert observed(TARGET, snapshot, "AgentsAvailable").message == "1 of 2 agents are active."
    assert observed(TARGET, snapshot, "IncidentsWithinLimit").message == "3 open, limit 2."


def test_fewer_active_agents_than_bound_ones_is_a_field_drift() -> None:
    """I-43 O-14"""
    snapshot = domain({"agents": ["a", "b", "c"]}, {"activeAgents": 2})

    [difference] = drift_of(TARGET, snapshot).differences

    assert difference[:4] == ("spec.agents", 3, 2, "drifted")


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        ({}, {"activeAgents": 2, "agents": ["a"]}),
        ({"agents": ["a", "b"]}, {}),
        ({"agents": ["a", "b"]}, {"activeAgents": 2, "agents": ["b", "a"]}),
        ({"agents": ["b", "a", "a"]}, {"activeAgents": 2.0}),
    ],
)
def test_what_is_not_declared_not_reported_or_only_in_another_order_is_no_drift(
    spec: Document, status: Document
) -> None:
    """O-18 O-19 O-20"""
    assert drift_of(TARGET, domain(spec, status)).differences == ()


def test_agents_are_compared_by_name_where_a_domain_reports_them() -> None:
    """O-12 O-13 O-15 O-16 O-17 D-11"""
    present = ["mapper", {"name": "old", "managed": True}, {"name": "ghost"}, 7]
    snapshot = domain({"agents": ["mapper", "writer"]}, {"agents": present})

    differences = drift_of(TARGET, snapshot).differences

    assert [each[:4] for each in differences] == [
        ("spec.agents.writer", "writer", None, "missing"),
        ("spec.agents.old", None, "old", "unwanted"),
        ("spec.agents.ghost", None, "ghost", "unmanaged"),
    ]
    assert len({each.note for each in differences}) == 3


def test_more_active_agents_than_bound_ones_are_strangers() -> None:
    """O-15"""
    snapshot = domain({"agents": ["a"]}, {"activeAgents": 2})

    assert drift_of(TARGET, snapshot).differences[0].category == "unmanaged"


def test_missing_agents_are_scaled_back_and_the_stakeholders_alerted() -> None:
    """I-74"""
    snapshot = domain(
        {"agents": ["a", "b", "c"], "kpis": [FLOOR]},
        {"activeAgents": 1, "kpis": [{"name": "churn", "value": 9}]},
    )

    scale, alert = steps_of(TARGET, snapshot)

    assert (scale.operation, scale.kind, scale.risk) == ("scale-agents", "change", "low")
    assert scale.parameters == {"domain": "growth", "from": 1, "to": 3}
    assert scale.reversible
    assert scale.rollback["parameters"] == {"domain": "growth", "from": 3, "to": 1}
    assert scale.why == "1 of 3 agents of growth are active."
    assert scale.otherwise == "growth goes on with 1 of 3 agents and keeps missing churn."
    assert (alert.operation, alert.kind) == ("alert-stakeholders", "notify")
    assert "churn is 9 (wanted >= 12 percent)" in alert.why


def test_a_domain_at_full_strength_only_alerts() -> None:
    """I-74"""
    snapshot = domain({"agents": ["a"]}, {"activeAgents": 1, "activeIncidents": 5})

    assert [each.operation for each in steps_of(TARGET, snapshot)] == ["alert-stakeholders"]


def test_a_domain_as_declared_asks_for_nothing() -> None:
    snapshot = domain({"agents": ["a"]}, {"activeAgents": 1, "health": "healthy"})

    assert list(steps_of(TARGET, snapshot)) == []
    assert TARGET.explain(snapshot, drift_of(TARGET, snapshot)) == "domain/growth is as declared."


def test_the_explanation_counts_and_names_what_is_missed() -> None:
    spec = {"kpis": [FLOOR, {"name": "orders", "target": "1"}]}
    status = {"kpis": [{"name": "churn", "value": 6.1}, {"name": "orders", "value": 1}]}
    snapshot = domain(spec, status)

    said = TARGET.explain(snapshot, drift_of(TARGET, snapshot))

    assert said == "1 of 2 KPIs misses its target: churn is 6.1 (wanted >= 12 percent)."


KEYS = [
    *("kpis", "name", "target", "operator", "value", "unit", "window", "observedAt", "source"),
    *("agents", "activeAgents", "health", "cognitiveLoadScore", "activeIncidents", "managed"),
    *("budgetRef", "securityPolicyRef", "domain", "period", "limits", "tokens", "monthly"),
    *("consumed", "violations", "dataScopes"),
]
VALUES = [
    "churn",
    "lt",
    "gte",
    "eq",
    "> 5%",
    "percent",
    "ratio",
    "ms",
    "1d",
    YESTERDAY,
    "degraded",
]


@given(any_document(KEYS, VALUES), any_document(KEYS, VALUES))
@settings(max_examples=examples(150), deadline=None)
def test_any_domain_can_be_judged(spec: Document, status: Document) -> None:
    related = {
        kind: (resource(kind, "related", spec, status),) for kind in ("Budget", "SecurityPolicy")
    }
    holds_for_any_document(TARGET, domain(spec, status)._replace(related=Related(related)))
