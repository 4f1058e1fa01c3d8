"""Yes and no: who wins, what is kept of it, and what everybody else is told."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from controllers.decisions import answers
from controllers.decisions.proposals import SeenRevision
from controllers.models import Decision, Delivery, Proposal
from resources.store import announcements
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.decisions.making import agent, controller, person, proposal, seen
from tests.problems import refuses

pytestmark = pytest.mark.django_db

EMERGENCY = "The shop is burning."


@pytest.fixture
def pending(clock: Clock) -> Proposal:
    return proposal(clock, agent(clock), controller(clock), score=0.4)


def events(row: Proposal) -> list[LedgerEvent]:
    return list(LedgerEvent.objects.filter(stream=row.stream).order_by("seq"))


def names(row: Proposal) -> list[str]:
    return [each.event for each in events(row)]


def approve(row: Proposal, who: User, clock: Clock, reason: str = "") -> Proposal:
    return answers.approve(row.pk, person=who, seen=seen(row), now=clock.now, reason=reason)


def reject(row: Proposal, who: User, clock: Clock, reason: str = "Not today.") -> Proposal:
    return answers.reject(row.pk, person=who, seen=seen(row), now=clock.now, reason=reason)


def break_glass(row: Proposal, who: User, clock: Clock, reason: str = EMERGENCY) -> Proposal:
    return answers.break_glass(row.pk, person=who, seen=seen(row), now=clock.now, reason=reason)


def test_an_approval_marks_the_proposal_for_the_runner(
    pending: Proposal, maya: User, clock: Clock
) -> None:
    approved = approve(pending, maya, clock)

    stored = Proposal.objects.get(pk=pending.pk)
    assert stored.state == approved.state == "approved"
    assert stored.run_at == clock.now
    assert stored.execute_before == clock.now + timedelta(hours=24)
    assert (stored.decided_by, stored.answer) == ("person/maya", "approve")
    assert stored.decided_at == clock.now
    assert not stored.steps.exists()


def test_an_approval_may_leave_a_moment_to_take_it_back(
    pending: Proposal, maya: User, clock: Clock
) -> None:
    grace = timedelta(seconds=8)

    approved = answers.approve(
        pending.pk, person=maya, seen=seen(pending), now=clock.now, after=grace
    )

    assert approved.run_at == clock.now + grace
    assert approved.execute_before == clock.now + grace + timedelta(hours=24)


@pytest.mark.parametrize(("risk", "minutes"), [("low", 1440), ("medium", 240), ("high", 15)])
def test_what_is_approved_has_to_begin_the_sooner_the_more_it_risks(
    clock: Clock, maya: User, risk: str, minutes: int
) -> None:
    row = proposal(clock, agent(clock), controller(clock), risk=risk)

    approved = approve(row, maya, clock, reason="Looked at it.")

    assert approved.execute_before == clock.now + timedelta(minutes=minutes)


def test_an_approval_wakes_whoever_waits(
    pending: Proposal, maya: User, clock: Clock, django_capture_on_commit_callbacks: object
) -> None:
    woken: list[bool] = []
    listener = lambda: woken.append(True)  # noqa: E731
    announcements.listeners.add(listener)
    try:
        with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
            approve(pending, maya, clock)
    finally:
        announcements.listeners.discard(listener)

    assert woken


def test_the_ledger_keeps_the_answer_its_reason_and_what_was_shown(
    pending: Proposal, maya: User, clock: Clock
) -> None:
    approve(pending, maya, clock, reason="It spends too much.")

    (event,) = events(pending)
    assert (event.event, event.actor) == ("proposal.approved", "person/maya")
    assert event.payload["reason"] == "It spends too much."
    assert event.payload["shownDigest"] == pending.action_digest
    assert event.payload["shownRevision"] == 1
    assert event.payload["state"] == "approved"
    assert event.correlation_id == "story"


def test_a_decision_is_kept_with_its_digest(pending: Proposal, maya: User, clock: Clock) -> None:
    approve(pending, maya, clock, reason="Yes.")

    decision = Decision.objects.get(proposal=pending)
    assert (decision.person, decision.answer, decision.reason) == (maya, "approve", "Yes.")
    assert (decision.revision, decision.shown) == (1, pending.action_digest)
    assert decision.counts
    assert decision.at == clock.now


def test_a_recommendation_that_is_approved_runs_like_a_proposal(clock: Clock, maya: User) -> None:
    row = proposal(clock, agent(clock), controller(clock), state="recommended", lane="recommend")

    assert approve(row, maya, clock).state == "approved"


def test_one_no_is_enough_and_says_when_it_may_come_back(
    pending: Proposal, maya: User, clock: Clock
) -> None:
    rejected = reject(pending, maya, clock)

    assert rejected.state == "rejected"
    assert (rejected.quiet_until, rejected.quiet_above) == (None, pending.score)
    assert names(pending) == ["proposal.rejected"]


def test_a_no_comes_too_late_for_what_is_approved(
    pending: Proposal, maya: User, tomas: User, clock: Clock
) -> None:
    approve(pending, maya, clock, reason="Needed.")

    with refuses("decided", match="person/maya") as late:
        reject(pending, tomas, clock)

    assert late.value.facts["allowed"] == ["override", "withdraw"]


def test_whoever_approved_may_take_it_back_before_it_begins(
    pending: Proposal, maya: User, tomas: User, clock: Clock
) -> None:
    approve(pending, maya, clock)
    with refuses("forbidden"):
        answers.withdraw(
            pending.pk, person=tomas, seen=seen(pending), now=clock.now, reason="Not mine."
        )

    withdrawn = answers.withdraw(
        pending.pk, person=maya, seen=seen(pending), now=clock.now, reason="A slip."
    )

    assert withdrawn.state == "withdrawn"


def test_whoever_is_late_learns_who_decided_when_and_why(
    pending: Proposal, maya: User, tomas: User, clock: Clock
) -> None:
    """I4: one decision, the loser is told who won."""
    reject(pending, maya, clock, reason="Wrong agent.")

    with refuses("decided") as late:
        approve(pending, tomas, clock)

    assert "person/maya" in str(late.value)
    assert f"{clock.now:%Y-%m-%d %H:%M:%S} UTC" in str(late.value)
    assert "Wrong agent." in str(late.value)
    assert late.value.facts["allowed"] == []
    assert late.value.facts["proposal"] == pending.pk
    assert names(pending) == ["proposal.rejected"]


@pytest.mark.parametrize("answer", [approve, reject, break_glass])
def test_the_same_answer_twice_is_one_answer(
    pending: Proposal, maya: User, clock: Clock, answer: object
) -> None:
    first = answer(pending, maya, clock)  # type: ignore[operator]
    clock.advance(seconds=1)

    again = answer(pending, maya, clock)  # type: ignore[operator]

    assert (again.pk, again.state, again.decided_at) == (first.pk, first.state, first.decided_at)
    assert len(events(pending)) == 1
    assert Decision.objects.filter(proposal=pending).count() == 1


def test_a_vote_that_was_outvoted_is_not_taken_for_the_result(
    clock: Clock, maya: User, tomas: User
) -> None:
    row = proposal(clock, agent(clock), controller(clock), people=2)
    approve(row, maya, clock)
    reject(row, tomas, clock)

    with refuses("decided", match="person/tomas"):
        approve(row, maya, clock)


def test_a_late_answer_is_told_that_it_is_too_late(
    pending: Proposal, maya: User, clock: Clock
) -> None:
    clock.advance(days=7)

    with refuses("expired", match="It expired at"):
        approve(pending, maya, clock)

    assert Proposal.objects.get(pk=pending.pk).state == "pending"


def test_the_clock_ends_a_proposal_without_any_sweep(clock: Clock, maya: User) -> None:
    """A caller whose clock is slow cannot beat the deadline: the database's counts too."""
    past = clock.now - timedelta(seconds=1)
    row = proposal(clock, agent(clock), controller(clock), expires_at=past)

    with refuses("expired"):
        answers.approve(row.pk, person=maya, seen=seen(row), now=clock.now - timedelta(hours=1))


@pytest.mark.parametrize("glance", [SeenRevision(2, ""), SeenRevision(1, "0" * 64)])
def test_an_answer_to_something_else_is_not_counted(
    pending: Proposal, maya: User, clock: Clock, glance: SeenRevision
) -> None:
    """I8: what you saw is what runs."""
    with refuses("changed") as changed:
        answers.approve(pending.pk, person=maya, seen=glance, now=clock.now)

    assert changed.value.facts == {"proposal": pending.pk, "revision": glance.revision}
    assert not Decision.objects.exists()
    assert not events(pending)


def test_there_is_nothing_to_say_about_what_is_not_there(maya: User, clock: Clock) -> None:
    for say in (answers.approve, answers.override, answers.adopt):
        with refuses("not-found", match="There is no proposal/404"):
            say(404, person=maya, seen=SeenRevision(1, ""), now=clock.now, reason="Why not.")


@pytest.mark.parametrize(
    ("given", "routine"),
    [
        ({}, True),
        ({"risk": "medium"}, True),
        ({"risk": "high"}, False),
        ({"reversible": False}, False),
    ],
)
def test_only_a_routine_approval_needs_no_words(
    clock: Clock, maya: User, given: dict[str, object], routine: bool
) -> None:
    """O-62"""
    row = proposal(clock, agent(clock), controller(clock), **given)

    if routine:
        assert approve(row, maya, clock).state == "approved"
        return
    with refuses("invalid", match="Say why"):
        approve(row, maya, clock, reason="  ")
    assert Proposal.objects.get(pk=row.pk).lock == 0


@pytest.mark.parametrize("reason", ["", "   ", "x" * 2_001, "a\x00b", "half \ud800"])
def test_a_reason_that_cannot_be_kept_is_refused(
    pending: Proposal, maya: User, clock: Clock, reason: str
) -> None:
    with refuses("invalid"):
        reject(pending, maya, clock, reason=reason)

    assert Proposal.objects.get(pk=pending.pk).state == "pending"


def test_people_without_the_right_decide_nothing(
    pending: Proposal, ines: User, vera: User, clock: Clock
) -> None:
    outsider = person(clock, "olga", "approver", domain="finance")
    cautious = person(clock, "carl", "approver", ceiling="low")
    risky = proposal(clock, agent(clock, "other"), risk="medium")

    for row, who in ((pending, ines), (pending, vera), (pending, outsider), (risky, cautious)):
        for answer in (approve, reject):
            with refuses("forbidden"):
                answer(row, who, clock)
    assert not Decision.objects.exists()
    assert not events(pending)


def test_nobody_approves_what_they_proposed_but_they_may_say_no(clock: Clock, maya: User) -> None:
    """I9: separation of duties."""
    row = proposal(clock, agent(clock), proposer="person/maya", interested=["maya"])

    with refuses("forbidden"):
        approve(row, maya, clock)
    assert reject(row, maya, clock).state == "rejected"


def test_glass_is_broken_alone_and_loudly(clock: Clock, maya: User) -> None:
    row = proposal(
        clock, agent(clock), risk="high", people=2, interested=["maya"], proposer="person/maya"
    )

    forced = break_glass(row, maya, clock)

    (event,) = events(row)
    assert forced.state == "approved"
    assert forced.review_by == clock.now + timedelta(hours=1)
    assert forced.execute_before == clock.now + timedelta(minutes=15)
    assert (event.event, event.severity) == ("proposal.glass-broken", "critical")
    assert event.payload["reason"] == EMERGENCY
    told = Delivery.objects.get(proposal=row)
    assert told.severity == "critical"
    assert EMERGENCY in told.body


def test_glass_is_not_broken_without_a_good_reason(
    pending: Proposal, maya: User, clock: Clock
) -> None:
    with refuses("invalid", match="at least 10 characters"):
        break_glass(pending, maya, clock, reason="Now!")


def test_an_administrator_may_break_glass_and_others_may_not(
    pending: Proposal, ines: User, vera: User, clock: Clock
) -> None:
    for who in (ines, vera):
        with refuses("forbidden"):
            break_glass(pending, who, clock)

    assert break_glass(pending, person(clock, "ada", "administrator"), clock).state == "approved"


def test_what_others_approve_afterwards_needs_no_review_of_the_glass(
    pending: Proposal, maya: User, tomas: User, clock: Clock
) -> None:
    """A plan that was forced, revised, and then approved is not undone for want of a look."""
    break_glass(pending, maya, clock)
    Proposal.objects.filter(pk=pending.pk).update(state="pending", answer="", decided_by="")
    pending.refresh_from_db()

    approved = approve(pending, tomas, clock)

    assert (approved.state, approved.answer, approved.review_by) == ("approved", "approve", None)


def test_a_second_person_reviews_broken_glass(
    pending: Proposal, maya: User, tomas: User, clock: Clock
) -> None:
    break_glass(pending, maya, clock)
    with refuses("forbidden", match="Somebody else"):
        answers.review(pending.pk, person=maya, now=clock.now, reason="I was right.")

    reviewed = answers.review(pending.pk, person=tomas, now=clock.now, reason="She was right.")

    assert reviewed.review_by is None
    assert names(pending) == ["proposal.glass-broken", "proposal.reviewed"]
    with refuses("invalid", match="Nobody has to review"):
        answers.review(pending.pk, person=tomas, now=clock.now, reason="Again.")
