"""A person is asked: the proposal, the answer, the permit, and what tells the agent."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from controllers import admission, execution
from controllers.decisions import answers
from controllers.loop.cycle_run import Means
from controllers.models import Admission, Endpoint, Proposal
from controllers.narrative import proposal_text
from controllers.operations import endpoints
from tests.api.conftest import Api, apply, assert_fits, issue
from tests.api.serving import serve
from tests.api.spending import (
    agent,
    asked,
    budget,
    codes,
    data,
    events,
    policy,
    redeem,
    warned,
)
from tests.conftest import Clock
from tests.decisions.making import person, seen
from tests.decisions.receiving import receiving

pytestmark = pytest.mark.django_db

LEDGER = {"operation": "write", "resource": "asset/customer-ledger"}
SCOPE = {
    "resource": "customer-ledger",
    "classification": "restricted",
    "allowedAgents": ["robin"],
    "requiresApproval": True,
}


@pytest.fixture
def robin(organisation: None) -> Api:
    """Return an agent that asks a person before it changes anything."""
    apply(agent("robin", governance={"requiresApproval": True}), data("growth", "customer-ledger"))
    return Api(Client(), issue("robin"))


@pytest.fixture
def maya(today: Clock) -> User:
    """Return a manager who may decide everywhere."""
    person(today, "tomas", "approver")
    return person(today, "maya", "approver")


def run() -> None:
    """Let the loop carry out what was approved, and look who waits."""
    execution.run_due("worker", Means(timezone.now))
    admission.sweep(timezone.now())


def approve(found: Any, maya: User) -> None:
    proposal = Proposal.objects.get(pk=found["proposal"])
    answers.approve(proposal.pk, person=maya, seen=seen(proposal), now=timezone.now())


def test_an_operation_that_needs_a_person_waits_for_one(robin: Api, maya: User) -> None:
    found = asked(robin, key="k", why="The customer asked.")
    again = asked(robin, key="k")

    assert_fits(found, "Admission")
    assert (found["decision"], codes(found)) == ("waiting", ["ApprovalRequired"])
    assert "permit" not in found
    assert again["id"] == found["id"]
    proposal = Proposal.objects.get()
    assert (proposal.state, proposal.people, proposal.proposer) == ("pending", 1, "agent/robin")
    assert proposal.explanation == "The customer asked."

    approve(found, maya)
    run()

    given = asked(robin, key="k")
    assert (given["id"], given["decision"]) == (found["id"], "allowed")
    assert robin.get(f"admission/{found['id']}").json()["permit"] == given["permit"]
    assert redeem(robin, given).status_code == 200
    assert asked(robin, key="k")["state"] == "redeemed"


def test_reading_needs_no_person(robin: Api) -> None:
    assert asked(robin, operation="read")["decision"] == "allowed"


def test_a_no_is_an_answer_and_is_remembered(robin: Api, maya: User) -> None:
    found = asked(robin)
    proposal = Proposal.objects.get()
    said: dict[str, Any] = {"person": maya, "seen": seen(proposal), "now": timezone.now()}
    answers.reject(proposal.pk, **said, reason="Not this week.")

    admission.sweep(timezone.now())

    told = robin.get(f"admission/{found['id']}").json()
    assert (told["decision"], codes(told)) == ("denied", ["PeopleSaidNo"])
    assert "Not this week." in told["reasons"][0]["reason"]
    assert codes(asked(robin)) == ["CannotBeAsked"]
    assert Proposal.objects.count() == 1


def test_what_people_changed_is_not_what_was_asked(robin: Api, maya: User) -> None:
    found = asked(robin)
    proposal = Proposal.objects.get()
    edits = {1: {"tokens": 10}}
    said: dict[str, Any] = {"person": maya, "now": timezone.now(), "reason": "Less."}
    changed = answers.change(proposal.pk, seen=seen(proposal), edits=edits, **said)
    tomas = said | {"person": User.objects.get(username="tomas")}
    answers.approve(proposal.pk, seen=seen(changed), **tomas)

    run()

    told = robin.get(f"admission/{found['id']}").json()
    assert (told["decision"], codes(told)) == ("denied", ["PeopleChangedIt"])


def test_one_approval_is_one_permit(robin: Api, maya: User) -> None:
    found = asked(robin)
    approve(found, maya)
    run()
    redeem(robin, robin.get(f"admission/{found['id']}").json())

    again = asked(robin)

    assert (again["decision"], again["id"] == found["id"]) == ("waiting", False)
    assert Proposal.objects.count() == 2


def test_an_approved_permit_that_lapsed_is_made_anew_for_the_same_request(
    robin: Api, maya: User
) -> None:
    found = asked(robin, key="k")
    approve(found, maya)
    run()
    admission.sweep(timezone.now() + timedelta(hours=1))
    assert Admission.objects.get().state == "lapsed"

    again = asked(robin, key="k")

    assert (again["decision"], Proposal.objects.count()) == ("allowed", 1)


def test_a_budget_that_was_spent_meanwhile_beats_the_approval(robin: Api, maya: User) -> None:
    apply(budget())
    found = asked(robin)
    approve(found, maya)
    apply(budget(limits={"tokens": {"monthly": 10}}))

    run()

    told = robin.get(f"admission/{found['id']}").json()
    assert (told["decision"], codes(told)) == ("denied", ["BudgetSpent"])


def test_a_scope_may_ask_for_a_person_as_far_as_its_mode_goes(robin: Api) -> None:
    apply(agent("robin"), policy(dataScopes=[SCOPE]))
    assert codes(asked(robin, **LEDGER)) == ["ScopeAsks"]

    apply(
        agent("robin"),
        policy("second", dataScopes=[]),
        policy("third", "finance", dataScopes=[]),
    )
    relaxed = policy("relaxed", dataScopes=[SCOPE], enforcementMode="warn")
    Proposal.objects.all().delete()
    Admission.objects.all().delete()
    apply(policy(dataScopes=[]), relaxed)
    found = asked(robin, **LEDGER)
    assert (found["decision"], warned(found)) == ("allowed", ["ScopeAsks"])


def test_a_capability_may_ask_for_a_person(robin: Api) -> None:
    risky = {"name": "refund", "type": "orchestration", "requiresApproval": True}
    plain = {"name": "draft", "type": "generation"}
    apply(agent("robin", capabilities=[risky, plain]))

    assert codes(asked(robin, operation="refund")) == ["CapabilityAsks"]
    assert asked(robin, operation="draft")["decision"] == "allowed"


def test_the_question_is_put_to_people_in_words(robin: Api, alice: Api) -> None:
    asked(robin)

    assert (
        proposal_text.question(Proposal.objects.get())
        == "Let robin execute robin once, for 100 tokens?"
    )
    assert len(events("admission.waiting")) == 1


@pytest.mark.django_db(transaction=True)
def test_the_agents_machine_is_told_of_the_answer(
    robin: Api, maya: User, today: Clock, settings: Any
) -> None:
    settings.WEBHOOKS_ALLOW_LOOPBACK = True
    priya = person(today, "priya", "administrator")
    with receiving() as receiver:
        endpoints.register(
            "robin", receiver.url, ["permit-operation"], "growth", person=priya, now=today.now
        )
        found = asked(robin)
        approve(found, maya)
        run()
        admission.sweep(timezone.now() + timedelta(seconds=1))

    [body] = receiver.bodies
    assert body["type"] == "ioa.admission"
    assert (body["data"]["id"], body["data"]["decision"]) == (found["id"], "allowed")
    assert "permit" not in body["data"]
    assert Admission.objects.get().tell_at is None
    assert Endpoint.objects.count() == 1


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_a_long_poll_answers_when_the_person_has(
    real_database: None, organisation: None, today: Clock, tmp_path: Path
) -> None:
    apply(agent("robin", governance={"requiresApproval": True}))
    token = issue("robin")
    maya = person(today, "maya", "approver")
    robin = Api(Client(), token)
    found = asked(robin)
    with serve(tmp_path) as server:
        address = f"{server.url}/api/v1/admission/{found['id']}"
        headers = {"Authorization": f"Bearer {token}"}
        began = time.monotonic()
        early = httpx.get(f"{address}?wait=1s", headers=headers, timeout=20)
        assert early.json()["decision"] == "waiting"
        assert time.monotonic() - began > 0.9

        body = {"operation": "write", "resource": "agent/robin"}
        asking = httpx.post(
            f"{server.url}/api/v1/admission?wait=1s", json=body, headers=headers, timeout=20
        )
        assert (asking.status_code, asking.json()["decision"]) == (200, "waiting")

        told: list[Any] = []
        waiting = threading.Thread(
            target=lambda: told.append(
                httpx.get(f"{address}?wait=30s", headers=headers, timeout=40)
            )
        )
        waiting.start()
        time.sleep(1)
        approve(found, maya)
        run()
        waiting.join(20)

    assert told[0].status_code == 200
    assert told[0].headers["content-type"] == "application/json"
    assert told[0].json()["decision"] == "allowed"
