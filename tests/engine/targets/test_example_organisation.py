"""The example organisation scores what a person works out from its documents by hand."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from controllers.engine.targets import by_kind
from controllers.engine.terms import Condition, Drift, Related, Resource, Snapshot
from resources.documents.files import load_paths
from tests.engine.targets.judging import EXAMPLE, NOW, drift_of, resource
from tests.rows import every_row


@cache
def organisation() -> tuple[Resource, ...]:
    loaded = load_paths([str(EXAMPLE)])
    return tuple(_read(each.document) for each in loaded if each.document)


def _read(document: Any) -> Resource:
    status = document.get("status", {})
    conditions = tuple(
        Condition(each["type"], each["status"], each["reason"], each["message"])
        for each in status.get("conditions", ())
    )
    made = resource(document["kind"], document["metadata"]["name"], document["spec"], status)
    return made._replace(conditions=conditions)


def snapshot(kind: str, name: str) -> Snapshot:
    """Take a resource with the budgets and policies it is measured against."""
    related = {
        other: tuple(each for each in organisation() if each.kind == other)
        for other in by_kind(kind).reads
    }
    [target] = [each for each in organisation() if (each.kind, each.name) == (kind, name)]
    if kind == "Agent":
        domains = (target.domain, "*")
        related = {
            other: tuple(each for each in group if each.domain in domains)
            for other, group in related.items()
        }
    return Snapshot(target, Related(related))


def judge(kind: str, name: str) -> Drift:
    return drift_of(by_kind(kind), snapshot(kind, name))


# Each score is worked out beside it: KPIs, health, budget, security.
SCORES = {
    ("Domain", "growth"): 0.3 * 2 / 4 + 0.3 * 2 / 4,
    ("Domain", "support"): 0.3 * 1 / 4 + 0.3 * 2 / 4,
    ("Domain", "analytics"): 0.3 * 1 / 3,
    ("Domain", "finance"): 0.2 * 4 / 9,
    ("Domain", "product"): 0.3 * 1 / 4,
    ("Domain", "platform"): 0.3 * 1 / 5,
    ("Agent", "growth-optimizer"): 0.3 * 3 / 4 + 0.3 * 2 / 4 + 0.2 * (85.64 - 50) / 50,
    ("Agent", "support-triage"): 0.3 * 2 / 4 + 0.3 * 1 / 3,
    ("Agent", "offer-designer"): 0.3 * 2 / 4 + 0.3 * 1 / 4,
    ("Agent", "refund-resolver"): 0.3 * 1 / 4 + 0.3 * 1 / 3,
    ("Agent", "experiment-runner"): 0.3 * 1 / 4,
    ("Agent", "spend-auditor"): 0.2 * 4 / 9,
    ("Agent", "reply-drafter"): 0,
    ("Budget", "growth-budget"): 0.3 / 0.5 * 2 / 3,
    ("Budget", "support-budget"): 0.3 / 0.5 * 2 / 3,
    ("Budget", "finance-budget"): 0,
    ("SecurityPolicy", "finance-restricted"): (0.3 * 2 / 4 + 0.2 * 4 / 9) / 0.5,
    ("SecurityPolicy", "quillmere-baseline"): 0,
}


@every_row(("kind", "name"), SCORES)
def test_the_example_scores_what_the_formula_says(kind: str, name: str) -> None:
    """I-44 I-46 I-47"""
    assert judge(kind, name).score == pytest.approx(SCORES[kind, name], abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "name", "operations"),
    [
        ("Domain", "growth", ["scale-agents", "alert-stakeholders"]),
        ("Agent", "growth-optimizer", ["restart", "throttle", "escalate"]),
        ("Budget", "support-budget", ["throttle-agents", "alert"]),
        (
            "SecurityPolicy",
            "finance-restricted",
            ["block-operations", "revoke-data-scope", "escalate"],
        ),
    ],
)
def test_what_is_off_target_on_purpose_has_its_remedy(
    kind: str, name: str, operations: list[str]
) -> None:
    """I-74 I-75 I-76 I-77"""
    steps = by_kind(kind).steps(snapshot(kind, name), judge(kind, name), NOW)

    assert [each.operation for each in steps] == operations


def test_growth_is_explained_with_its_figures() -> None:
    said = by_kind("Domain").explain(snapshot("Domain", "growth"), judge("Domain", "growth"))

    assert said.startswith(
        "2 of 4 KPIs miss their target: monthly-churn is 6.1 (wanted < 5 percent) and "
        "cost-per-order is 10.8 (wanted <= 9.5 EUR); "
    )
    assert "4 of 5 agents are fit for work" in said
