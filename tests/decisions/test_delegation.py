"""Deputies: out of office, somebody else decides, and the two are one."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers.access import roles
from controllers.access.roles import Authority
from controllers.models import Decision, Delegation, Grant, Proposal
from resources.documents.problems import Problem
from resources.tables.models import LedgerEvent, Resource
from tests.conftest import Clock
from tests.decisions.making import agent, person, proposal
from tests.problems import refuses

pytestmark = pytest.mark.django_db


@pytest.fixture
def target(clock: Clock) -> Resource:
    """Return an agent of growth."""
    return agent(clock)


def delegate(clock: Clock, who: User, deputy: User, **given: Any) -> Delegation:
    """Let a deputy decide for a week."""
    dates = {"starts_at": clock.now, "ends_at": clock.now + timedelta(days=7)} | given
    return roles.delegate(deputy, person=who, now=clock.now, **dates)


def refusal(who: User, row: Proposal, now: datetime) -> str:
    try:
        roles.authority(who, row, now)
    except Problem as error:
        return error.rule
    return ""


def vote(row: Proposal, clock: Clock, who: User) -> None:
    """Approve by whatever right somebody has."""
    behalf = roles.authority(who, row, clock.now).behalf
    Decision.objects.create(
        proposal=row,
        revision=row.revision,
        person=who,
        behalf=behalf,
        actor=f"person/{who}",
        answer="approve",
        shown=row.action_digest,
        at=clock.now,
    )


def valid(row: Proposal, clock: Clock) -> list[str]:
    found = roles.still_valid(Decision.objects.filter(proposal=row), row, clock.now)
    return [str(each.person) for each in found]


def told(username: str) -> list[tuple[str, str]]:
    found = LedgerEvent.objects.filter(stream=f"person/{username}").order_by("seq")
    return [(each.event, each.actor) for each in found]


def test_a_deputy_decides_for_the_one_who_is_away(
    clock: Clock, target: Resource, maya: User, ines: User
) -> None:
    row = proposal(clock, target, risk="high")
    assert refusal(ines, row, clock.now) == "NotApprover"

    delegate(clock, maya, ines, reason="On holiday.")

    assert roles.authority(ines, row, clock.now) == Authority(ines, maya)
    assert roles.deciders(row, clock.now) == [ines, maya]
    entry = LedgerEvent.objects.get(stream="person/maya")
    assert (entry.event, entry.actor) == ("person.delegated", "person/maya")
    assert entry.payload["deputy"] == "person/ines"
    assert entry.payload["reason"] == "On holiday."


def test_somebody_with_a_right_of_their_own_uses_that(
    clock: Clock, target: Resource, maya: User, tomas: User
) -> None:
    delegate(clock, maya, tomas)

    row = proposal(clock, target)

    assert roles.authority(tomas, row, clock.now) == Authority(tomas, None)


def test_a_deputy_may_no_more_than_the_one_they_decide_for(
    clock: Clock, target: Resource, ines: User
) -> None:
    careful = person(clock, "carl", "approver", "growth", ceiling="low")
    delegate(clock, careful, ines)
    elsewhere = agent(clock, "teller", "finance")

    assert refusal(ines, proposal(clock, target), clock.now) == ""
    risky = proposal(clock, target, risk="medium", proposer="agent/wren")
    assert refusal(ines, risky, clock.now) == "AboveCeiling"
    assert refusal(ines, proposal(clock, elsewhere), clock.now) == "NotApprover"


def test_a_deputy_of_a_deputy_decides_nothing(
    clock: Clock, target: Resource, maya: User, ines: User, vera: User
) -> None:
    delegate(clock, maya, ines)

    with refuses("forbidden") as caught:
        delegate(clock, ines, vera)
    Delegation.objects.create(
        person=ines,
        deputy=vera,
        starts_at=clock.now,
        ends_at=clock.now + timedelta(days=1),
        created_at=clock.now,
    )

    assert caught.value.rule == "NotApprover"
    assert refusal(vera, proposal(clock, target), clock.now) == "NotApprover"


@pytest.mark.parametrize("name", ["maya", "ines"])
def test_the_part_of_either_bars_a_deputy(
    clock: Clock, target: Resource, maya: User, ines: User, name: str
) -> None:
    """I9: nobody approves their own through somebody else."""
    delegate(clock, maya, ines)
    row = proposal(clock, target, proposer=f"person/{name}")

    assert refusal(ines, row, clock.now) == "Proposer"
    assert ines not in roles.deciders(row, clock.now)


def test_a_deputy_of_two_decides_for_the_one_who_is_free_to(
    clock: Clock, target: Resource, maya: User, tomas: User, ines: User
) -> None:
    for who in (maya, tomas):
        delegate(clock, who, ines)
    barred = proposal(clock, target, proposer="person/maya")
    heard = proposal(clock, target, people=2)
    vote(heard, clock, maya)

    assert roles.authority(ines, barred, clock.now) == Authority(ines, tomas)
    assert roles.authority(ines, heard, clock.now) == Authority(ines, tomas)
    vote(heard, clock, ines)
    assert valid(heard, clock) == ["maya", "ines"]


def test_a_delegation_counts_between_its_dates(
    clock: Clock, target: Resource, maya: User, ines: User
) -> None:
    start = clock.now + timedelta(hours=1)
    delegate(clock, maya, ines, starts_at=start, ends_at=start + timedelta(hours=1))
    row = proposal(clock, target)

    found = [refusal(ines, row, start + timedelta(minutes=minutes)) for minutes in (-1, 0, 59, 60)]

    assert found == ["NotApprover", "", "", "NotApprover"]


@pytest.mark.parametrize("gone", ["maya", "ines"])
def test_a_delegation_rests_while_either_is_not_active(
    clock: Clock, target: Resource, maya: User, ines: User, gone: str
) -> None:
    delegate(clock, maya, ines)
    row = proposal(clock, target)
    vote(row, clock, ines)
    User.objects.filter(username=gone).update(is_active=False)

    assert refusal(ines, row, clock.now) in ("NotApprover", "Inactive")
    assert ines not in roles.deciders(row, clock.now)
    assert valid(row, clock) == []


def test_somebody_and_their_deputy_are_one(
    clock: Clock, target: Resource, maya: User, ines: User, vera: User
) -> None:
    """I9: as many different people as are needed."""
    for deputy in (ines, vera):
        delegate(clock, maya, deputy)
    row = proposal(clock, target, people=2)

    for who in (ines, vera, maya):
        vote(row, clock, who)
        clock.advance(seconds=1)

    assert valid(row, clock) == ["ines"]


def test_nobody_counts_for_themselves_and_for_somebody_else(
    clock: Clock, target: Resource, maya: User, tomas: User, ines: User
) -> None:
    """Tomás decides for Maya, Ines for Tomás: Tomás has a hand in both."""
    delegate(clock, maya, tomas)
    delegate(clock, tomas, ines)
    row = proposal(clock, target, people=2)
    vote(row, clock, ines)
    Grant.objects.filter(person=tomas).update(domain="finance")
    vote(row, clock, tomas)
    Grant.objects.filter(person=tomas).update(domain="")

    assert valid(row, clock) == ["ines"]


def test_a_vote_outlives_the_delegation_but_not_the_right_behind_it(
    clock: Clock, target: Resource, maya: User, ines: User
) -> None:
    """I1: the deputy's vote stands on the delegator's right."""
    standing = delegate(clock, maya, ines)
    row = proposal(clock, target)
    vote(row, clock, ines)
    clock.advance(minutes=1)
    roles.end_delegation(standing.pk, by=maya, now=clock.now)
    assert valid(row, clock) == ["ines"]

    Grant.objects.filter(person=maya).update(role="viewer")

    assert valid(row, clock) == []


def test_a_vote_cast_without_a_delegation_does_not_count(
    clock: Clock, target: Resource, maya: User, ines: User
) -> None:
    standing = delegate(clock, maya, ines)
    row = proposal(clock, target)
    vote(row, clock, ines)

    for change in (
        {"starts_at": clock.now + timedelta(seconds=1)},
        {"starts_at": clock.now - timedelta(days=1), "ends_at": clock.now},
        {"ends_at": clock.now + timedelta(days=7), "revoked_at": clock.now},
    ):
        Delegation.objects.filter(pk=standing.pk).update(**change)
        assert valid(row, clock) == []


# Beginning and ending.


def test_only_who_may_decide_names_a_deputy(clock: Clock, ines: User, vera: User) -> None:
    local = person(clock, "pat", "approver", "growth")

    assert delegate(clock, local, vera).deputy == vera
    for who in (ines, vera, person(clock, "ada", "administrator")):
        with refuses("forbidden") as caught:
            delegate(clock, who, local)
        assert caught.value.rule == "NotApprover"
        assert not told(who.get_username())


def test_a_delegation_never_began_in_the_past(clock: Clock, maya: User, ines: User) -> None:
    made = delegate(clock, maya, ines, starts_at=clock.now - timedelta(days=3))

    assert made.starts_at == clock.now


@pytest.mark.parametrize(
    ("days", "reason", "sentence"),
    [
        (0, "", "ends after it begins"),
        (-1, "", "ends after it begins"),
        (91, "", "at most 90 days"),
        (1, "x" * 501, "at most 500 characters"),
        (1, "a\x00b", "NUL"),
    ],
)
def test_a_delegation_that_makes_no_sense_is_refused(
    clock: Clock, maya: User, ines: User, days: int, reason: str, sentence: str
) -> None:
    with refuses("invalid", match=sentence):
        delegate(clock, maya, ines, ends_at=clock.now + timedelta(days=days), reason=reason)

    assert not Delegation.objects.exists()
    assert not told("maya")


def test_nobody_is_their_own_deputy_and_nobody_who_left_is_one(
    clock: Clock, maya: User, ines: User
) -> None:
    User.objects.filter(pk=ines.pk).update(is_active=False)

    with refuses("invalid"):
        delegate(clock, maya, maya)
    with refuses("refused"):
        delegate(clock, maya, ines)


@pytest.mark.parametrize("name", ["maya", "ines", "ada"])
def test_its_people_and_administrators_end_a_delegation_once(
    clock: Clock, target: Resource, maya: User, ines: User, name: str
) -> None:
    person(clock, "ada", "administrator")
    standing = delegate(clock, maya, ines)
    by = User.objects.get(username=name)

    for _ in range(2):
        ended = roles.end_delegation(standing.pk, by=by, now=clock.now)

    assert ended.revoked_at == clock.now
    assert refusal(ines, proposal(clock, target), clock.now) == "NotApprover"
    assert told("maya")[1:] == [("person.delegation-ended", f"person/{name}")]


def test_strangers_end_no_delegation(clock: Clock, maya: User, ines: User, tomas: User) -> None:
    standing = delegate(clock, maya, ines)
    local = person(clock, "ada", "administrator", "growth")

    for who in (tomas, local):
        with refuses("forbidden") as caught:
            roles.end_delegation(standing.pk, by=who, now=clock.now)
        assert caught.value.rule == "NotInvolved"
    with refuses("not-found"):
        roles.end_delegation(0, by=maya, now=clock.now)
    assert Delegation.objects.get().revoked_at is None
