"""Who may decide about which proposal, and which votes still count when it runs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers.access import roles
from controllers.access.roles import Authority
from controllers.models import Decision, Grant, Proposal
from resources.documents.actor import SYSTEM, Actor
from resources.documents.problems import Problem
from resources.tables.models import Resource
from resources.usecases import specs, tokens
from tests.conftest import Clock
from tests.decisions.making import agent, controller, person, proposal
from tests.resources.making import live, made
from tests.rows import every_row

pytestmark = pytest.mark.django_db


@pytest.fixture
def target(clock: Clock) -> Resource:
    """Return an agent of growth that Alice declared."""
    return agent(clock)


def refusal(who: User, row: Proposal, clock: Clock) -> str:
    """Return the code of the rule by which somebody may not decide; nothing if they may."""
    try:
        roles.authority(who, row, clock.now)
    except Problem as error:
        return error.rule
    return ""


def declare(clock: Clock, by: Actor, **metadata: Any) -> None:
    """Declare the proposing agent, with an owner."""
    spec = {"domain": "growth", "type": "autonomous", "purpose": "Proposes."}
    document = made("Agent", "robin", spec, metadata=metadata)
    assert specs.apply([specs.DesiredDocument(document)], actor=by, now=clock.now).written


def vote(row: Proposal, who: User | None, clock: Clock, **given: Any) -> Decision:
    fields = {
        "revision": row.revision,
        "answer": "approve",
        "actor": f"person/{who}",
        "shown": row.action_digest,
        "at": clock.now,
    } | given
    return Decision.objects.create(proposal=row, person=who, **fields)


def valid(row: Proposal, clock: Clock) -> list[str]:
    """Return who still counts among everybody who answered."""
    found = roles.still_valid(Decision.objects.filter(proposal=row), row, clock.now)
    return [each.person.get_username() for each in found if each.person]


@every_row("role", Grant.Role.values, rolled_back=True)
@every_row("domain", ["", "growth", "finance"])
def test_only_approvers_of_the_place_decide(
    clock: Clock, target: Resource, role: str, domain: str
) -> None:
    """I-106 I9: an administrator has to be an approver too."""
    who, row = person(clock, "pat", role, domain), proposal(clock, target)

    may = role == "approver" and domain != "finance"
    assert refusal(who, row, clock) == ("" if may else "NotApprover")
    assert (who in roles.deciders(row, clock.now)) == may


def test_what_belongs_to_no_domain_is_decided_for_the_organisation(
    clock: Clock, maya: User
) -> None:
    local = person(clock, "pat", "approver", "growth")
    row = proposal(clock, controller(clock))

    assert refusal(local, row, clock) == "NotApprover"
    assert roles.authority(maya, row, clock.now) == Authority(maya, None)


@every_row("ceiling", ["low", "medium", "high"], rolled_back=True)
@every_row("risk", ["low", "medium", "high"])
def test_an_approver_decides_up_to_a_risk(
    clock: Clock, target: Resource, ceiling: str, risk: str
) -> None:
    who = person(clock, "pat", "approver", ceiling=ceiling)
    row = proposal(clock, target, risk=risk)

    order = ["low", "medium", "high"]
    beyond = order.index(risk) > order.index(ceiling)
    assert refusal(who, row, clock) == ("AboveCeiling" if beyond else "")


def test_the_higher_of_two_ceilings_counts_where_it_was_given(
    clock: Clock, target: Resource
) -> None:
    who = person(clock, "pat", "approver", ceiling="low")
    Grant.objects.create(
        person=who, role="approver", domain="growth", granted_by="", granted_at=clock.now
    )

    assert refusal(who, proposal(clock, target, risk="high"), clock) == ""
    elsewhere = agent(clock, "teller", "finance")
    assert refusal(who, proposal(clock, elsewhere, risk="high"), clock) == "AboveCeiling"


def test_an_ended_grant_and_an_inactive_account_decide_nothing(
    clock: Clock, target: Resource, maya: User, tomas: User
) -> None:
    row = proposal(clock, target)
    Grant.objects.filter(person=maya).update(ends_at=clock.now + timedelta(minutes=1))
    User.objects.filter(pk=tomas.pk).update(is_active=False)
    assert roles.deciders(row, clock.now) == [maya]
    clock.advance(minutes=1)

    assert refusal(maya, row, clock) == "NotApprover"
    assert refusal(tomas, row, clock) == "Inactive"
    assert roles.deciders(row, clock.now) == []


def test_a_superuser_has_no_way_around(clock: Clock, target: Resource) -> None:
    root = User.objects.create(username="root", is_superuser=True)
    row = proposal(clock, target, proposer="person/root")

    assert refusal(root, row, clock) == "Proposer"
    assert refusal(root, proposal(clock, target, proposer="agent/wren"), clock) == "NotApprover"


# Who has a part in it.


@pytest.mark.parametrize("spelling", ["maya", "Maya", "MAYA", "\uff4d\uff41\uff59\uff41"])
def test_nobody_approves_what_they_proposed(
    clock: Clock, target: Resource, maya: User, tomas: User, spelling: str
) -> None:
    """I-106 I9: however the name is spelt."""
    row = proposal(clock, target, proposer=f"person/{spelling}")

    assert refusal(maya, row, clock) == "Proposer"
    assert roles.deciders(row, clock.now) == [tomas]


def test_whoever_is_noted_as_interested_does_not_approve(
    clock: Clock, target: Resource, maya: User
) -> None:
    assert refusal(maya, proposal(clock, target, interested=["Maya"]), clock) == "Interested"


def test_an_editor_does_not_approve_a_later_revision_either(
    clock: Clock, target: Resource, maya: User
) -> None:
    """I-106"""
    row = proposal(clock, target, revision=3)
    vote(row, maya, clock, answer="change", revision=1, counts=False)

    assert refusal(maya, row, clock) == "Editor"


def test_whoever_made_a_token_of_the_agent_does_not_approve_what_it_proposes(
    clock: Clock, target: Resource, maya: User, tomas: User
) -> None:
    """I-106

    I9: the person behind the proposing agent; a token that was revoked was in their hands.
    """
    declare(clock, SYSTEM)
    issued = tokens.issue(
        "robin",
        scopes=["resources:read"],
        lifetime=timedelta(days=1),
        actor=Actor("person", "Maya"),
        now=clock.now,
    )
    tokens.revoke(issued.token.key_id, actor=SYSTEM, now=clock.now)
    row = proposal(clock, target, proposer="agent/robin")

    assert refusal(maya, row, clock) == "BehindAgent"
    assert refusal(tomas, row, clock) == ""


@pytest.mark.parametrize("owner", ["MAYA", "Maya  Chén", {"name": "maya chén", "role": "owner"}])
def test_the_owner_of_the_agent_does_not_approve_what_it_proposes(
    clock: Clock, target: Resource, maya: User, tomas: User, owner: Any
) -> None:
    """I-106 I9: by username or full name."""
    User.objects.filter(pk=maya.pk).update(first_name="Maya", last_name="Chén")
    maya.refresh_from_db()
    declare(clock, SYSTEM, owner=owner)
    row = proposal(clock, target, proposer="agent/robin")

    assert refusal(maya, row, clock) == "BehindAgent"
    assert refusal(tomas, row, clock) == ""
    assert refusal(maya, proposal(clock, target, proposer="agent/wren"), clock) == ""


def test_those_behind_a_proposer_are_named_folded(clock: Clock) -> None:
    declare(clock, SYSTEM, owner={"name": "Maya Chen", "role": "owner"})
    for by in (Actor("person", "Tomas"), SYSTEM):
        tokens.issue(
            "robin",
            scopes=["resources:read"],
            lifetime=timedelta(days=1),
            actor=by,
            now=clock.now,
        )

    named = roles.interested_in(Actor("agent", "robin"), live("Agent", "robin"))

    assert named == ["maya chen", "tomas"]
    assert roles.interested_in(Actor("person", "Maya"), None) == ["maya"]
    assert roles.interested_in(Actor("controller", "keeper"), None) == []


@pytest.mark.parametrize(("risk", "code"), [("medium", ""), ("high", "LastEditor")])
def test_at_high_risk_the_last_editor_of_the_spec_does_not_approve(
    clock: Clock, target: Resource, tomas: User, risk: str, code: str
) -> None:
    alice = person(clock, "alice", "approver")

    row = proposal(clock, target, risk=risk)

    assert refusal(alice, row, clock) == code
    assert refusal(tomas, row, clock) == ""


def test_an_edit_of_metadata_does_not_make_a_last_editor(
    clock: Clock, target: Resource, maya: User
) -> None:
    alice = person(clock, "alice", "approver")
    labelled = made("Agent", target.name, target.spec, metadata={"labels": {"team": "a"}})
    by = Actor("person", "maya")
    assert specs.apply([specs.DesiredDocument(labelled)], actor=by, now=clock.now).written
    row = proposal(clock, live("Agent", target.name), risk="high")

    assert [refusal(who, row, clock) for who in (maya, alice)] == ["", "LastEditor"]

    edited = made("Agent", target.name, {**target.spec, "purpose": "Writes well."})
    assert specs.apply([specs.DesiredDocument(edited)], actor=by, now=clock.now).written
    row = Proposal.objects.get(pk=row.pk)

    assert [refusal(who, row, clock) for who in (maya, alice)] == ["LastEditor", ""]


def test_whoever_broke_the_glass_does_not_look_it_over(
    clock: Clock, target: Resource, maya: User, tomas: User
) -> None:
    row = proposal(clock, target, state="approved")
    vote(row, maya, clock, answer="break_glass")

    assert refusal(maya, row, clock) == "OwnEmergency"
    assert refusal(tomas, row, clock) == ""


# Votes that still count.


def test_votes_of_two_people_count_as_two(
    clock: Clock, target: Resource, maya: User, tomas: User
) -> None:
    row = proposal(clock, target, people=2)
    vote(row, maya, clock)
    vote(row, tomas, clock)

    assert valid(row, clock) == ["maya", "tomas"]


def test_a_vote_stops_counting_with_the_right_it_rests_on(
    clock: Clock, target: Resource, maya: User, tomas: User
) -> None:
    """I1: authorisation is valid at the instant of the effect."""
    row = proposal(clock, target, people=2)
    vote(row, maya, clock)
    vote(row, tomas, clock)

    Grant.objects.filter(person=maya).update(ceiling="low")
    row.risk = "medium"
    assert valid(row, clock) == ["tomas"]
    User.objects.filter(pk=tomas.pk).update(is_active=False)
    assert valid(row, clock) == []
    User.objects.filter(pk=tomas.pk).update(is_active=True)
    Grant.objects.filter(person=tomas).delete()
    assert valid(row, clock) == []


def test_a_vote_stops_counting_when_its_giver_gets_a_part_in_it(
    clock: Clock, target: Resource, maya: User
) -> None:
    row = proposal(clock, target, proposer="agent/robin")
    vote(row, maya, clock)
    assert valid(row, clock) == ["maya"]

    declare(clock, SYSTEM, owner="maya")

    assert valid(row, clock) == []


def test_what_is_no_approval_of_a_person_does_not_count(
    clock: Clock, target: Resource, maya: User, tomas: User
) -> None:
    row = proposal(clock, target)
    vote(row, None, clock, actor="policy/enforce@1")
    vote(row, maya, clock, answer="reject")
    vote(row, tomas, clock, counts=False)

    assert valid(row, clock) == []


def test_one_person_counts_once_over_all_revisions(
    clock: Clock, target: Resource, maya: User
) -> None:
    row = proposal(clock, target, people=2, revision=2)
    vote(row, maya, clock, revision=1)
    vote(row, maya, clock)

    assert valid(row, clock) == ["maya"]


def test_broken_glass_counts_while_its_breaker_may_break_it(
    clock: Clock, target: Resource
) -> None:
    """Neither the risk nor one's own part stands in the way of an emergency."""
    ada = person(clock, "ada", "administrator")
    row = proposal(clock, target, proposer="person/ada", risk="high")
    vote(row, ada, clock, answer="break_glass")
    assert valid(row, clock) == ["ada"]

    Grant.objects.filter(person=ada).update(role="operator")

    assert valid(row, clock) == []
