"""What people say about proposals, over HTTP: bound to what they saw, and never by a token."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from controllers.decisions import answers
from controllers.models import Decision, Hold, Proposal, WorkItem
from resources.tables import ledger
from tests.api.conftest import Api
from tests.api.deciding import WHY, as_person, as_user, good, problem, say, traces
from tests.conftest import Clock
from tests.decisions.making import agent, controller, person, proposal
from tests.resources.making import live
from tests.rows import every_row

pytestmark = [pytest.mark.django_db, pytest.mark.full]

ALL = [each.name for each in answers.ALL if each.in_api]
BOUND = [each.name for each in answers.ALL if each.in_api and each.bound]
VERSION = {
    "dimension": "field",
    "subject": "field/spec.model.version",
    "verdict": "missed",
    "desired": "1",
    "observed": "2",
    "note": "drifted",
}


@pytest.fixture
def pending(today: Clock) -> Proposal:
    model = {"provider": "acme", "name": "quill", "version": "1"}
    target = agent(today, model=model)
    return proposal(today, target, controller(today), score=0.4, evidence=[VERSION])


@pytest.fixture
def maya(today: Clock, db: None) -> Api:
    return as_person(today, "maya", "approver")


@pytest.fixture
def tomas(today: Clock, db: None) -> Api:
    return as_person(today, "tomas", "approver")


@pytest.fixture
def ines(today: Clock, db: None) -> Api:
    return as_person(today, "ines", "operator")


def text(at: datetime) -> str:
    return ledger.instant(at)


# Each answer.


@pytest.mark.parametrize(
    ("answer", "body", "state"),
    [
        ("approve", {}, "approved"),
        ("reject", {}, "rejected"),
        ("change", {"actions": [{"sequence": 1, "parameters": {"factor": 0.3}}]}, "pending"),
        ("override", {"path": "spec.tokenBudget.maxDaily", "value": 7}, "overridden"),
        ("override", {}, "overridden"),
        ("adopt", {}, "converged"),
        ("accept", {"until": "{tomorrow}"}, "rejected"),
        ("snooze", {"until": "{tomorrow}"}, "pending"),
        ("snooze", {"worse": True}, "pending"),
        ("request-changes", {}, "changes_requested"),
        ("break-glass", {"reason": "The house is on fire."}, "approved"),
        ("extend", {"until": "{in ten days}"}, "pending"),
    ],
)
def test_each_answer_leads_to_its_state(
    maya: Api, today: Clock, pending: Proposal, answer: str, body: dict[str, Any], state: str
) -> None:
    times = {
        "{tomorrow}": text(today.now + timedelta(days=1)),
        "{in ten days}": text(today.now + timedelta(days=10)),
    }
    at = {"until": times[body["until"]]} if "until" in body else {}

    reply = say(maya, pending, answer, **body | at)

    found = good(reply, "Proposal")
    pending.refresh_from_db()
    assert (found["state"], pending.state) == (state, state)
    assert reply["ETag"] == f'"{pending.tag}"'


def test_an_approval_is_told_with_what_was_shown(maya: Api, pending: Proposal) -> None:
    found = good(say(maya, pending, "approve"), "Proposal")

    [vote] = found["decisions"]
    assert (vote["by"], vote["answer"], vote["reason"]) == ("person/maya", "approve", WHY)
    assert (vote["revision"], vote["shown"]) == (1, pending.action_digest)
    assert (found["answer"], found["decidedBy"]) == ("approve", "person/maya")
    assert found["executeBefore"] > found["decidedAt"]
    assert found["allowed"] == ["override", "withdraw"]
    assert (found["deciders"], "you" in found) == ([], False)


def test_what_is_approved_under_a_hold_says_that_it_waits(maya: Api, pending: Proposal) -> None:
    """From when the hold is placed until it is lifted, whoever has tried meanwhile."""
    pause = {"kind": "pause", "scope": "controller", "controller": "keeper", "reason": WHY}
    hold = maya.post("holds", pause).json()["hold"]["id"]

    held = good(say(maya, pending, "approve"), "Proposal")["held"]

    assert (held["code"], held["hold"]) == ("Paused", hold)
    assert held["reason"].endswith(f"by person/maya: {WHY}")
    Proposal.objects.update(held=held["code"], held_reason=held["reason"])
    maya.post(f"holds/{hold}/lift", {"reason": WHY})
    assert "held" not in good(maya.get(f"proposals/{pending.pk}"), "Proposal")


def test_what_else_keeps_it_back_is_told(maya: Api, pending: Proposal) -> None:
    Proposal.objects.update(held="BreakerOpen", held_reason="It failed five times.")

    found = good(maya.get(f"proposals/{pending.pk}"), "Proposal")

    assert found["held"] == {"code": "BreakerOpen", "reason": "It failed five times."}


def test_a_routine_approval_needs_no_body(maya: Api, pending: Proposal) -> None:
    answer = maya.post(f"proposals/{pending.pk}/approve", b"", if_match=f'"{pending.tag}"')

    assert good(answer, "Proposal")["state"] == "approved"


@pytest.mark.parametrize("spelling", ['"{}"', "{}", 'W/"{}"'])
def test_a_tag_may_come_weakened_or_bare(maya: Api, pending: Proposal, spelling: str) -> None:
    tag = spelling.format(pending.tag)
    answer = maya.post(f"proposals/{pending.pk}/approve", {}, if_match=tag)

    assert good(answer, "Proposal")["state"] == "approved"


def test_two_people_approve_and_the_first_sees_it_wait(
    maya: Api, tomas: Api, pending: Proposal
) -> None:
    Proposal.objects.update(people=2)

    assert good(say(maya, pending, "approve"), "Proposal")["state"] == "pending"
    found = good(say(tomas, pending, "approve"), "Proposal")

    assert found["state"] == "approved"
    assert [each["by"] for each in found["decisions"]] == ["person/maya", "person/tomas"]


def test_an_override_holds_what_a_person_wants_instead(maya: Api, pending: Proposal) -> None:
    say(maya, pending, "override", path="spec.tokenBudget.maxDaily", value=7)

    hold = Hold.objects.get()
    assert (hold.kind, hold.value, hold.former, hold.proposal_id) == (
        "override",
        7,
        1_000_000,
        pending.pk,
    )
    assert live("Agent", "scribe").spec["tokenBudget"]["maxDaily"] == 7


def test_what_was_approved_is_taken_back(maya: Api, pending: Proposal) -> None:
    say(maya, pending, "approve")

    assert good(say(maya, pending, "withdraw"), "Proposal")["state"] == "withdrawn"


def test_what_was_done_is_undone_while_its_window_is_open(
    ines: Api, today: Clock, pending: Proposal
) -> None:
    Proposal.objects.update(state="succeeded", undo_until=today.now + timedelta(hours=1))
    assert ines.get(f"proposals/{pending.pk}").json()["allowed"] == ["undo"]

    found = good(say(ines, pending, "undo"), "Proposal")

    assert (found["state"], found["undoing"], found["allowed"]) == ("approved", True, [])


def test_the_end_of_its_window_is_too_late_for_an_undo(
    ines: Api, today: Clock, pending: Proposal
) -> None:
    Proposal.objects.update(state="succeeded", undo_until=today.now - timedelta(hours=1))

    told = problem(say(ines, pending, "undo"), 410, "expired")

    assert told["detail"].startswith("It could be undone until")
    assert "repropose" not in told["detail"]
    assert told["allowed"] == []


def test_a_person_says_what_became_of_what_nobody_saw(ines: Api, pending: Proposal) -> None:
    Proposal.objects.update(state="unknown")

    assert good(say(ines, pending, "resolve", outcome="failed"), "Proposal")["state"] == "failed"


def test_somebody_else_reviews_what_was_approved_alone(
    maya: Api, tomas: Api, pending: Proposal
) -> None:
    say(maya, pending, "break-glass", reason="The house is on fire.")
    path = f"proposals/{pending.pk}"
    broken = good(maya.get(path), "Proposal")
    assert "review" in broken["allowed"]
    assert (broken["deciders"], broken["you"]["code"]) == (["tomas"], "OwnEmergency")

    told = problem(maya.post(f"{path}/review", {"reason": WHY}), 403, "forbidden")
    assert told["code"] == "OwnEmergency"
    found = good(tomas.post(f"{path}/review", {"reason": WHY}), "Proposal")

    assert "review" not in found["allowed"]
    assert "reviewBy" not in found


def test_what_is_late_is_proposed_again(ines: Api, today: Clock, pending: Proposal) -> None:
    vera = as_person(today, "vera", "viewer")
    Proposal.objects.update(expires_at=today.now - timedelta(minutes=1))
    path = f"proposals/{pending.pk}/repropose"

    assert problem(vera.post(path, {"reason": WHY}), 403, "forbidden")["code"] == "NotOperator"
    found = good(ines.post(path, {"reason": WHY}), "Proposal")

    assert (found["state"], found["allowed"]) == ("expired", ["repropose"])
    assert WorkItem.objects.get().resource == pending.resource


# What is refused.


@every_row("answer", BOUND, rolled_back=True)
def test_no_answer_without_saying_what_was_seen(maya: Api, pending: Proposal, answer: str) -> None:
    """I8"""
    before = traces()
    reply = maya.post(f"proposals/{pending.pk}/{answer}", {"reason": WHY})

    told = problem(reply, 428, "precondition-required")

    assert "If-Match" in told["detail"]
    assert traces() == before


def test_an_answer_to_what_has_changed_says_what(maya: Api, tomas: Api, pending: Proposal) -> None:
    """I8: nobody approves what they have not seen."""
    say(maya, pending, "change", actions=[{"sequence": 1, "parameters": {"factor": 0.3}}])
    now = Proposal.objects.get()
    say(maya, now, "change", actions=[{"sequence": 1, "parameters": {"factor": 0.2}}])

    told = problem(say(tomas, now, "approve"), 409, "changed")

    assert (told["current"]["revision"], told["current"]["state"]) == (3, "pending")
    assert [(each["before"], each["after"]) for each in told["changes"]] == [(0.3, 0.2)]
    assert "approve" in told["allowed"]
    again = say(tomas, now, "approve", tag=told["current"]["tag"])
    assert good(again, "Proposal")["state"] == "approved"


def test_who_comes_second_is_told_who_won(maya: Api, tomas: Api, pending: Proposal) -> None:
    """I4"""
    say(tomas, pending, "reject", reason="It has a deadline.")

    told = problem(say(maya, pending, "approve"), 409, "decided")

    assert told["detail"].startswith("It is rejected, decided by person/tomas")
    assert told["detail"].endswith("It has a deadline.")
    assert (told["current"]["decidedBy"], told["allowed"]) == ("person/tomas", [])


def test_what_does_not_fit_the_state_lists_what_does(maya: Api, pending: Proposal) -> None:
    told = problem(say(maya, pending, "undo"), 409, "decided")

    assert told["detail"] == "A proposal that is pending cannot be undone."
    assert "approve" in told["allowed"]


def test_an_answer_after_the_end_is_too_late(maya: Api, today: Clock, pending: Proposal) -> None:
    """I23: by the clock, whether or not anybody swept."""
    Proposal.objects.update(expires_at=today.now - timedelta(minutes=1))

    told = problem(say(maya, pending, "approve"), 410, "expired")

    assert told["detail"].endswith("POST …/repropose has it looked at again now.")
    assert told["allowed"] == ["repropose"]
    assert Decision.objects.count() == 0


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"proposer": "person/maya"}, "Proposer"),
        ({"interested": ["maya"]}, "Interested"),
        ({"risk": "high"}, "AboveCeiling"),
    ],
)
def test_who_may_not_decide_hears_by_which_rule(
    today: Clock, pending: Proposal, given: dict[str, Any], code: str
) -> None:
    """I-106 I9"""
    maya = as_person(today, "maya", "approver", ceiling="medium")
    Proposal.objects.update(**given)

    assert problem(say(maya, pending, "approve"), 403, "forbidden")["code"] == code
    assert Proposal.objects.get().state == "pending"


def test_an_approver_of_another_domain_decides_nothing_here(
    today: Clock, pending: Proposal
) -> None:
    other = as_person(today, "omar", "approver", domain="finance")

    problem(say(other, pending, "approve"), 404, "not-found")


def test_a_superuser_without_the_role_decides_nothing(today: Clock, pending: Proposal) -> None:
    """Nobody stands above the rules."""
    root = person(today, "root", "viewer")
    root.is_staff = root.is_superuser = True
    root.save()
    for answer in ("approve", "reject", "break-glass"):
        reply = say(as_user(root), pending, answer, reason="I am the administrator.")
        assert problem(reply, 403, "forbidden")["code"] == "NotApprover"


def test_a_hold_stands_in_the_way_of_a_broken_glass(maya: Api, pending: Proposal) -> None:
    hold = {"kind": "stop", "scope": "organisation", "reason": WHY}
    assert maya.post("holds", hold).status_code == 201

    problem(say(maya, pending, "break-glass", reason="The house is on fire."), 423, "stopped")


# Tokens.


@pytest.mark.parametrize("answer", ALL)
def test_no_token_ever_answers(robin: Api, today: Clock, answer: str) -> None:
    """Not even with every scope, and not about its own."""
    row = proposal(today, agent(today), proposer="agent/robin")
    before = traces()

    told = problem(say(robin, row, answer), 403, "forbidden")

    assert told["detail"] == "Only people decide, lift and resume: a token never does."
    assert traces() == before


def test_no_token_decides_many(robin: Api, pending: Proposal) -> None:
    body = {"answer": "approve", "items": [{"id": pending.pk, "tag": pending.tag}]}
    problem(robin.post("proposals/decide", body), 403, "forbidden")
    assert Proposal.objects.get().state == "pending"


def test_a_token_beside_a_session_is_a_token(maya: Api, robin: Api, pending: Proposal) -> None:
    """Whoever sends a token speaks as its agent, whoever else is signed in."""
    both = Api(maya.client)
    both.headers = robin.headers
    problem(say(both, pending, "approve"), 403, "forbidden")


def test_nobody_answers_without_signing_in(stranger: Api, pending: Proposal) -> None:
    for answer in ALL:
        problem(say(stranger, pending, answer), 401, "not-signed-in")
    problem(stranger.post("proposals/decide", {}), 401, "not-signed-in")


def test_a_session_needs_its_csrf_token(today: Clock, pending: Proposal) -> None:
    maya = as_user(person(today, "maya", "approver"), enforce_csrf_checks=True)
    item = {"id": pending.pk, "tag": pending.tag}

    for answer in (
        *(say(maya, pending, each) for each in ALL),
        maya.post("proposals/decide", {"answer": "approve", "items": [item]}),
    ):
        assert "CSRF" in problem(answer, 403, "forbidden")["detail"]
    assert Proposal.objects.get().state == "pending"


def test_an_answer_nobody_knows_is_not_found(maya: Api, pending: Proposal) -> None:
    told = problem(say(maya, pending, "bless"), 404, "not-found")

    assert told["allowed"] == ALL


# Many at once.


@pytest.fixture
def several(today: Clock, pending: Proposal) -> list[Proposal]:
    """Four, of which the third is of high risk."""
    risks = ("low", "high", "medium")
    return [
        pending,
        *(proposal(today, agent(today, f"a{n}"), risk=risk) for n, risk in enumerate(risks)),
    ]


def test_many_are_decided_one_by_one(maya: Api, tomas: Api, several: list[Proposal]) -> None:
    """One that somebody changed, one of high risk and one unknown do not keep the others back."""
    stale, fresh, high, decided = several
    items = [{"id": each.pk, "tag": each.tag} for each in several]
    say(tomas, stale, "change", actions=[{"sequence": 1, "parameters": {"factor": 0.3}}])
    say(tomas, decided, "reject")
    items.append({"id": 999_999, "tag": fresh.tag})

    found = good(
        maya.post("proposals/decide", {"answer": "approve", "items": items}), "ManyResults"
    )

    words = {each["id"]: each["result"] for each in found["items"]}
    assert words == {
        stale.pk: "changed",
        fresh.pk: "done",
        high.pk: "excluded",
        decided.pk: "decided",
        999_999: "missing",
    }
    assert found["done"] == 1
    stale.refresh_from_db()
    assert found["items"][0]["tag"] == stale.tag
    assert Proposal.objects.filter(state="approved").get() == fresh


def test_many_are_put_off_until_a_time(maya: Api, today: Clock, several: list[Proposal]) -> None:
    items = [{"id": each.pk, "tag": f'"{each.tag}"'} for each in several]
    until = today.now + timedelta(days=1)
    body = {"answer": "snooze", "reason": WHY, "until": text(until), "items": items}

    assert maya.post("proposals/decide", body).json()["done"] == 3
    assert maya.get("proposals", "mine=true").json()["items"][0]["id"] == several[2].pk


TAG = "1:" + "a" * 64
MANY: dict[str, Any] = {"answer": "approve", "items": [{"id": 1, "tag": TAG}]}
LATER = "2126-01-01T00:00:00Z"
BAD_MANY: dict[str, Any] = {
    "list": [],
    "null": b"null",
    "unknown-field": MANY | {"force": True},
    "no-answer": {"items": MANY["items"]},
    "odd-answer": MANY | {"answer": "bless"},
    "single-answer": MANY | {"answer": "override"},
    "underscore": MANY | {"answer": "request_changes"},
    "answer-list": MANY | {"answer": ["approve"]},
    "no-items": {"answer": "approve"},
    "items-empty": MANY | {"items": []},
    "items-object": MANY | {"items": {"1": TAG}},
    "items-number": MANY | {"items": [1]},
    "item-without-tag": MANY | {"items": [{"id": 1}]},
    "item-with-more": MANY | {"items": [{"id": 1, "tag": TAG, "x": 1}]},
    "id-text": MANY | {"items": [{"id": "1", "tag": TAG}]},
    "id-true": MANY | {"items": [{"id": True, "tag": TAG}]},
    "id-huge": b'{"answer": "approve", "items": [{"id": 99999999999999999999, "tag": "x"}]}',
    "tag-short": MANY | {"items": [{"id": 1, "tag": "1:abc"}]},
    "tag-number": MANY | {"items": [{"id": 1, "tag": 1}]},
    "items-201": MANY | {"items": MANY["items"] * 201},
    "accept-without-until": MANY | {"answer": "accept", "reason": WHY},
    "until-odd": MANY | {"answer": "snooze", "reason": WHY, "until": "tomorrow"},
    "worse-text": MANY | {"answer": "snooze", "reason": WHY, "worse": "yes"},
    "reason-number": MANY | {"reason": 1},
}
BAD_ANSWERS: list[tuple[str, Any]] = [
    ("approve", []),
    ("approve", "yes"),
    ("approve", b"null"),
    ("approve", {"force": True}),
    ("approve", {"reason": 7}),
    ("approve", {"reason": None}),
    ("approve", {"reason": "x" * 2_001}),
    ("approve", b'{"reason": "\\u0000"}'),
    ("approve", b'{"reason": "\\ud800"}'),
    ("approve", b'{"reason": "'),
    ("approve", b'{"reason": NaN}'),
    ("reject", {}),
    ("reject", {"reason": "  "}),
    ("reject", {"reason": ["no"]}),
    ("change", {"reason": WHY}),
    ("change", {"reason": WHY, "actions": {}}),
    ("change", {"reason": WHY, "actions": []}),
    ("change", {"reason": WHY, "actions": [1]}),
    ("change", {"reason": WHY, "actions": [{"sequence": 1}]}),
    ("change", {"reason": WHY, "actions": [{"sequence": True, "parameters": {}}]}),
    ("change", {"reason": WHY, "actions": [{"sequence": "1", "parameters": {}}]}),
    ("change", {"reason": WHY, "actions": [{"sequence": 1, "parameters": []}]}),
    ("change", {"reason": WHY, "actions": [{"sequence": 9, "parameters": {}}]}),
    ("change", {"reason": WHY, "actions": [{"sequence": 1, "parameters": {}}]}),
    ("change", {"reason": WHY, "actions": [{"sequence": 1, "parameters": {"factor": 9}}]}),
    ("override", {"reason": WHY, "path": 1}),
    ("override", {"reason": WHY, "path": "../../etc"}),
    ("override", {"reason": WHY, "path": "status.state", "value": 1}),
    ("override", {"reason": WHY, "value": 1}),
    ("override", {"reason": WHY, "path": "spec.tokenBudget.maxDaily", "value": {"a": []}}),
    ("override", {"reason": WHY, "path": "spec.type.x", "value": 1}),
    ("override", {"reason": WHY, "until": "2020-01-01T00:00:00Z"}),
    ("override", {"reason": WHY, "until": LATER}),
    ("accept", {"reason": WHY}),
    ("accept", {"reason": WHY, "until": None}),
    ("accept", {"reason": WHY, "until": 1}),
    ("accept", {"reason": WHY, "until": "2126-01-01"}),
    ("accept", {"reason": WHY, "until": "2126-01-01T00:00:00"}),
    ("accept", {"reason": WHY, "until": "0001-01-01T00:00:00+23:59"}),
    ("accept", {"reason": WHY, "until": "2020-01-01T00:00:00Z"}),
    ("snooze", {"reason": WHY}),
    ("snooze", {"reason": WHY, "worse": 1}),
    ("snooze", {"reason": WHY, "until": LATER}),
    ("extend", {"reason": WHY}),
    ("extend", {"reason": WHY, "until": LATER}),
    ("extend", {"reason": WHY, "until": "2020-01-01T00:00:00Z"}),
    ("resolve", {"reason": WHY}),
    ("resolve", {"reason": WHY, "outcome": "fine"}),
    ("resolve", {"reason": WHY, "outcome": ["failed"]}),
    ("break-glass", {"reason": "Fire."}),
    ("review", {"reason": WHY}),
    ("repropose", {"reason": 1}),
]


@every_row(("answer", "body"), BAD_ANSWERS, rolled_back=True)
def test_an_answer_that_makes_no_sense_is_refused_in_words(
    maya: Api, pending: Proposal, answer: str, body: Any
) -> None:
    before = traces()

    reply = maya.post(f"proposals/{pending.pk}/{answer}", body, if_match=f'"{pending.tag}"')

    refused(reply)
    assert traces() == before


@every_row(
    "body", [pytest.param(body, id=name) for name, body in BAD_MANY.items()], rolled_back=True
)
def test_many_answers_that_make_no_sense_are_refused_in_words(
    maya: Api, pending: Proposal, body: Any
) -> None:
    before = traces()

    refused(maya.post("proposals/decide", body))
    assert traces() == before


def refused(reply: Any) -> None:
    assert reply.status_code == 400, reply.content
    told = reply.json()
    assert told["detail"]
    assert "pointer" in told


@pytest.mark.parametrize(
    "tag", ["*", "", "1", '"1"', f"x:{'a' * 64}", f"1:{'a' * 63}", f"1:{'?' * 64}", "1" * 10 + TAG]
)
def test_a_tag_that_names_nothing_is_refused(maya: Api, pending: Proposal, tag: str) -> None:
    answer = maya.post(f"proposals/{pending.pk}/approve", {}, if_match=tag)

    assert "If-Match" in problem(answer, 400, "invalid")["detail"]
    assert Proposal.objects.get().state == "pending"
