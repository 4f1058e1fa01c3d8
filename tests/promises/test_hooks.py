"""What a controller asks before it plans, and what it does after it has reported."""

from __future__ import annotations

from typing import Any

import pytest

from tests.promises.callers import Person, until
from tests.promises.organisation import agent, budget, controller, domain, policy

pytestmark = [pytest.mark.product, pytest.mark.full]

MONEY = "check budget.status.utilizationRate < 0.9"
RULES = "verify securityPolicy.status.violations == 0"


@pytest.fixture(scope="module")
def short_of_hands(admin: Person) -> str:
    """Return a domain that lacks an agent, is almost out of money and breaks a rule."""
    crew = [agent(each, "mill") for each in ("miller", "carter")]
    place = domain(
        "mill", budgetRef="purse", securityPolicyRef="rules", agents=["miller", "carter"]
    )
    place["metadata"]["labels"] = {"by": "mill"}
    admin.apply(*crew, budget("purse", "mill", 100), policy("rules", "mill"), place)
    admin.report("domain/mill", {"activeAgents": 1})
    admin.report("budget/purse", {"utilizationRate": 0.95, "consumed": {"tokens": 95}})
    admin.report("securitypolicy/rules", {"violations": 1})
    return "domain/mill"


def cycle(admin: Person, name: str, hooks: dict[str, Any], **spec: Any) -> Any:
    """Let a controller with hooks look at the domain."""
    admin.apply(controller(name, "Domain", "mill", hooks=hooks, **spec))
    return admin.reconcile(name)


def before(action: str, **more: str) -> dict[str, Any]:
    return {"preReconcile": [{"name": "asks", "action": action, **more}]}


@pytest.mark.quick
def test_a_check_that_does_not_hold_skips_and_says_what_it_saw(
    admin: Person, short_of_hands: str
) -> None:
    """I-23 I-70 F-36 X-03"""
    found = cycle(admin, "thrifty", before(MONEY))

    (hook,) = found["hooks"]
    assert (hook["passed"], hook["reason"]) == (False, "CheckFailed")
    assert hook["observed"] == {"budget.status.utilizationRate": 0.95}
    assert (found["outcome"], found["actions"]) == ("hook_skipped", [])
    said = admin.drift(short_of_hands, "thrifty")
    assert (said["drifted"], said["reason"]) == (True, "HookFailed")
    mine = [e for e in admin.proposals(short_of_hands) if e["proposer"] == "controller/thrifty"]
    assert mine == []
    (error,) = [
        each["data"]
        for each in admin.events(event="controller.error", subject=short_of_hands)
        if each["data"]["controllerName"] == "thrifty"
    ]
    assert (error["phase"], error["error"]) == ("plan", "asks: CheckFailed")


def test_a_verify_reads_the_policy(admin: Person, short_of_hands: str) -> None:
    """I-24 I-90"""
    found = cycle(admin, "lawful", before(RULES))

    (hook,) = found["hooks"]
    assert (hook["passed"], hook["observed"]) == (False, {"securityPolicy.status.violations": 1})


def test_a_check_that_holds_lets_it_plan(admin: Person, short_of_hands: str) -> None:
    """I-23 I-24"""
    found = cycle(admin, "easy", before("check budget.status.utilizationRate < 0.99"))

    assert found["hooks"] == [] or found["hooks"][0]["passed"]
    assert [each["operation"] for each in found["actions"]] == ["scale-agents"]


@pytest.mark.usefixtures("short_of_hands")
def test_what_cannot_be_resolved_never_passes(admin: Person) -> None:
    """I-25"""
    found = cycle(admin, "lost", before("check workflow.status.retries < 1"))

    (hook,) = found["hooks"]
    assert not hook["passed"]
    assert (hook["reason"], found["outcome"]) == ("RefNotFound", "hook_skipped")


@pytest.mark.usefixtures("short_of_hands")
def test_a_hook_may_fail_open_but_not_when_enforcing(admin: Person) -> None:
    """I-50 I-70 X-03"""
    lax = cycle(admin, "lax", before(MONEY, onFailure="failOpen"))
    assert not lax["hooks"][0]["passed"]
    assert [each["operation"] for each in lax["actions"]] == ["scale-agents"]

    strict = cycle(admin, "strict", before(MONEY, onFailure="failOpen"), enforcementMode="enforce")
    assert (strict["outcome"], strict["actions"]) == ("hook_skipped", [])


def test_later_hooks_tell_and_refresh_after_the_report(admin: Person, short_of_hands: str) -> None:
    """I-26 I-27 I-61 F-14"""
    after = [
        {"name": "tell", "event": "mill.looked-at"},
        {"name": "end", "event": "controller.reconciliation-completed"},
        {"name": "stamp", "action": "refresh domain.status.lastEvaluation"},
    ]
    admin.apply(controller("scribe", "Domain", "mill", hooks={"postReconcile": after}))
    found = until(
        lambda: [e for e in admin.items("controllers/scribe/cycles") if "finishedAt" in e]
    )[-1]

    told = [each["type"] for each in admin.events(correlationId=found["correlationId"])]
    assert told.count("mill.looked-at") == told.count("controller.reconciliation-completed") == 1
    assert told.index("controller.drift-detected") < told.index("mill.looked-at")
    assert told[-1] == "controller.reconciliation-completed"
    stamped = admin.resource(short_of_hands)["status"]["lastEvaluation"]
    assert found["startedAt"] <= stamped <= found["finishedAt"]


def test_an_expression_that_is_none_is_refused(admin: Person) -> None:
    """A-06"""
    broken = controller("broken", "Domain", "mill", hooks=before("check ((("))
    said = admin.call("PUT", "resources/controller/broken", broken)

    assert said.status_code == 400
    assert said.json()["pointer"] == "/spec/hooks/preReconcile/0/action"


def test_what_was_held_back_follows_when_the_hook_holds(admin: Person) -> None:
    """I-23"""
    place = domain("barn", budgetRef="barn-purse", agents=["cat", "dog"])
    place["metadata"]["labels"] = {"by": "barn"}
    admin.apply(
        agent("cat", "barn"), agent("dog", "barn"), budget("barn-purse", "barn", 100), place
    )
    admin.report("domain/barn", {"activeAgents": 1})
    admin.report("budget/barn-purse", {"utilizationRate": 0.95, "consumed": {"tokens": 95}})
    admin.apply(controller("of-barn", "Domain", "barn", hooks=before(MONEY)))
    until(lambda: admin.drift("domain/barn", "of-barn").get("reason") == "HookFailed")

    admin.report("budget/barn-purse", {"utilizationRate": 0.5, "consumed": {"tokens": 50}})

    until(lambda: admin.proposals("domain/barn", "pending"))
