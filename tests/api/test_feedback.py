"""A request for changes reaches the agent with what should be different, and gets an answer."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.models import Proposal
from resources.tables.models import LedgerEvent
from tests.api.conftest import Api
from tests.api.deciding import FILING, WHY, as_person, good, problem, say
from tests.conftest import Clock
from tests.decisions.making import agent

pytestmark = pytest.mark.django_db

FIELDS = ["/actions/0/parameters/factor", "/why"]
SOFTER: dict[str, Any] = {
    "actions": [{"operation": "throttle", "parameters": {"factor": 0.8}}],
    "why": "A little less, as you asked.",
}


@pytest.fixture
def maya(today: Clock, db: None) -> Api:
    return as_person(today, "maya", "approver")


@pytest.fixture
def filed(robin: Api, today: Clock) -> Proposal:
    """A proposal of an agent."""
    agent(today)
    key = good(robin.post("proposals", FILING), "Proposal", 201)["id"]
    return Proposal.objects.get(pk=key)


@pytest.fixture
def sent_back(maya: Api, filed: Proposal) -> Proposal:
    """The same, with a request for changes."""
    assert say(maya, filed, "request-changes", fields=FIELDS).status_code == 200
    filed.refresh_from_db()
    return filed


def test_the_agent_reads_what_should_be_different(robin: Api, sent_back: Proposal) -> None:
    query = "mine=true&state=changes_requested"
    (found,) = good(robin.get("proposals", query), "ProposalList")["items"]

    asked = found["feedback"]
    assert (asked["reason"], asked["by"], asked["fields"]) == (WHY, "person/maya", FIELDS)
    assert (asked["thread"], asked["revision"]) == (sent_back.pk, 1)
    assert asked["at"]
    assert good(robin.get(f"proposals/{sent_back.pk}"), "Proposal")["feedback"] == asked
    entry = LedgerEvent.objects.get(event="proposal.changes-requested")
    assert entry.payload["fields"] == FIELDS


def test_the_answer_joins_the_same_thread_with_a_new_revision(
    robin: Api, maya: Api, sent_back: Proposal
) -> None:
    body = SOFTER | {"revises": sent_back.pk}
    found = good(robin.post("proposals", body, idempotency_key="a1"), "Proposal")

    assert (found["id"], found["revision"], found["state"]) == (sent_back.pk, 2, "pending")
    assert (found["explanation"], "feedback" in found) == (SOFTER["why"], False)
    assert [each["answer"] for each in found["decisions"]] == ["request-changes"]
    assert Proposal.objects.count() == 1
    row = Proposal.objects.get()
    assert say(maya, row, "approve").status_code == 200


def test_a_repeated_answer_gets_what_it_came_to(robin: Api, sent_back: Proposal) -> None:
    body = SOFTER | {"revises": sent_back.pk}
    first = robin.post("proposals", body, idempotency_key="a1").json()

    assert robin.post("proposals", body, idempotency_key="a1").json()["tag"] == first["tag"]
    other = robin.post("proposals", body | {"why": "Other."}, idempotency_key="a1")
    assert "Another answer" in problem(other, 409, "refused")["detail"]
    problem(robin.post("proposals", body), 409, "decided")


def test_only_what_was_sent_back_is_revised(robin: Api, filed: Proposal) -> None:
    told = problem(robin.post("proposals", SOFTER | {"revises": filed.pk}), 409, "decided")

    assert told["detail"] == "Nobody has asked for changes."


@pytest.mark.parametrize("revises", [999, "x", True, None])
def test_what_is_not_there_is_not_revised(robin: Api, filed: Proposal, revises: Any) -> None:
    assert robin.post("proposals", SOFTER | {"revises": revises}).status_code in (400, 404)


@pytest.mark.parametrize(
    "fields",
    [
        "why",
        [7],
        ["why"],
        ["/actions/1/operation"],
        ["/actions/0/risk"],
        ["/actions/0/parameters/a/b"],
        ["/why"] * 21,
    ],
)
def test_only_places_in_the_plan_are_named(maya: Api, filed: Proposal, fields: Any) -> None:
    problem(say(maya, filed, "request-changes", fields=fields), 400, "invalid")
    filed.refresh_from_db()
    assert (filed.state, filed.feedback) == ("pending", {})
