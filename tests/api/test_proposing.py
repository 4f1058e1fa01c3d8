"""Agents and people propose over HTTP; people decide."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from controllers.models import Proposal
from resources.tables.models import Resource
from tests.api.conftest import Api, issue
from tests.api.deciding import (
    FILING,
    THROTTLE,
    WHY,
    as_person,
    as_user,
    good,
    problem,
    say,
    traces,
)
from tests.conftest import Clock
from tests.decisions.making import agent, person
from tests.rows import every_row

pytestmark = pytest.mark.django_db


@pytest.fixture
def scribe(today: Clock) -> Resource:
    return agent(today)


@pytest.fixture
def maya(today: Clock, db: None) -> Api:
    return as_person(today, "maya", "approver")


@pytest.fixture
def ines(today: Clock, db: None) -> Api:
    return as_person(today, "ines", "operator")


def test_a_person_files_a_proposal(ines: Api, scribe: Resource) -> None:
    answer = ines.post("proposals", FILING)

    found = good(answer, "Proposal", 201)
    assert (found["proposer"], found["state"]) == ("person/ines", "pending")
    assert (found["explanation"], found["operations"]) == (FILING["why"], ["throttle"])
    assert answer["ETag"] == f'"{found["tag"]}"'
    assert found["you"]["code"] == "Proposer"


def test_an_agent_files_a_proposal_that_people_decide(robin: Api, today: Clock) -> None:
    agent(today)
    found = good(robin.post("proposals", FILING), "Proposal", 201)

    assert (found["proposer"], found["state"]) == ("agent/robin", "pending")
    assert found["decisions"] == []


def test_an_agent_that_may_act_alone_shows_by_which_policy(robin: Api, today: Clock) -> None:
    agent(today)
    agent(today, "robin", type="autonomous")
    found = good(robin.post("proposals", FILING), "Proposal", 201)

    assert (found["state"], found["people"], found["lane"]) == ("approved", 0, "run")
    assert [each["by"] for each in found["decisions"]] == ["policy/autonomous"]


def test_an_agent_files_nothing_about_another_domain(robin: Api, today: Clock) -> None:
    agent(today, "clerk", domain="finance")
    problem(robin.post("proposals", FILING | {"resource": "agent/clerk"}), 404, "not-found")
    assert not Proposal.objects.exists()


def test_a_token_needs_the_scope_to_file(organisation: None, scribe: Resource) -> None:
    reader = Api(Client(), issue("robin", "resources:read", "status:write"))

    told = problem(reader.post("proposals", FILING), 403, "forbidden")

    assert told["detail"] == "This token lacks the scope proposals:write."
    assert not Proposal.objects.exists()


def test_who_may_only_look_files_nothing(today: Clock, scribe: Resource) -> None:
    vera = as_person(today, "vera", "viewer")

    assert problem(vera.post("proposals", FILING), 403, "forbidden")["code"] == "NotOperator"
    assert not Proposal.objects.exists()


def test_a_session_needs_its_csrf_token(today: Clock, scribe: Resource) -> None:
    ines = as_user(person(today, "ines", "operator"), enforce_csrf_checks=True)

    assert "CSRF" in problem(ines.post("proposals", FILING), 403, "forbidden")["detail"]
    assert not Proposal.objects.exists()


def test_a_repeated_request_gets_the_same_proposal(robin: Api, today: Clock) -> None:
    agent(today)
    first = robin.post("proposals", FILING, idempotency_key="k1")
    again = robin.post("proposals", FILING, idempotency_key="k1")

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["id"] == first.json()["id"]
    other = robin.post("proposals", FILING | {"why": "Something else."}, idempotency_key="k1")
    assert problem(other, 409, "refused")["current"]["id"] == first.json()["id"]
    assert Proposal.objects.count() == 1


def test_the_same_plan_filed_twice_is_one_proposal(robin: Api, today: Clock) -> None:
    agent(today)
    first, again = (robin.post("proposals", FILING) for _ in range(2))

    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]


def test_what_people_said_no_to_is_not_filed_again(robin: Api, maya: Api, today: Clock) -> None:
    agent(today)
    first = robin.post("proposals", FILING).json()
    say(maya, Proposal.objects.get(), "reject", reason="It has a deadline.")

    told = problem(robin.post("proposals", FILING), 409, "refused")

    assert told["detail"] == "People said no to this before: It has a deadline."
    assert told["current"]["id"] == first["id"]


def test_an_agent_answers_a_request_for_changes(robin: Api, maya: Api, today: Clock) -> None:
    agent(today)
    first = robin.post("proposals", FILING).json()
    path = f"proposals/{first['id']}"
    better = {"actions": [{"operation": "throttle", "parameters": {"factor": 0.8}}], "why": "Less"}
    problem(robin.put(path, better), 409, "decided")
    say(maya, Proposal.objects.get(), "request-changes", reason="Not below 0.7.")

    asked = good(robin.get(path), "Proposal")
    assert (asked["state"], asked["reason"]) == ("changes_requested", "Not below 0.7.")
    problem(maya.put(path, better), 403, "forbidden")
    revised = good(robin.put(path, better), "Proposal")

    assert (revised["id"], revised["revision"], revised["state"]) == (first["id"], 2, "pending")
    assert revised["actions"][0]["parameters"] == {"factor": 0.8}
    assert Proposal.objects.get().proposer == "agent/robin"


HOSTILE: dict[str, Any] = {
    "list": [],
    "text": "hello",
    "nothing": b"null",
    "empty": {},
    "unknown-field": FILING | {"risk": "low"},
    "slash-field": FILING | {"a/b": 1},
    "no-resource": {"actions": [THROTTLE], "why": WHY},
    "resource-number": FILING | {"resource": 1},
    "resource-list": FILING | {"resource": ["agent/scribe"]},
    "resource-null": FILING | {"resource": None},
    "resource-name-only": FILING | {"resource": "scribe"},
    "resource-kind-only": FILING | {"resource": "agent/"},
    "resource-odd-kind": FILING | {"resource": "thing/scribe"},
    "no-actions": {"resource": "agent/scribe", "why": WHY},
    "actions-empty": FILING | {"actions": []},
    "actions-object": FILING | {"actions": THROTTLE},
    "actions-text": FILING | {"actions": ["throttle"]},
    "actions-null": FILING | {"actions": [None]},
    "action-empty": FILING | {"actions": [{}]},
    "actions-21": FILING | {"actions": [THROTTLE] * 21},
    "action-unknown-field": FILING | {"actions": [THROTTLE | {"risk": "low"}]},
    "operation-number": FILING | {"actions": [THROTTLE | {"operation": 1}]},
    "operation-object": FILING | {"actions": [THROTTLE | {"operation": {}}]},
    "operation-unknown": FILING | {"actions": [THROTTLE | {"operation": "explode"}]},
    "operation-for-others": FILING | {"actions": [{"operation": "block-spend"}]},
    "operation-tells": FILING | {"actions": [{"operation": "escalate"}]},
    "parameters-list": FILING | {"actions": [THROTTLE | {"parameters": []}]},
    "parameters-text": FILING | {"actions": [THROTTLE | {"parameters": "x"}]},
    "parameters-null": FILING | {"actions": [THROTTLE | {"parameters": None}]},
    "parameters-missing": FILING | {"actions": [{"operation": "throttle"}]},
    "factor-text": FILING | {"actions": [THROTTLE | {"parameters": {"factor": "x"}}]},
    "factor-zero": FILING | {"actions": [THROTTLE | {"parameters": {"factor": 0}}]},
    "factor-deep": FILING | {"actions": [THROTTLE | {"parameters": {"factor": [[[]]]}}]},
    "another-agent": FILING
    | {"actions": [THROTTLE | {"parameters": {"factor": 0.5, "agent": "robin"}}]},
    "patch-text": FILING
    | {"actions": [{"operation": "modify-spec", "parameters": {"patch": "x"}}]},
    "no-why": {"resource": "agent/scribe", "actions": [THROTTLE]},
    "why-blank": FILING | {"why": "  \n"},
    "why-number": FILING | {"why": 7},
    "why-object": FILING | {"why": {}},
    "why-2001": FILING | {"why": "x" * 2_001},
    "nul": b'{"resource": "agent/scribe", "actions": [], "why": "\\u0000"}',
    "surrogate": b'{"resource": "agent/scribe", "actions": [], "why": "\\ud800"}',
    "nan": b'{"resource": NaN}',
    "cut": b'{"resource": "agent/scr',
    "twice": b'{"why": "a", "why": "b"}',
    "deep": b'{"why": ' + b"[" * 500 + b"]" * 500 + b"}",
    "huge-number": b'{"why": 1e999}',
    "not-utf-8": b'{"why": "\xff"}',
    "no-body": b"",
}


@every_row(
    "body", [pytest.param(body, id=name) for name, body in HOSTILE.items()], rolled_back=True
)
def test_nonsense_is_refused_in_words_and_files_nothing(
    ines: Api, scribe: Resource, body: Any
) -> None:
    before = traces()

    answer = ines.post("proposals", body)

    told = answer.json()
    assert answer.status_code == 400, told
    assert "pointer" in told
    assert told["detail"]
    assert traces() == before


@pytest.mark.parametrize("key", ["x" * 201, "a\tb"])
def test_an_odd_name_of_a_request_is_refused(ines: Api, scribe: Resource, key: str) -> None:
    problem(ines.post("proposals", FILING, idempotency_key=key), 400, "invalid")
