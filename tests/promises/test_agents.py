"""What agents may ask, tell and spend, and what comes of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.journeys.product import Product
from tests.promises.callers import Caller, Person, Tokens, until
from tests.promises.organisation import agent, budget, controller, document, domain

pytestmark = [pytest.mark.product, pytest.mark.full]

ASSETS = [
    {"name": "repo", "classification": "internal"},
    {"name": "safe", "classification": "restricted"},
]


@pytest.fixture(scope="module")
def coder(admin: Person, token: Tokens) -> Caller:
    """Return an agent of a domain with rules and little money, and another domain beside it."""
    scopes = [
        scope("repo", "internal", allowedAgents=["coder"]),
        scope("safe", "restricted", allowedAgents=["coder"], requiresApproval=True),
    ]
    rules = {"domain": "lab", "enforcementMode": "enforce", "dataScopes": scopes}
    admin.apply(
        domain("lab", dataOwnership=ASSETS),
        agent("coder", "lab"),
        document("SecurityPolicy", "lab-rules", rules),
        budget("lab-purse", "lab", 1000, enforcement="enforce"),
        domain("other"),
        agent("stranger", "other"),
    )
    return token("coder")


def scope(name: str, classification: str, **more: Any) -> dict[str, Any]:
    own = {"resource": name, "classification": classification, "allowedOperations": ["read"]}
    return {**own, **more}


def asks(line: Caller, operation: str, resource: str, **more: Any) -> tuple[str, list[str]]:
    """Ask, and return the decision with the codes of its reasons."""
    said = line.post("admission", {"operation": operation, "resource": resource, **more})
    assert said.status_code == 200, said.text
    found = said.json()
    return found["decision"], [each["code"] for each in found["reasons"]]


def test_what_complies_is_allowed_and_the_rest_is_denied_with_the_rule(
    coder: Caller, admin: Person
) -> None:
    assert asks(coder, "read", "asset/repo") == ("allowed", [])
    assert asks(coder, "write", "asset/repo") == ("denied", ["OutsideScope"])
    spent = {"tokens": {"input": 2000, "output": 0}}
    assert asks(coder, "read", "asset/repo", **spent) == ("denied", ["BudgetSpent"])
    (told,) = [
        each["data"]
        for each in admin.events(event="system.security_access_denied", subject="agent/coder")
    ][:1]
    assert (told["operation"], told["code"]) == ("write", "OutsideScope")


def test_a_budget_that_warns_lets_it_happen_and_says_so(admin: Person, token: Tokens) -> None:
    """I-54"""
    admin.apply(domain("mild"), agent("mild-one", "mild"), budget("mild-purse", "mild", 10))
    said = token("mild-one").post(
        "admission",
        {"operation": "read", "resource": "agent/mild-one", "tokens": {"input": 99, "output": 0}},
    )
    found = said.json()

    assert found["decision"] == "allowed", said.text
    assert [each["code"] for each in found["warnings"]] == ["BudgetSpent"]


@pytest.mark.quick
def test_a_person_is_asked_where_a_scope_says_so(coder: Caller, admin: Person) -> None:
    """I-104"""
    asked = coder.post("admission", {"operation": "read", "resource": "asset/safe"}).json()
    assert asked["decision"] == "waiting"

    assert admin.answer(asked["proposal"], "approve", reason="Once.").status_code == 200
    done = until(
        lambda: (f := coder.read(f"admission/{asked['id']}"))["decision"] == "allowed" and f
    )
    permit = {"operation": "read", "resource": "asset/safe", "permit": done["permit"]}
    assert coder.post(f"admission/{asked['id']}/redeem", permit).status_code == 200
    again = coder.post(f"admission/{asked['id']}/redeem", permit)
    assert again.status_code >= 400


def test_an_agent_speaks_for_itself_in_its_own_domain(coder: Caller, admin: Person) -> None:
    """I-82"""
    assert coder.call("PUT", "resources/agent/stranger/status", {"state": "idle"}).status_code in (
        403,
        404,
    )
    assert coder.get("resources/agent/stranger").status_code == 404
    assert coder.call("PUT", "resources/domain/mine", domain("mine")).status_code == 403
    assert coder.call("DELETE", "resources/agent/coder").status_code == 403
    tried = admin.events(event="token.refused", subject="agent/coder")
    assert tried


def test_a_token_does_only_what_its_scope_says(
    admin: Person, product: Product, token: Tokens
) -> None:
    """F-54"""
    admin.apply(domain("small"), agent("reader", "small"))
    reader = token("reader", "resources:read")

    assert reader.get("resources/agent/reader").status_code == 200
    body = {"state": "idle"}
    assert reader.call("PUT", "resources/agent/reader/status", body).status_code == 403
    listed = product.run("token", "list", "reader").stdout.splitlines()
    assert product.run("token", "revoke", listed[1].split()[0]).returncode == 0
    assert reader.get("resources/agent/reader").status_code == 401


@pytest.mark.usefixtures("coder")
def test_an_outside_controller_has_the_same_verbs(admin: Person, token: Tokens) -> None:
    """I-01 I-81 I-82 I-93"""
    admin.apply(domain("yard"), agent("crane", "yard", labels={"by": "yard"}))
    admin.apply(domain("port"), agent("winch", "port", labels={"by": "yard"}))
    admin.apply(controller("outsider", "Agent", "yard", runner="external"))
    line = token("controller/outsider")
    opened = line.post("controllers/outsider/cycles")
    assert opened.status_code == 201, opened.text
    number, fence = opened.json()["cycle"]["number"], opened.json()["fence"]
    version = line.resource("agent/crane")["metadata"]["resourceVersion"]
    # It looks across domains, and no further than its selector.
    assert line.get("resources/agent/winch").status_code == 200
    assert line.get("resources/agent/stranger").status_code == 404
    assert line.patch("agent/crane", {"spec": {"purpose": "Mine."}}).status_code == 403
    finding = {
        "resource": "agent/crane",
        "version": version,
        "dimensions": {"kpi": {"score": 1.0}},
        "actions": [{"operation": "restart", "why": "It hangs."}],
    }
    sent = line.post(
        f"controllers/outsider/cycles/{number}/findings", {"fence": fence, "findings": [finding]}
    )
    assert sent.status_code == 200, sent.text

    found = admin.drift("agent/crane", "outsider")
    assert found["drifted"]
    (asked,) = admin.proposals("agent/crane", "pending")
    assert (asked["proposer"], asked["operations"]) == ("controller/outsider", ["restart"])
    (cycle,) = admin.items("controllers/outsider/cycles")
    assert cycle["holder"].startswith("token/")
    told = admin.events(correlationId=cycle["correlationId"])
    assert {each["actor"] for each in told} >= {"controller/outsider"}


def test_telemetry_is_counted_once_and_becomes_a_status(coder: Caller, admin: Person) -> None:
    """A-01 A-28 A-29"""
    contract = {"event": "lab.parcel_packed", "category": "metric", "source": {"agent": "coder"}}
    admin.apply(document("Telemetry", "packed", contract))
    events = [{"event": "lab.parcel_packed", "id": f"p{number}"} for number in range(100)]
    sent = coder.post("telemetry", {"items": events})
    assert sent.status_code == 200, sent.text
    assert {each["verdict"] for each in sent.json()["items"]} == {"accepted"}
    again = coder.post("telemetry", {"items": events[:1]}).json()["items"]
    assert again[0]["verdict"] != "accepted"

    # What was told is summed up every few seconds.
    until(lambda: admin.resource("telemetry/packed").get("status", {}).get("lastEmitted"), 60)
    stored = admin.items("telemetry?event=lab.parcel_packed&limit=200")
    assert len(stored) == 100


def test_what_nobody_declared_is_marked_and_a_bad_event_refused_alone(coder: Caller) -> None:
    """A-09"""
    sent = coder.post(
        "telemetry",
        {"items": [{"event": "lab.unheard", "id": "n1"}, {"event": "not a name", "id": "n2"}]},
    )
    verdicts = [(each["verdict"], each["flags"]) for each in sent.json()["items"]]

    assert verdicts[0] == ("flagged", ["uncontracted"])
    assert verdicts[1][0] == "refused"


def test_intake_has_limits(coder: Caller, admin: Person) -> None:
    """A-33"""
    assert coder.call("DELETE", "telemetry").status_code == 405
    huge = {"texts": ["x" * 60_000] * 150}
    large = coder.post("telemetry", {"event": "lab.large", "payload": huge})
    assert large.status_code == 413
    spent = {"id": "bill-1", "tokens": {"input": 5, "output": 5}}
    first = coder.post("usage", spent).json()["items"][0]["verdict"]
    again = coder.post("usage", spent).json()["items"][0]["verdict"]
    assert first == "counted"
    assert again != "counted"


def test_many_reports_come_at_once_each_with_its_verdict(admin: Person) -> None:
    """A-28"""
    admin.apply(domain("bulk"), agent("bulk-1", "bulk"), agent("bulk-2", "bulk"))
    items = [
        {"kind": "Agent", "name": "bulk-1", "status": {"errorRate": 0.1}},
        {"kind": "Agent", "name": "missing", "status": {"errorRate": 0.1}},
        {"kind": "Agent", "name": "bulk-2", "status": {"errorRate": 0.2}},
    ]
    sent = admin.post("observations", {"items": items})
    assert sent.status_code in (200, 207), sent.text
    assert admin.resource("agent/bulk-2")["status"]["errorRate"] == 0.2


def test_budgets_ring_once_for_each_threshold(admin: Person, token: Tokens) -> None:
    """I-76"""
    alerts = [{"threshold": 0.7, "severity": "info"}, {"threshold": 0.9, "severity": "warning"}]
    admin.apply(domain("purse"), agent("spender", "purse"))
    admin.apply(budget("ringing", "purse", 100, alerts=alerts))
    line = token("spender")
    for number in range(4):
        line.post("usage", {"id": f"s{number}", "tokens": {"input": 24, "output": 0}})

    def rung() -> list[Any]:
        found = admin.items("alerts?limit=200")
        return [each for each in found if each["resource"] == "budget/ringing"]

    until(lambda: len(rung()) >= 2)
    assert sorted(each["severity"] for each in rung()) == ["info", "warning"]
