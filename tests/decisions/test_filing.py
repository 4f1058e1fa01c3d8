"""What agents and people propose: checked by the catalogue, weighed by the gate, filed once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers.decisions import creation, holds
from controllers.decisions.creation import Filing, submission, suppression
from controllers.models import Decision, Proposal, WorkItem
from resources.documents.actor import Actor
from resources.tables.models import AgentToken, Resource
from resources.usecases import tokens
from tests.conftest import Clock
from tests.decisions.making import agent, controller, person, proposal
from tests.problems import refuses
from tests.resources.making import apply, live, made

pytestmark = pytest.mark.django_db

WHY = "It spends its day's tokens before noon."
THROTTLE = {"operation": "throttle", "parameters": {"factor": 0.5}}
MODIFY = {"operation": "modify-spec", "parameters": {"patch": {"purpose": "Writes less."}}}


def token(clock: Clock, name: str = "robin", **spec: Any) -> AgentToken:
    """Declare an agent and give it a token."""
    agent(clock, name, **spec)
    issued = tokens.issue(
        name,
        scopes=["resources:read"],
        lifetime=timedelta(days=1),
        actor=Actor("person", "ana"),
        now=clock.now,
    )
    return AgentToken.objects.select_related("agent").get(pk=issued.token.pk)


def wish(target: Resource, *actions: dict[str, Any], **given: Any) -> Filing:
    """Wish for something to be done to a resource."""
    return Filing(target.pk, actions or (THROTTLE,), **{"why": WHY} | given)


def test_a_person_proposes_and_others_decide(clock: Clock, ines: User) -> None:
    target = agent(clock)
    filed = creation.propose(wish(target), by=ines, now=clock.now)

    found = Proposal.objects.get()
    assert (filed.proposal, filed.new) == (found, True)
    assert (found.proposer, found.controller, found.state) == ("person/ines", None, "pending")
    assert (found.lane, found.people, found.interested) == ("ask", 1, ["ines"])
    assert (found.explanation, found.basis["generation"]) == (WHY, target.generation)
    [action] = found.actions
    assert (action["operation"], action["target"]) == ("throttle", "agent/scribe")
    assert (action["kind"], action["risk"]) == ("change", "low")
    assert "spec.tokenBudget.maxDaily" in action["touches"]


@pytest.mark.parametrize(
    ("type_", "lane", "state"),
    [
        ("advisory", "recommend", "recommended"),
        ("supervised", "ask", "pending"),
        ("reactive", "ask", "pending"),
        ("autonomous", "run", "approved"),
    ],
)
def test_how_far_an_agent_goes_is_what_it_is_declared_to_be(
    clock: Clock, type_: str, lane: str, state: str
) -> None:
    target = agent(clock)
    filed = creation.propose(wish(target), by=token(clock, type=type_), now=clock.now)

    assert (filed.proposal.lane, filed.proposal.state) == (lane, state)


def test_what_an_autonomous_agent_may_do_alone_carries_its_policys_decision(clock: Clock) -> None:
    """I1"""
    target = agent(clock)
    found = creation.propose(wish(target), by=token(clock), now=clock.now).proposal

    decision = Decision.objects.get()
    assert (decision.person, decision.actor) == (None, "policy/autonomous")
    assert (found.people, found.run_at, found.decided_by) == (0, clock.now, decision.actor)


def test_an_agent_acts_alone_only_at_home(clock: Clock) -> None:
    """What belongs to the whole organisation it may only propose to change."""
    assert apply(clock.now, made("Budget", "all", {"domain": "*"})).written
    target = live("Budget", "all")
    block = {"operation": "throttle-agents", "parameters": {"factor": 0.5}}
    found = creation.propose(wish(target, block), by=token(clock), now=clock.now).proposal

    assert (found.lane, found.policy["approval"]) == ("ask", "required")


def test_an_agent_reaches_no_other_domain(clock: Clock) -> None:
    """I17: for it there is no such resource."""
    target = agent(clock, domain="finance")
    by = token(clock)

    with refuses("not-found", match="no such resource"):
        creation.propose(wish(target), by=by, now=clock.now)
    assert not Proposal.objects.exists()


def test_those_behind_an_agent_have_a_part_in_what_it_proposes(clock: Clock) -> None:
    """I9: whoever issued its token does not approve it."""
    found = creation.propose(
        wish(agent(clock)), by=token(clock, type="supervised"), now=clock.now
    ).proposal

    assert found.interested == ["ana"]


def test_who_may_only_look_proposes_nothing(clock: Clock, vera: User) -> None:
    with refuses("forbidden"):
        creation.propose(wish(agent(clock)), by=vera, now=clock.now)
    assert not Proposal.objects.exists()


def test_a_right_in_another_domain_is_none_here(clock: Clock) -> None:
    by = person(clock, "omar", "operator", domain="finance")

    with refuses("forbidden"):
        creation.propose(wish(agent(clock)), by=by, now=clock.now)


def test_risk_comes_from_the_catalogue_whatever_the_proposer_says(clock: Clock) -> None:
    claimed = MODIFY | {"risk": "low", "reversible": True, "kind": "record", "touches": []}
    found = creation.propose(wish(agent(clock), claimed), by=token(clock), now=clock.now).proposal

    assert (found.risk, found.lane, found.people) == ("medium", "ask", 2)
    assert found.actions[0]["touches"] == ["spec.purpose"]


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ([{"operation": "explode", "parameters": {}}], "must be one of"),
        ([{"parameters": {}}], "must be one of"),
        ([{"operation": "throttle", "parameters": {"factor": "half"}}], "/parameters/factor"),
        ([{"operation": "throttle", "parameters": {"fctor": 1}}], "not a known field"),
        ([{"operation": "throttle", "parameters": []}], "/parameters"),
        (
            [{"operation": "throttle", "parameters": {"agent": "other", "factor": 0.5}}],
            "be scribe",
        ),
        ([{"operation": "block-spend", "parameters": {}}], "is for"),
        ([THROTTLE] * 21, "from one to 20"),
        ([], "from one to 20"),
    ],
)
def test_what_the_catalogue_does_not_know_is_refused(
    clock: Clock, ines: User, actions: list[Any], said: str
) -> None:
    """D-25"""
    target = agent(clock)

    with refuses("invalid", match=said):
        creation.propose(Filing(target.pk, actions, WHY), by=ines, now=clock.now)
    assert not Proposal.objects.exists()


@pytest.mark.parametrize("why", ["", "  ", "x" * 2_001, "a\x00b"])
def test_a_proposal_says_why(clock: Clock, ines: User, why: str) -> None:
    with refuses("invalid"):
        creation.propose(wish(agent(clock), why=why), by=ines, now=clock.now)


def test_a_weaker_guard_takes_a_second_person(clock: Clock, ines: User) -> None:
    """I-92"""
    target = controller(clock, enforcementMode="enforce")
    lower = {"operation": "modify-spec", "parameters": {"patch": {"enforcementMode": "warn"}}}
    found = creation.propose(wish(target, lower), by=ines, now=clock.now).proposal

    assert (found.policy["lowers"], found.people, found.lane) == (True, 2, "ask")


def test_what_a_hold_stops_is_proposed_and_shown_as_held(clock: Clock, ines: User) -> None:
    """I2: and it does not start by itself when the hold is lifted."""
    target = agent(clock)
    wanted = holds.HoldRequest("pause", "resource", "Storm.", resource=target.pk)
    holds.place(wanted, person=ines, now=clock.now)
    found = creation.propose(wish(target), by=token(clock), now=clock.now).proposal

    assert (found.lane, found.state, found.people) == ("ask", "pending", 1)
    assert found.held == "Paused"


# Repeated requests


def test_the_same_request_gets_the_same_proposal_back(clock: Clock, ines: User) -> None:
    target = agent(clock)
    first = creation.propose(wish(target, request_key="k1"), by=ines, now=clock.now)
    clock.advance(minutes=1)
    second = creation.propose(wish(target, request_key="k1"), by=ines, now=clock.now)

    assert (second.proposal, second.new) == (first.proposal, False)
    assert Proposal.objects.count() == 1


def test_the_same_request_gets_the_same_back_after_it_was_decided(
    clock: Clock, ines: User
) -> None:
    target = agent(clock)
    first = creation.propose(wish(target, request_key="k1"), by=ines, now=clock.now)
    Proposal.objects.update(state="rejected")
    second = creation.propose(wish(target, request_key="k1"), by=ines, now=clock.now)

    assert second.proposal.pk == first.proposal.pk


@pytest.mark.parametrize("other", [{"why": "Another reason."}, {"actions": (MODIFY,)}])
def test_another_request_under_the_same_name_is_refused(
    clock: Clock, ines: User, other: dict[str, Any]
) -> None:
    target = agent(clock)
    creation.propose(wish(target, request_key="k1"), by=ines, now=clock.now)
    changed = {"actions": (THROTTLE,), "why": WHY} | other

    with refuses("refused", match="under this name"):
        creation.propose(Filing(target.pk, request_key="k1", **changed), by=ines, now=clock.now)


def test_names_of_requests_are_each_proposers_own(clock: Clock, ines: User) -> None:
    target, omar = agent(clock), person(clock, "omar", "operator")
    creation.propose(wish(target, request_key="k1"), by=ines, now=clock.now)
    filed = creation.propose(wish(target, request_key="k1"), by=omar, now=clock.now)

    assert filed.new
    assert Proposal.objects.count() == 2


def test_the_same_plan_is_not_proposed_twice_by_one(clock: Clock, ines: User) -> None:
    target = agent(clock)
    first = creation.propose(wish(target), by=ines, now=clock.now)
    second = creation.propose(wish(target), by=ines, now=clock.now)

    assert (second.proposal.pk, second.new) == (first.proposal.pk, False)


def test_two_who_file_the_same_at_once_get_one(
    clock: Clock, ines: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second finds nothing, writes, and is told what the first wrote."""
    target = agent(clock)
    first = creation.propose(wish(target, request_key="k1"), by=ines, now=clock.now)
    usual, asked = submission.repeated, []

    def repeated(*given: Any) -> Proposal | None:
        asked.append(given)
        return usual(*given) if len(asked) > 1 else None

    monkeypatch.setattr(submission, "repeated", repeated)
    second = creation.propose(wish(target, request_key="k1"), by=ines, now=clock.now)

    assert (second.proposal.pk, second.new) == (first.proposal.pk, False)


def test_an_agent_does_not_ask_again_what_people_refused(clock: Clock) -> None:
    target, by = agent(clock), token(clock, type="supervised")
    creation.propose(wish(target), by=by, now=clock.now)
    Proposal.objects.update(state="rejected", reason="Not before the audit.")

    with refuses("refused", match="Not before the audit"):
        creation.propose(wish(target), by=by, now=clock.now)
    assert apply(clock.now, made("Agent", "scribe", target.spec | {"purpose": "More."})).written
    assert creation.propose(wish(target), by=by, now=clock.now).new


def test_a_proposer_has_only_so_many_open(
    clock: Clock, ines: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submission, "MOST_OPEN", 1)
    assert suppression.MOST_OPEN == 1_000
    creation.propose(wish(agent(clock)), by=ines, now=clock.now)

    with refuses("invalid", match="people decide first"):
        creation.propose(wish(agent(clock, "other")), by=ines, now=clock.now)


# An answer to a request for changes


def sent_back(clock: Clock, by: AgentToken) -> Proposal:
    """File a proposal that people sent back."""
    found = creation.propose(wish(agent(clock), request_key="k1"), by=by, now=clock.now).proposal
    Proposal.objects.update(state="changes_requested", answer="request_changes", reason="Less.")
    return found


LESS = {"operation": "throttle", "parameters": {"factor": 0.8}}


def test_a_proposer_answers_with_a_new_revision(clock: Clock) -> None:
    by = token(clock)
    before = sent_back(clock, by)
    after = creation.revise(before.pk, wish(before.resource, LESS), by=by, now=clock.now)

    assert (after.pk, after.revision, after.state) == (before.pk, 2, "pending")
    assert (after.lane, after.people, after.answer) == ("ask", 1, "")
    assert after.action_digest == after.planned_digest != before.action_digest
    assert Proposal.objects.get().actions[0]["parameters"] == {"factor": 0.8}


def test_the_first_request_is_still_known_after_a_revision(clock: Clock) -> None:
    by = token(clock)
    before = sent_back(clock, by)
    creation.revise(before.pk, wish(before.resource, LESS), by=by, now=clock.now)
    again = creation.propose(wish(before.resource, request_key="k1"), by=by, now=clock.now)

    assert (again.proposal.pk, again.new) == (before.pk, False)


def test_nobody_else_revises_it(clock: Clock, ines: User) -> None:
    before = sent_back(clock, token(clock))

    with refuses("refused", match="agent/robin"):
        creation.revise(before.pk, wish(before.resource, LESS), by=ines, now=clock.now)
    assert Proposal.objects.get().revision == 1


def test_only_what_was_sent_back_is_revised(clock: Clock, ines: User) -> None:
    found = creation.propose(wish(agent(clock)), by=ines, now=clock.now).proposal

    with refuses("decided", match="Nobody has asked"):
        creation.revise(found.pk, wish(found.resource, LESS), by=ines, now=clock.now)


def test_a_revision_is_about_the_same_resource(clock: Clock) -> None:
    by = token(clock)
    before = sent_back(clock, by)

    with refuses("refused", match="It is about agent/scribe"):
        creation.revise(before.pk, wish(agent(clock, "other"), LESS), by=by, now=clock.now)


# Propose again


@pytest.mark.parametrize("role", ["operator", "approver"])
def test_after_its_time_a_controller_is_asked_to_look_again(clock: Clock, role: str) -> None:
    target, keeper, ines = agent(clock), controller(clock), person(clock, "ines", role)
    late = proposal(clock, target, keeper, expires_at=clock.now + timedelta(hours=1))
    clock.advance(hours=2)
    found = creation.repropose(late.pk, person=ines, now=clock.now, reason="Back from lunch.")

    assert (found.pk, found.state) == (late.pk, "expired")
    item = WorkItem.objects.get(controller=keeper, resource=target)
    assert (item.requested_by, item.message) == ("person/ines", "Back from lunch.")


def test_after_its_time_an_agents_plan_is_filed_anew(clock: Clock, ines: User) -> None:
    by = token(clock, type="supervised")
    late = creation.propose(wish(agent(clock)), by=by, now=clock.now).proposal
    clock.advance(days=8)
    found = creation.repropose(late.pk, person=ines, now=clock.now)

    assert (found.state, found.proposer, found.thread_id) == ("pending", "agent/robin", late.pk)
    assert found.action_digest == late.action_digest
    assert Proposal.objects.get(pk=late.pk).state == "expired"


def test_what_is_not_late_is_not_proposed_again(clock: Clock, ines: User) -> None:
    found = proposal(clock, agent(clock), controller(clock))

    with refuses("decided", match="pending, not late"):
        creation.repropose(found.pk, person=ines, now=clock.now)
    assert not WorkItem.objects.exists()


def test_who_may_not_propose_may_not_propose_again(clock: Clock, vera: User) -> None:
    found = proposal(clock, agent(clock), controller(clock), state="expired")

    with refuses("forbidden"):
        creation.repropose(found.pk, person=vera, now=clock.now)


def test_there_is_no_proposal_to_propose_again(clock: Clock, ines: User) -> None:
    with refuses("not-found"):
        creation.repropose(1, person=ines, now=clock.now)
