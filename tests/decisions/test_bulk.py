"""One cause, many resources: shown together, decided one by one."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from controllers.decisions import answers, proposal_groups
from controllers.decisions.proposals import SeenRevision
from controllers.models import Decision, Proposal
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.decisions.making import agent, controller, person, proposal, seen
from tests.problems import refuses

pytestmark = pytest.mark.django_db

CAUSE = "c" * 64


def crowd(clock: Clock, many: int, **given: object) -> list[Proposal]:
    """Make proposals with one cause, each about an agent of its own."""
    keeper = controller(clock)
    return [
        proposal(clock, agent(clock, f"agent-{number}"), keeper, **{"cause": CAUSE, **given})
        for number in range(many)
    ]


def wanted(rows: list[Proposal]) -> list[tuple[int, SeenRevision]]:
    return [(row.pk, seen(row)) for row in rows]


def test_proposals_with_one_cause_are_one_group(clock: Clock) -> None:
    rows = crowd(clock, 3, score=0.3)
    Proposal.objects.filter(pk=rows[1].pk).update(score=0.9, risk="high")
    proposal(clock, agent(clock, "alone"))
    other = proposal(clock, agent(clock, "other"), cause="d" * 64)

    first, second = proposal_groups.groups(clock.now)

    assert (first.cause, first.count, first.together, first.worst) == (CAUSE, 3, 2, 0.9)
    assert first.sample == rows[0]
    assert (second.count, second.sample) == (1, other)


def test_only_what_waits_in_sight_is_grouped(clock: Clock) -> None:
    late, resting, decided, open_one = crowd(clock, 4)
    soon = clock.now + timedelta(hours=1)
    Proposal.objects.filter(pk=late.pk).update(expires_at=clock.now - timedelta(seconds=1))
    Proposal.objects.filter(pk=resting.pk).update(quiet_until=soon)
    Proposal.objects.filter(pk=decided.pk).update(state="approved")

    (group,) = proposal_groups.groups(clock.now)

    assert (group.count, group.sample) == (1, open_one)
    clock.advance(hours=2)
    assert proposal_groups.groups(clock.now)[0].count == 2


def test_each_is_decided_by_itself_and_says_what_became_of_it(
    clock: Clock, maya: User, tomas: User
) -> None:
    fine, grave, stale, taken, late, foreign = crowd(clock, 6)
    asked = wanted([fine, grave, stale, taken, late, foreign])
    Proposal.objects.filter(pk=grave.pk).update(risk="high")
    Proposal.objects.filter(pk=stale.pk).update(revision=2)
    answers.reject(taken.pk, person=tomas, seen=seen(taken), now=clock.now, reason="Mine.")
    Proposal.objects.filter(pk=late.pk).update(expires_at=clock.now - timedelta(seconds=1))
    Proposal.objects.filter(pk=foreign.pk).update(interested=["maya"])

    results = proposal_groups.decide_all(
        [*asked, (404, SeenRevision(1, ""))],
        "approve",
        person=maya,
        now=clock.now,
        reason="All of them.",
    )

    words = ["done", "excluded", "changed", "decided", "expired", "denied", "missing"]
    assert [each.word for each in results] == words
    assert [each.key for each in results] == [key for key, _ in asked] + [404]
    assert results[0].done
    assert "person/tomas" in results[3].message
    assert all(each.message for each in results[1:])
    states = {row.pk: row.state for row in Proposal.objects.all()}
    assert states[fine.pk] == "approved"
    assert [states[row.pk] for row in (grave, stale, late, foreign)] == ["pending"] * 4
    assert Decision.objects.filter(person=maya).count() == 1


def test_what_cannot_be_undone_is_decided_by_itself(clock: Clock, maya: User) -> None:
    rows = crowd(clock, 1, reversible=False)

    (result,) = proposal_groups.decide_all(
        wanted(rows), "reject", person=maya, now=clock.now, reason="No."
    )

    assert result.word == "excluded"


def test_every_answer_has_its_own_entry_in_the_ledger(clock: Clock, maya: User) -> None:
    rows = crowd(clock, 5)

    results = proposal_groups.decide_all(
        wanted(rows), "reject", person=maya, now=clock.now, reason="None of them."
    )

    assert all(each.done for each in results)
    told = LedgerEvent.objects.filter(event="proposal.rejected")
    assert {each.payload["reason"] for each in told} == {"None of them."}
    assert {each.payload["shownDigest"] for each in told} == {row.action_digest for row in rows}


def test_answers_with_a_time_are_given_together_too(clock: Clock, maya: User) -> None:
    rows, until = crowd(clock, 2), clock.now + timedelta(days=3)

    accepted = proposal_groups.decide_all(
        wanted(rows[:1]), "accept", person=maya, now=clock.now, reason="Fine.", until=until
    )
    snoozed = proposal_groups.decide_all(
        wanted(rows[1:]),
        "snooze",
        person=maya,
        now=clock.now,
        reason="Later.",
        rest=answers.Rest(until),
    )

    assert [each.done for each in (*accepted, *snoozed)] == [True, True]
    assert set(Proposal.objects.values_list("quiet_until", flat=True)) == {until}


def test_a_missing_reason_is_told_for_each(clock: Clock, maya: User) -> None:
    results = proposal_groups.decide_all(
        wanted(crowd(clock, 2)), "reject", person=maya, now=clock.now
    )

    assert [(each.word, each.message) for each in results] == [("refused", "Say why.")] * 2


@pytest.mark.parametrize("answer", ["break_glass", "undo", "change", "nonsense"])
def test_some_answers_are_never_given_together(clock: Clock, maya: User, answer: str) -> None:
    with refuses("invalid"):
        proposal_groups.decide_all([], answer, person=maya, now=clock.now, reason="All.")


def test_at_most_two_hundred_are_decided_at_once(clock: Clock, maya: User) -> None:
    many = [(key, SeenRevision(1, "")) for key in range(1, 202)]

    with refuses("invalid", match="At most 200"):
        proposal_groups.decide_all(many, "approve", person=maya, now=clock.now)
    assert (
        len(proposal_groups.decide_all(many[:200], "approve", person=maya, now=clock.now)) == 200
    )


def test_a_person_decides_together_only_where_they_may(clock: Clock) -> None:
    rows = crowd(clock, 1)
    looker = person(clock, "vic", "viewer", domain=rows[0].resource.domain)
    outsider = person(clock, "olga", "approver", domain="finance")

    words = [
        proposal_groups.decide_all(wanted(rows), "approve", person=who, now=clock.now)[0].word
        for who in (looker, outsider)
    ]

    # What somebody does not see is not there.
    assert words == ["denied", "missing"]
