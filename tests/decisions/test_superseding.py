"""The world changes under a proposal: what becomes of it, and of the votes for it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers.decisions.creation.plan_diff import Plan, compare, is_part
from controllers.engine.proposal_lifecycle import OPEN
from controllers.models import Decision, Proposal
from tests.conftest import Clock
from tests.decisions.looking import (
    again,
    approve,
    edit_harbour,
    keeper,
    look,
    only,
    proposed,
    staff,
    story,
    vote,
)
from tests.rows import every_row


def step(operation: str, **parameters: Any) -> dict[str, Any]:
    return {"operation": operation, "parameters": parameters, "touches": []}


A, B, C = step("scale", to=3), step("restart"), step("throttle", factor=0.5)


def plan(*actions: dict[str, Any], **given: Any) -> Plan:
    """Make a plan whose digest is what it would do."""
    made = Plan("+".join(map(str, actions)), "basis", "ask", "medium", 1, actions)
    return made._replace(**given)


AB = plan(A, B)
TABLE = {
    "the same plan for the same reasons": (AB, AB, "confirm"),
    "no drift left": (AB, None, "converge"),
    "other reasons": (AB, plan(A, B, basis="other"), "revise_keeping_votes"),
    "other reasons and less risk": (AB, plan(A, B, basis="o", risk="low"), "revise_keeping_votes"),
    "other reasons and more risk": (AB, plan(A, B, basis="other", risk="high"), "revise"),
    "more risk alone": (AB, plan(A, B, risk="high"), "revise"),
    "fewer people needed": (plan(A, people=2), plan(A), "confirm"),
    "more people needed": (AB, plan(A, B, people=2, basis="other"), "supersede"),
    "the policy may let it run": (AB, plan(A, B, lane="run", people=0), "supersede"),
    "it may only be recommended": (AB, plan(A, B, lane="recommend"), "supersede"),
    "the first half is left": (AB, plan(A), "shrink"),
    "the second half is left": (AB, plan(B, basis="other"), "shrink"),
    "half is left at more risk": (AB, plan(A, risk="high"), "supersede"),
    "half is left for more people": (AB, plan(A, people=2), "supersede"),
    "half is left of what a person edited": (
        plan(A, B, edited=True),
        plan(A),
        "supersede",
    ),
    "what a person edited is still planned": (plan(A, B, edited=True), AB, "confirm"),
    "nothing is planned any more": (AB, plan(), "supersede"),
    "something new": (AB, plan(A, B, C), "supersede"),
    "something else": (AB, plan(A, C), "supersede"),
    "another parameter": (AB, plan(step("scale", to=4), B), "supersede"),
    "another order": (AB, plan(B, A), "supersede"),
}


@every_row("case", TABLE)
@every_row("state", ["recommended", "pending", "changes_requested", "approved"])
def test_what_a_new_plan_makes_of_an_open_proposal(state: Any, case: str) -> None:
    standing, wanted, change = TABLE[case]

    assert compare(state, standing, wanted) == change


@every_row("case", TABLE)
@every_row("state", ["executing", "verifying", "unknown"])
def test_what_has_begun_is_left_alone(state: Any, case: str) -> None:
    standing, wanted, _ = TABLE[case]

    assert compare(state, standing, wanted) == "confirm"


@pytest.mark.parametrize(
    ("some", "expected"),
    [
        ((A,), True),
        ((A, C), True),
        ((C, A), False),
        ((A, B, C), False),
        ((), False),
        ((A, A), False),
    ],
)
def test_a_part_keeps_the_order_and_is_not_the_whole(some: Any, expected: bool) -> None:
    assert is_part(some, (A, B, C)) is expected


@pytest.mark.django_db
def test_votes_outlive_another_basis(clock: Clock, maya: User) -> None:
    """Same action, new basis, no more risk: a new revision with the votes."""
    proposal = proposed(clock)
    given = vote(clock, proposal, maya)
    edit_harbour(clock, "Bring all ships in.")
    look(clock)

    after = only()
    assert (after.pk, after.revision, after.state) == (proposal.pk, 2, "pending")
    assert after.action_digest == proposal.action_digest
    assert after.basis_digest != proposal.basis_digest
    assert after.basis["generation"] == proposal.basis["generation"] + 1
    assert Decision.objects.get(pk=given.pk).revision == 2
    assert story(proposal) == ["created", "revised"]


@pytest.mark.django_db
def test_votes_do_not_outlive_more_risk(clock: Clock, maya: User, tomas: User) -> None:
    proposal = proposed(clock)
    Proposal.objects.filter(pk=proposal.pk).update(people=2)
    first = vote(clock, proposal, maya)
    vote(clock, proposal, tomas)
    risen(clock)

    after = again(proposal)
    assert (after.revision, after.state, after.risk) == (2, "pending", "high")
    assert Decision.objects.get(pk=first.pk).revision == 1
    assert not Decision.objects.filter(revision=2).exists()


def risen(clock: Clock) -> None:
    """Let the keeper find the same plan riskier than it was."""
    with pytest.MonkeyPatch.context() as patch:
        from controllers.decisions.creation import controller_plan

        usual = controller_plan.wanted
        patch.setattr(controller_plan, "wanted", lambda *given: riskier(usual(*given)))
        look(clock)


def riskier(wanted: Any) -> Any:
    return wanted._replace(plan=wanted.plan._replace(risk="high"))


@pytest.mark.django_db
def test_an_approval_outlives_another_basis(clock: Clock, maya: User) -> None:
    proposal = proposed(clock)
    approve(clock, proposal, maya)
    edit_harbour(clock, "Bring all ships in.")
    look(clock)

    after = again(proposal)
    assert (after.state, after.revision) == ("approved", 2)
    assert after.decided_by == "person/maya"
    assert Decision.objects.get(proposal=proposal).revision == 2


@pytest.mark.django_db
def test_an_approval_does_not_outlive_more_risk(clock: Clock, maya: User) -> None:
    """I7: what people approved goes back to them."""
    proposal = proposed(clock)
    approve(clock, proposal, maya)
    risen(clock)

    after = again(proposal)
    assert (after.state, after.revision, after.decided_by, after.run_at) == (
        "pending",
        2,
        "",
        None,
    )
    assert Decision.objects.get(proposal=proposal).revision == 1


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["pending", "approved"])
def test_another_plan_takes_the_place_with_the_thread_but_without_the_votes(
    clock: Clock, maya: User, state: str
) -> None:
    """I7: anything new is another proposal."""
    proposal = proposed(clock)
    if state == "approved":
        approve(clock, proposal, maya)
    else:
        vote(clock, proposal, maya)
    staff(clock, 2)
    look(clock)

    old, new = again(proposal), only()
    assert (old.state, old.superseded_by) == ("superseded", new)
    assert (new.state, new.thread_id, new.revision) == ("pending", old.pk, 1)
    assert new.action_digest != old.action_digest
    assert not new.decisions.exists()
    assert (story(old), story(new)) == (["created", "superseded"], ["created"])


@pytest.mark.django_db
def test_the_thread_goes_back_to_the_first(clock: Clock) -> None:
    first = proposed(clock)
    staff(clock, 2)
    look(clock)
    staff(clock, 1)
    look(clock)

    assert only().thread_id == first.pk
    assert Proposal.objects.count() == 3


@pytest.mark.django_db
def test_what_a_person_edited_stays_as_long_as_the_plan_stands(clock: Clock, maya: User) -> None:
    """The editor's parameters are not undone by the next look."""
    proposal = proposed(clock)
    edited = [proposal.actions[0] | {"parameters": {"domain": "harbour", "from": 1, "to": 2}}]
    Proposal.objects.filter(pk=proposal.pk).update(actions=edited, action_digest="edited")
    look(clock)
    assert again(proposal).revision == 1
    edit_harbour(clock, "Bring all ships in.")
    look(clock)

    after = only()
    assert (after.pk, after.revision, after.action_digest) == (proposal.pk, 2, "edited")
    assert after.actions == edited


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["pending", "approved", "changes_requested", "recommended"])
def test_what_has_nothing_left_to_do_is_converged(clock: Clock, maya: User, state: str) -> None:
    proposal = proposed(clock)
    if state == "approved":
        approve(clock, proposal, maya)
    Proposal.objects.filter(pk=proposal.pk).update(state=state)
    staff(clock, 3)
    look(clock)

    assert again(proposal).state == "converged"
    assert story(proposal) == ["created", "converged"]


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["executing", "unknown"])
def test_a_look_does_not_touch_what_is_being_carried_out(clock: Clock, state: str) -> None:
    proposal = proposed(clock)
    claimed = clock.now.replace(year=clock.now.year + 1)
    Proposal.objects.filter(pk=proposal.pk).update(state=state, claimed_until=claimed, holder="x")
    staff(clock, 2)
    look(clock)

    assert again(proposal).state == state
    assert Proposal.objects.get(state="pending").thread_id is None


@pytest.mark.django_db
def test_the_same_plan_is_not_proposed_beside_what_is_being_carried_out(clock: Clock) -> None:
    proposal = proposed(clock)
    claimed = clock.now.replace(year=clock.now.year + 1)
    Proposal.objects.filter(pk=proposal.pk).update(
        state="executing", claimed_until=claimed, holder="x"
    )
    look(clock)

    assert [each.pk for each in Proposal.objects.all()] == [proposal.pk]


@pytest.mark.django_db
@pytest.mark.parametrize(("mode", "lane"), [("advise", "recommend"), ("observe", None)])
def test_a_lower_mode_takes_back_what_was_approved(
    clock: Clock, maya: User, mode: str, lane: str | None
) -> None:
    """I10: lowering a mode acts on what was already planned."""
    proposal = proposed(clock)
    approve(clock, proposal, maya)
    keeper(clock, mode)
    look(clock)

    assert again(proposal).state == "superseded"
    assert [each.lane for each in Proposal.objects.filter(state__in=OPEN)] == [lane] * bool(lane)


@pytest.mark.django_db
def test_somebody_who_decides_first_wins_against_a_look(clock: Clock, maya: User) -> None:
    """I4: what was moved since it was read is left to whoever moved it."""
    from controllers.decisions.creation import open_proposals as standing

    proposal = proposed(clock)
    staff(clock, 2)
    usual = standing.read

    def read(*given: Any) -> Any:
        found = usual(*given)
        Proposal.objects.filter(pk=proposal.pk, lock=0).update(state="rejected", lock=1)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("controllers.decisions.creation.proposal_refresh.read", read)
        look(clock)

    assert again(proposal).state == "rejected"
    assert [each.state for each in Proposal.objects.all()] == ["rejected"]
    assert story(proposal) == ["created"]
