"""How far a resource is from what is declared, as the API tells it after a report."""

from __future__ import annotations

from typing import Any

import pytest

from tests.promises.callers import Person
from tests.promises.organisation import (
    Document,
    agent,
    budget,
    controller,
    document,
    domain,
    policy,
)

pytestmark = [pytest.mark.product, pytest.mark.full]


def kpi(name: str, value: float) -> dict[str, Any]:
    """Return a target: at least so much."""
    return {"name": name, "target": {"operator": "gte", "value": value}}


def judged(
    admin: Person, wanted: Document, status: dict[str, Any], *others: Document, **spec: Any
) -> Any:
    """Declare a resource, report it, let a controller of its own look, and return the drift."""
    return all_judged(admin, [(wanted, status)], *others, **spec)[0]


def all_judged(
    admin: Person, cases: list[tuple[Document, dict[str, Any]]], *others: Document, **spec: Any
) -> list[Any]:
    """Do so with several resources of a kind that one controller looks at."""
    kind, label = cases[0][0]["kind"], cases[0][0]["metadata"]["name"]
    for wanted, _ in cases:
        wanted["metadata"]["labels"] = {"by": label}
    refs = [f"{kind.lower()}/{wanted['metadata']['name']}" for wanted, _ in cases]
    own = controller(f"of-{label}", kind, label, **{"enforcementMode": "observe", **spec})
    admin.apply(*others, *(wanted for wanted, _ in cases), own)
    for ref, (_, status) in zip(refs, cases, strict=True):
        admin.report(ref, status)
    admin.reconcile(f"of-{label}")
    return [admin.drift(ref, f"of-{label}") for ref in refs]


def dimension(found: Any, name: str) -> Any:
    return found["dimensions"][name]["score"]


def said(found: Any, name: str) -> Any:
    """Return the evidence of a dimension."""
    return [each for each in found["evidence"] if each["dimension"] == name]


@pytest.mark.quick
def test_a_state_other_than_declared_is_found_and_gone_when_it_is_mended(admin: Person) -> None:
    """I-03 I-43 O-14 O-16"""
    weights = {"weights": {"field": 1}}
    place = domain("yard")
    wanted = agent("parked", "yard", state="running")
    found = judged(admin, wanted, {"state": "paused", "errorRate": 0}, place, drift=weights)

    (field,) = said(found, "field")
    assert (field["subject"], field["desired"], field["observed"]) == (
        "field/spec.state",
        "running",
        "paused",
    )
    assert found["drifted"]
    admin.report("agent/parked", {"state": "running"})
    admin.reconcile("of-parked")
    mended = admin.drift("agent/parked", "of-parked")
    assert (mended["score"], mended["status"]) == (0, "True")


def test_fewer_agents_than_are_bound_is_a_difference(admin: Person) -> None:
    """I-43"""
    crew = [agent(each, "crew") for each in ("crew-1", "crew-2", "crew-3")]
    bound = [each["metadata"]["name"] for each in crew]
    found = judged(admin, domain("crew", agents=bound), {"activeAgents": 2}, *crew)

    (field,) = said(found, "field")
    assert (field["desired"], field["observed"]) == (3, 2)


def test_the_score_is_the_weighted_mean_of_four_dimensions(admin: Person) -> None:
    """I-44 I-64 I-65 X-08"""
    targets = [kpi("speed", 1), kpi("care", 1), kpi("cost", 1)]
    whole = domain("whole", kpis=targets, budgetRef="purse", securityPolicyRef="rules")
    admin.apply(whole, budget("purse", "whole", 100), policy("rules", "whole"))
    admin.report("budget/purse", {"consumed": {"tokens": 50}})
    admin.report("securitypolicy/rules", {"violations": 0})
    seen = [
        {"name": "speed", "value": 1},
        {"name": "care", "value": 2},
        {"name": "cost", "value": 0},
    ]
    found = judged(admin, whole, {"kpis": seen})

    assert dimension(found, "kpi") == 0.333333
    assert [dimension(found, each) for each in ("health", "budget", "security")] == [0, 0, 0]
    assert found["score"] == 0.1
    (missed,) = said(found, "kpi")
    assert (missed["desired"], missed["observed"]) == (">= 1", 0)


def test_a_controller_may_weigh_otherwise(admin: Person) -> None:
    """I-64 X-06"""
    place = domain("heavy", kpis=[kpi("speed", 1)])
    only = {"weights": {"kpi": 1, "health": 0, "budget": 0, "security": 0}}
    found = judged(admin, place, {"kpis": [{"name": "speed", "value": 0}]}, drift=only)

    assert found["score"] == 1


def test_fields_count_only_where_the_controller_says_so(admin: Person) -> None:
    """X-06"""
    wanted = agent("quiet-field", "still", state="running")
    found = judged(admin, wanted, {"state": "paused", "errorRate": 0}, domain("still"))

    assert said(found, "field")
    assert (found["score"], found["drifted"]) == (0, False)


def test_a_bad_condition_counts_and_one_that_is_good_when_false_does_not(admin: Person) -> None:
    """I-45 X-07"""
    bad = [{"type": "Ready", "status": "False", "reason": "Down"}]
    good = [{"type": "Degraded", "status": "False", "reason": "Fine"}]
    admin.apply(domain("ward"))
    ill = (agent("sick", "ward"), {"conditions": bad})
    sick, well = all_judged(admin, [ill, (agent("well", "ward"), {"conditions": good})])

    assert [each["subject"] for each in said(sick, "health")] == ["condition/Ready"]
    assert dimension(sick, "health") > 0
    assert dimension(well, "health") == 0


def test_budget_drift_is_the_share_overspent_and_stays_in_bounds(admin: Person) -> None:
    """I-42 I-46 I-67"""
    wanted = {(100, 90): 0, (100, 110): 0.1, (100, 1000): 1, (0, 0): 0, (0, 5): 1}
    cases = [
        (budget(f"purse-{limit}-{used}", "shop", limit), {"consumed": {"tokens": used}})
        for limit, used in wanted
    ]
    found = all_judged(admin, cases, domain("shop"))

    assert [dimension(each, "budget") for each in found] == list(wanted.values())
    assert all(0 <= each["score"] <= 1 for each in found)


def test_security_drift_is_violations_per_rule(admin: Person) -> None:
    """I-47"""
    assets = [f"file-{number}" for number in range(10)]
    scopes = [
        {"resource": each, "classification": "internal", "allowedOperations": ["read"]}
        for each in assets
    ]
    wanted = document("SecurityPolicy", "ten-rules", {"domain": "vault", "dataScopes": scopes})
    found = judged(admin, wanted, {"violations": 1}, domain("vault"))

    assert dimension(found, "security") == 0.1


def test_the_threshold_itself_is_drift_and_just_below_is_none(admin: Person) -> None:
    """I-48 I-49 D-44 X-02"""
    only = {"weights": {"kpi": 1, "health": 0}}
    names = ("errorRate", "overrideRate", "healthScore", "queueLength")
    targets = [{"name": each, "operator": "lte", "value": 0.5} for each in names]
    edge = agent("edge", "cliff", objectives=targets)
    status = {"errorRate": 0.9, "overrideRate": 0, "healthScore": 0.1, "queueLength": 0}
    above = controller("above", "Agent", "edge", driftThreshold=0.26, drift=only)
    own = {"driftThreshold": 0.25, "drift": only, "enforcementMode": "warn"}
    at = judged(admin, edge, status, domain("cliff"), above, **own)
    admin.reconcile("above")
    below = admin.drift("agent/edge", "above")

    assert at["score"] == below["score"] == 0.25
    assert [each["operation"] for each in at["plan"]["actions"]] == ["restart"]
    assert at["drifted"]
    assert not below["drifted"]
    assert "plan" not in below


def test_one_dimension_may_have_a_limit_of_its_own(admin: Person) -> None:
    """X-09"""
    own = {"dimensionThresholds": {"kpi": 0.5}, "weights": {"kpi": 0.01, "health": 10}}
    place = domain("strict", kpis=[kpi("speed", 1), kpi("care", 1)])
    seen = [{"name": "speed", "value": 0}, {"name": "care", "value": 1}]
    fine = [{"type": "Ready", "status": "True", "reason": "Up"}]
    found = judged(admin, place, {"kpis": seen, "conditions": fine}, drift=own)

    assert found["score"] < found["threshold"]
    assert found["drifted"]


def test_several_controllers_judge_one_resource_each_for_itself(admin: Person) -> None:
    """I-83 F-07 X-13"""
    place = domain("shared", kpis=[kpi("speed", 1), kpi("care", 1)])
    seen = [{"name": "speed", "value": 0}, {"name": "care", "value": 1}]
    found = judged(admin, place, {"kpis": seen})
    admin.apply(
        controller("calm", "Domain", "shared", enforcementMode="observe", driftThreshold=1)
    )
    admin.reconcile("calm")

    both = admin.items("resources/domain/shared/drift")
    assert {each["controller"] for each in both} == {"controller/of-shared", "controller/calm"}
    assert found["drifted"]
    assert not admin.drift("domain/shared", "calm")["drifted"]


def test_equal_input_gives_an_equal_judgement(admin: Person) -> None:
    """A-15 D-14 D-15 O-19 O-20"""
    place = domain("twice", kpis=[kpi("speed", 1), kpi("care", 1)])
    seen = [{"name": "speed", "value": 0}, {"name": "care", "value": 1}]
    first = judged(admin, place, {"kpis": seen})
    admin.reconcile("of-twice")
    again = admin.drift("domain/twice", "of-twice")
    moving = {"lastEvaluated"}
    assert {k: v for k, v in first.items() if k not in moving} == {
        k: v for k, v in again.items() if k not in moving
    }

    # The same targets in another order are the same targets.
    admin.patch("domain/twice", {"spec": {"kpis": [kpi("care", 1), kpi("speed", 1)]}})
    admin.reconcile("of-twice")
    turned = admin.drift("domain/twice", "of-twice")
    assert (turned["score"], turned["dimensions"]) == (first["score"], first["dimensions"])


def test_a_judgement_names_the_spec_it_judged_and_keeps_its_past(admin: Person) -> None:
    """D-10"""
    place = domain("named", kpis=[kpi("speed", 1)])
    first = judged(admin, place, {"kpis": [{"name": "speed", "value": 0}]})
    admin.patch("domain/named", {"spec": {"kpis": [kpi("speed", 0)]}})
    admin.reconcile("of-named")

    second = admin.drift("domain/named", "of-named")
    assert (first["generation"], second["generation"]) == (1, 2)
    assert (first["drifted"], second["drifted"]) == (True, False)
    (missed,) = said(first, "kpi")
    assert first["evaluatedAt"] <= second["evaluatedAt"]
    assert missed["observed"] == 0


def test_what_is_not_declared_is_not_compared(admin: Person) -> None:
    """O-18"""
    found = judged(
        admin, agent("chatty", "talk"), {"mood": "fine", "errorRate": 0}, domain("talk")
    )

    assert (found["score"], said(found, "field")) == (0, [])


def test_drift_has_a_magnitude_and_an_urgency(admin: Person) -> None:
    """D-12 D-13"""
    wanted = {0: "none", 2: "medium", 5: "high", 10: "critical"}
    targets = [kpi(f"k{number}", 1) for number in range(20)]
    cases = [
        (
            domain(f"urgent-{missed}", kpis=targets),
            {"kpis": [{"name": f"k{n}", "value": int(n >= missed)} for n in range(20)]},
        )
        for missed in wanted
    ]
    only = {"weights": {"kpi": 1, "health": 0}}
    found = all_judged(admin, cases, drift=only, driftThreshold=0.1)

    assert [each["score"] for each in found] == [missed / 20 for missed in wanted]
    assert [each["urgency"] for each in found] == list(wanted.values())


def test_what_belongs_to_nobody_drifts(admin: Person) -> None:
    """I-103"""
    found = judged(admin, agent("orphan", "nowhere"), {"errorRate": 0})

    assert [each["subject"] for each in said(found, "health")] == ["condition/ReferencesResolved"]
    assert found["drifted"]
