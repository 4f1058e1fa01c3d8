"""How far a controller goes by itself, by its mode and by what it wants to do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.promises.callers import People, Person, Tokens, until
from tests.promises.organisation import agent, controller, document, domain, policy

pytestmark = [pytest.mark.product, pytest.mark.full]

BAD = {"errorRate": 0.5}
EVERYTHING = {
    "onDrift": [
        {"type": "alert", "severity": "warning", "channels": ["ops", "chat"]},
        {"type": "log", "level": "info"},
        {"type": "reconcile", "strategy": "immediate"},
    ]
}


def drifted(admin: Person, name: str, **spec: Any) -> None:
    """Let an agent drift under a controller of its own."""
    own = controller(f"of-{name}", "Agent", name, **{"actions": EVERYTHING, **spec})
    admin.apply(domain(f"in-{name}"), agent(name, f"in-{name}", labels={"by": name}), own)
    admin.report(f"agent/{name}", BAD)
    until(lambda: admin.drift(f"agent/{name}", f"of-{name}").get("drifted"))


def asked(admin: Person, name: str) -> list[tuple[str, list[str]]]:
    """Return what is proposed about an agent."""
    return [(each["state"], each["operations"]) for each in admin.proposals(f"agent/{name}")]


def rung(admin: Person, name: str) -> set[tuple[str, str]]:
    """Return the channels that its controller rang, and how loud."""
    return {(e["channel"], e["severity"]) for e in admin.items(f"alerts?controller=of-{name}")}


@pytest.mark.quick
def test_observe_only_records(admin: Person) -> None:
    """I-51 I-56"""
    drifted(admin, "watched", enforcementMode="observe")

    assert admin.events(event="controller.drift-detected", subject="agent/watched")
    assert (asked(admin, "watched"), rung(admin, "watched")) == ([], set())


def test_advise_only_recommends(admin: Person) -> None:
    """I-51 I-55"""
    drifted(admin, "advised", enforcementMode="advise")

    assert asked(admin, "advised") == [("recommended", ["restart"])]
    assert rung(admin, "advised") == set()


@pytest.mark.quick
def test_warn_asks_and_rings_every_channel(admin: Person) -> None:
    """I-14 I-19 I-51 I-54 A-36"""
    drifted(admin, "warned", enforcementMode="warn")

    assert asked(admin, "warned") == [("pending", ["restart"])]
    assert rung(admin, "warned") == {("ops", "warning"), ("chat", "warning")}
    noted = admin.events(event="controller.logged", subject="agent/warned")
    assert [each["data"]["controllerName"] for each in noted] == ["of-warned"]
    admin.reconcile("of-warned")
    assert len(admin.events(event="controller.logged", subject="agent/warned")) == 1
    assert admin.resource("agent/warned")["metadata"]["generation"] == 1


def test_enforce_asks_unless_small_changes_may_be_made_alone(admin: Person) -> None:
    """I-51 I-53 I-104 A-36 X-05"""
    drifted(admin, "enforced", enforcementMode="enforce")
    assert asked(admin, "enforced") == [("pending", ["restart"])]

    drifted(admin, "alone", enforcementMode="enforce", approval="auto")
    (made,) = until(lambda: admin.proposals("agent/alone"))
    assert (made["lane"], made["people"]) == ("run", 0)
    assert made["decidedBy"].startswith("policy/")


def test_enforce_blocks_and_escalates_what_a_policy_forbids(admin: Person, token: Tokens) -> None:
    """I-20 I-51 I-77"""
    reply = {"onDrift": [{"type": "block", "operation": "block-operations"}, {"type": "escalate"}]}
    own = {"driftThreshold": 0.05, "actions": reply}
    for mode in ("observe", "enforce"):
        name = f"rules-{mode}"
        rules = policy(name, "gate", enforcementMode="enforce")
        rules["metadata"]["labels"] = {"by": name}
        admin.apply(
            domain(
                "gate", dataOwnership=[{"name": "rules-enforce-a", "classification": "internal"}]
            ),
            agent("guest", "gate"),
            rules,
            controller(f"of-{name}", "SecurityPolicy", name, enforcementMode=mode, **own),
        )
        admin.report(f"securitypolicy/{name}", {"violations": 1})

    blocked = until(lambda: admin.resource("securitypolicy/rules-enforce")["spec"].get("blocked"))
    assert "read" in blocked["operations"]
    asked = {"operation": "read", "resource": "asset/rules-enforce-a"}
    denied = token("guest").post("admission", asked).json()
    assert (denied["decision"], denied["reasons"][0]["code"]) == ("denied", "OperationBlocked")
    until(lambda: admin.drift("securitypolicy/rules-observe", "of-rules-observe").get("drifted"))
    assert "blocked" not in admin.resource("securitypolicy/rules-observe")["spec"]
    told = admin.events(
        event="controller.action-performed", subject="securitypolicy/rules-enforce"
    )
    assert "escalate" in [each["data"]["operation"] for each in told]


def test_what_cannot_be_undone_needs_a_reason_and_two_people(admin: Person, bo: Person) -> None:
    """D-24 O-62 X-05"""
    fact = {"scope": "domain", "entryType": "context", "content": "The gate sticks."}
    admin.apply(domain("twofold"), document("Memory", "gate-sticks", fact))
    plan = [{"operation": "expire-memory", "parameters": {}}]
    body = {"resource": "memory/gate-sticks", "actions": plan}
    assert admin.post("proposals", body).status_code == 400
    filed = admin.post("proposals", {**body, "why": "It was mended."})
    assert filed.status_code == 201, filed.text
    number = filed.json()["id"]
    assert (filed.json()["state"], filed.json()["people"]) == ("pending", 2)
    assert filed.json()["expiresAt"] > filed.json()["createdAt"]

    said = bo.answer(number, "approve", reason="Yes.")
    assert said.status_code == 200, said.text
    quorum = admin.read(f"proposals/{number}")["quorum"]
    assert (quorum["given"], quorum["missing"]) == (1, 1)
    assert admin.read(f"proposals/{number}")["state"] == "pending"


def test_risk_decides_who_may_approve(admin: Person, people: People) -> None:
    """D-23"""
    admin.apply(domain("risky"), agent("bold", "risky", type="supervised"))
    plan = [{"operation": "take-over", "parameters": {}}]
    filed = admin.post(
        "proposals", {"resource": "agent/bold", "actions": plan, "why": "It strays."}
    )
    assert filed.json()["risk"] == "medium"
    careful = people.invite("careful", "approver", ceiling="low")

    said = careful.answer(filed.json()["id"], "approve", reason="Yes.")
    assert (said.status_code, said.json()["code"]) == (403, "AboveCeiling")


def test_a_report_that_is_too_old_leads_to_no_change(admin: Person) -> None:
    """O-42 X-23"""
    own = {"enforcementMode": "enforce", "approval": "auto", "maxStaleness": "1m"}
    admin.apply(domain("dusty"), agent("dusted", "dusty", labels={"by": "dusty"}))
    admin.apply(controller("of-dusty", "Agent", "dusty", **own))
    old = {"kind": "Agent", "name": "dusted", "observedAt": "2026-01-01T00:00:00Z", "status": BAD}
    assert admin.post("observations", {"items": [old]}).status_code == 200

    (wanted,) = admin.reconcile("of-dusty")["actions"]
    assert (wanted["operation"], wanted["reason"]) == ("restart", "refuse")
    assert admin.proposals("agent/dusted") == []


def test_a_first_look_raises_one_alert(admin: Person) -> None:
    """O-10"""
    names = [f"new-{number}" for number in range(6)]
    crew = [agent(each, "fresh", labels={"by": "fresh"}) for each in names]
    admin.apply(domain("fresh"), *crew)
    for name in names:
        admin.report(f"agent/{name}", BAD)
    ring = {"onDrift": [{"type": "alert", "severity": "warning", "channels": ["ops"]}]}
    admin.apply(controller("of-fresh", "Agent", "fresh", actions=ring))
    until(lambda: admin.drift("agent/new-0", "of-fresh"))

    (only,) = until(lambda: admin.items("alerts?controller=of-fresh"))
    assert (only["reason"], only["message"]) == (
        "FirstLook",
        "First look of of-fresh: 6 of 6 drifted.",
    )
