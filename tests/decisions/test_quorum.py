"""Two pairs of eyes: whose votes count, and when there are enough."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from controllers.decisions import answers
from controllers.models import Decision, Delegation, Grant, Proposal
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.decisions.making import agent, controller, person, proposal, seen
from tests.problems import refuses

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair(clock: Clock) -> Proposal:
    """Return a proposal that two people have to approve."""
    return proposal(clock, agent(clock), controller(clock), people=2)


def approve(row: Proposal, who: User, clock: Clock) -> Proposal:
    row = Proposal.objects.get(pk=row.pk)
    return answers.approve(
        row.pk, person=who, seen=seen(row), now=clock.now, reason="Looked at it."
    )


def names(row: Proposal) -> list[str]:
    stream = LedgerEvent.objects.filter(stream=row.stream).order_by("seq")
    return list(stream.values_list("event", flat=True))


def test_the_vote_that_completes_the_number_approves(
    pair: Proposal, maya: User, tomas: User, clock: Clock
) -> None:
    first = approve(pair, maya, clock)
    after_first = first.state, first.run_at
    second = approve(pair, tomas, clock)

    assert after_first == ("pending", None)
    assert (second.state, second.decided_by) == ("approved", "person/tomas")
    assert names(pair) == ["proposal.voted", "proposal.approved"]
    votes = [each.payload["votes"] for each in LedgerEvent.objects.filter(stream=pair.stream)]
    assert votes == [1, 2]


def test_one_person_cannot_be_two(pair: Proposal, maya: User, clock: Clock) -> None:
    approve(pair, maya, clock)

    assert approve(pair, maya, clock).state == "pending"
    assert names(pair) == ["proposal.voted"]
    assert Decision.objects.filter(proposal=pair).count() == 1


def test_the_first_voter_may_press_again_after_the_second(
    pair: Proposal, maya: User, tomas: User, clock: Clock
) -> None:
    approve(pair, maya, clock)
    approve(pair, tomas, clock)

    again = answers.approve(
        pair.pk, person=maya, seen=seen(pair), now=clock.now, reason="Looked at it."
    )

    assert again.state == "approved"
    assert len(names(pair)) == 2


def test_people_may_change_their_mind_before_the_end(
    pair: Proposal, maya: User, tomas: User, clock: Clock
) -> None:
    approve(pair, maya, clock)
    answers.reject(pair.pk, person=maya, seen=seen(pair), now=clock.now, reason="No after all.")

    decision = Decision.objects.get(proposal=pair)
    assert (decision.answer, decision.reason) == ("reject", "No after all.")
    assert Proposal.objects.get(pk=pair.pk).state == "rejected"


def test_the_vote_of_somebody_who_left_does_not_count(
    pair: Proposal, maya: User, tomas: User, clock: Clock
) -> None:
    """I1: authority holds at the moment it is used, not when it was given."""
    approve(pair, maya, clock)
    User.objects.filter(pk=maya.pk).update(is_active=False)

    waiting = approve(pair, tomas, clock)
    third = person(clock, "nadia", "approver")

    assert waiting.state == "pending"
    assert approve(pair, third, clock).state == "approved"


def test_the_vote_of_somebody_who_lost_the_role_does_not_count(
    pair: Proposal, maya: User, tomas: User, clock: Clock
) -> None:
    approve(pair, maya, clock)
    Grant.objects.filter(person=maya).delete()

    assert approve(pair, tomas, clock).state == "pending"


def test_a_deputy_and_whom_they_stand_for_are_one_vote(
    pair: Proposal, maya: User, tomas: User, vera: User, clock: Clock
) -> None:
    Delegation.objects.create(
        person=maya,
        deputy=vera,
        starts_at=clock.now,
        ends_at=clock.now + timedelta(days=7),
        created_at=clock.now,
    )
    approve(pair, maya, clock)

    doubled = approve(pair, vera, clock).state
    decision = Decision.objects.get(proposal=pair, person=vera)

    assert doubled == "pending"
    assert decision.behalf == maya
    event = LedgerEvent.objects.filter(stream=pair.stream).order_by("seq").last()
    assert event is not None
    assert event.payload["behalf"] == "person/maya"
    assert approve(pair, tomas, clock).state == "approved"


def test_an_edit_voids_the_votes_and_the_editor_does_not_count(
    pair: Proposal, maya: User, tomas: User, clock: Clock
) -> None:
    """I9: who edited it is not its second pair of eyes."""
    approve(pair, maya, clock)
    changed = answers.change(
        pair.pk,
        person=tomas,
        seen=seen(pair),
        now=clock.now,
        edits={1: {"factor": 0.25}},
        reason="Half is too much.",
    )

    assert (changed.state, changed.revision) == ("pending", 2)
    with refuses("forbidden"):
        approve(pair, tomas, clock)
    assert approve(pair, maya, clock).state == "pending"
    assert approve(pair, person(clock, "nadia", "approver"), clock).state == "approved"
    own = Decision.objects.get(proposal=pair, revision=2, person=tomas)
    assert (own.answer, own.counts) == ("change", False)


def test_whoever_puts_it_off_takes_their_vote_back(
    pair: Proposal, maya: User, tomas: User, clock: Clock
) -> None:
    approve(pair, maya, clock)
    rest = answers.Rest(clock.now + timedelta(days=1))
    answers.snooze(
        pair.pk, person=maya, seen=seen(pair), now=clock.now, rest=rest, reason="Later."
    )

    assert approve(pair, tomas, clock).state == "pending"
    assert approve(pair, maya, clock).state == "approved"


def test_more_time_does_not_cost_a_vote(
    pair: Proposal, maya: User, tomas: User, clock: Clock
) -> None:
    approve(pair, maya, clock)
    answers.extend(
        pair.pk,
        person=maya,
        seen=seen(pair),
        now=clock.now,
        until=clock.now + timedelta(days=10),
        reason="The second is away.",
    )

    assert approve(pair, tomas, clock).state == "approved"
