"""What controllers want of each kind of resource when it drifts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.promises.callers import Person, until
from tests.promises.organisation import Document, agent, controller, document, domain

pytestmark = [pytest.mark.product, pytest.mark.full]


def labelled(wanted: Document, label: str) -> Document:
    """Put a resource under the controller of a label."""
    wanted["metadata"]["labels"] = {"by": label}
    return wanted


def operations(admin: Person, ref: str) -> list[list[str]]:
    """Return what people are asked about a resource."""
    return [each["operations"] for each in admin.proposals(ref, "pending")]


def done(admin: Person, ref: str) -> set[str]:
    """Return what a controller has done about a resource by itself."""
    told = admin.events(event="controller.action-performed", subject=ref)
    return {str(each["data"]["operation"]) for each in told}


def test_a_domain_gets_agents_and_its_people_are_told(admin: Person) -> None:
    """I-74"""
    tell = {"type": "alert", "operation": "alert-stakeholders", "channels": ["ops"]}
    reply = {"onDrift": [tell, {"type": "reconcile", "strategy": "immediate"}]}
    place = labelled(domain("farm", agents=["goat", "sheep"]), "farm")
    admin.apply(agent("goat", "farm"), agent("sheep", "farm"), place)
    admin.report("domain/farm", {"activeAgents": 1})
    admin.apply(controller("of-farm", "Domain", "farm", actions=reply))

    until(lambda: operations(admin, "domain/farm") == [["scale-agents"]])
    until(lambda: done(admin, "domain/farm") == {"alert-stakeholders"})


def test_gradual_takes_a_bounded_step_and_immediate_the_whole_way(admin: Person) -> None:
    """I-16 I-17"""
    immediate, gradual = scaled(admin, "immediate"), scaled(admin, "gradual")

    assert (immediate["from"], immediate["to"]) == (2, 10)
    assert 2 < gradual["to"] < 10
    admin.report("domain/gradual", {"activeAgents": 6})
    admin.reconcile("of-gradual")
    assert 6 < planned(admin, "gradual")["to"] < 10


def scaled(admin: Person, strategy: str) -> Any:
    """Return how many agents a controller wants for a domain that has 2 of its 10."""
    crew = [f"{strategy}-{number}" for number in range(10)]
    reply = {"onDrift": [{"type": "reconcile", "strategy": strategy}]}
    place = labelled(domain(strategy, agents=crew), strategy)
    admin.apply(*(agent(each, strategy) for each in crew), place)
    admin.report(f"domain/{strategy}", {"activeAgents": 2})
    admin.apply(controller(f"of-{strategy}", "Domain", strategy, actions=reply))
    until(lambda: operations(admin, f"domain/{strategy}"))
    return planned(admin, strategy)


def planned(admin: Person, strategy: str) -> Any:
    (action,) = admin.drift(f"domain/{strategy}", f"of-{strategy}")["plan"]["actions"]
    return action["parameters"]


def test_an_agent_is_restarted_or_throttled(admin: Person) -> None:
    """I-75"""
    admin.apply(domain("stall"))
    admin.apply(agent("faulty", "stall", labels={"by": "stall"}))
    dear = agent("dear", "stall", labels={"by": "stall"}, tokenBudget={"maxDaily": 100})
    admin.apply(dear, controller("of-stall", "Agent", "stall"))
    admin.report("agent/faulty", {"errorRate": 0.2})
    spent = {"tokens": 900, "cost": 0, "currency": "USD", "period": "daily"}
    admin.report("agent/dear", {"errorRate": 0, "costConsumed": spent})

    until(lambda: operations(admin, "agent/faulty") == [["restart"]])
    until(lambda: operations(admin, "agent/dear") == [["throttle"]])


@pytest.mark.parametrize("answer", ["abort", "retry", "compensate"])
def test_a_run_beyond_its_time_ends_as_its_failure_policy_says(admin: Person, answer: str) -> None:
    """I-78"""
    name = f"run-{answer}"
    steps = [{"name": "fill", "agent": f"hand-{answer}", "action": "fill"}]
    spec = {
        "description": "Fills a van.",
        "domainsInvolved": [name],
        "orchestrator": f"hand-{answer}",
        "timeout": "1m",
        "failurePolicy": answer,
        "steps": steps,
        "compensation": [{"step": "fill", "action": "empty", "agent": f"hand-{answer}"}],
    }
    admin.apply(domain(name), agent(f"hand-{answer}", name))
    admin.apply(labelled(document("Workflow", name, spec), name))
    begun = {"state": "executing", "startedAt": "2026-01-01T05:00:00Z", "currentStep": "fill"}
    admin.report(f"workflow/{name}", begun)
    admin.apply(controller(f"of-{name}", "Workflow", name, driftThreshold=0.05))

    until(lambda: operations(admin, f"workflow/{name}") == [[answer]])


def test_a_decision_whose_time_has_come_is_flagged_once(admin: Person) -> None:
    """I-79 I-103"""
    gone = {"id": "a", "statement": "Fuel stays cheap.", "status": "invalidated"}
    about = {"status": "active", "domain": "board", "context": "Vans."}
    review = {"id": "DEC-1", "reviewDate": "2026-01-01", **about}
    failed = {"id": "DEC-2", "reviewDate": "2099-01-01", "assumptions": [gone], **about}
    admin.apply(domain("board"))
    admin.apply(labelled(document("Decision", "vans", review), "board"))
    admin.apply(labelled(document("Decision", "fuel", failed), "board"))
    reply = {"onDrift": [{"type": "alert", "operation": "flag-for-review"}]}
    admin.apply(controller("of-board", "Decision", "board", driftThreshold=0.05, actions=reply))

    until(lambda: done(admin, "decision/vans") == {"flag-for-review"})
    until(lambda: done(admin, "decision/fuel") == {"flag-for-review"})
    admin.reconcile("of-board")
    told = admin.events(event="controller.action-performed", subject="decision/vans")
    assert len(told) == 1


def test_stepping_in_is_exercised_on_the_live_system(admin: Person) -> None:
    """I-97"""
    own = {"domain": "deck", "humanOverride": {"enabled": True, "channels": ["ops"]}}
    admin.apply(domain("deck"), document("Governance", "captain", own))
    assert admin.post("governance/captain/drills").status_code == 202

    def ended() -> bool:
        return bool(admin.items("governance/captain/drills")[0]["state"] == "passed")

    until(ended, 40)
    steps = [each["step"] for each in admin.items("governance/captain/drills")[0]["evidence"]]
    assert steps == ["control", "pause", "attempt", "lift", "afterwards"]
    assert admin.resource("governance/captain")["status"]["lastOverrideTest"]
