"""Policies say who has to approve: the strictest wins, and a group's word is its members'."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.access import roles
from controllers.access.roles import Authority
from controllers.decisions import answers
from controllers.models import ApprovalGroup, Decision, Grant, Membership, Proposal
from resources.documents.problems import Problem
from resources.tables.models import LedgerEvent
from tests.conftest import Clock, given
from tests.controllers.making import declare
from tests.decisions.carrying import LIMIT, approve, keeper, limit, now, overspending, planned, run
from tests.decisions.making import agent, controller, person, proposal, seen
from tests.problems import refuses
from tests.resources.conftest import real_database
from tests.resources.making import made
from tests.resources.racing import together

__all__ = ["real_database"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def wish(clock: Clock) -> Proposal:
    """Return a proposal for growth that one person decides."""
    return proposal(clock, agent(clock), controller(clock))


@pytest.fixture
def noor(clock: Clock) -> User:
    """Return a third manager."""
    return person(clock, "noor", "approver")


def governed(
    clock: Clock, *policies: dict[str, Any], name: str = "house", domain: str = "*", **spec: Any
) -> None:
    """Declare who has to approve."""
    declared = {"domain": domain, "approvalPolicies": list(policies), **spec}
    declare(clock, made("Governance", name, declared))


def policy(**given: Any) -> dict[str, Any]:
    return {"name": "careful", **given}


def group(clock: Clock, name: str, *members: User) -> ApprovalGroup:
    """Make a group with people in it."""
    found = ApprovalGroup.objects.create(name=name, created_by="system/ioa", created_at=clock.now)
    for each in members:
        Membership.objects.create(
            group=found, person=each, added_by="system/ioa", added_at=clock.now
        )
    return found


def say_yes(clock: Clock, row: Proposal, who: User) -> Proposal:
    row = now(row)
    return answers.approve(
        row.pk, person=who, seen=seen(row), now=clock.now, reason="Looked at it."
    )


def tally(clock: Clock, row: Proposal) -> roles.Tally:
    votes = roles.still_valid(Decision.objects.filter(proposal=row), row, clock.now)
    return roles.quorum_of(row).tally(votes)


def test_without_a_policy_the_gate_alone_says_how_many(clock: Clock, wish: Proposal) -> None:
    governed(clock)

    assert roles.quorum_of(wish) == roles.Quorum(1, (), {})
    assert roles.quorum_of(wish, asked=2).people == 2


def test_the_strictest_policy_wins_and_none_lowers(
    clock: Clock, wish: Proposal, maya: User, tomas: User, noor: User
) -> None:
    governed(clock, policy(people=1), policy(name="strict", people=3), policy(people=2))

    assert roles.quorum_of(wish).people == 3
    assert roles.quorum_of(wish, asked=4).people == 4
    assert [say_yes(clock, wish, each).state for each in (maya, tomas, noor)] == [
        "pending",
        "pending",
        "approved",
    ]
    votes = LedgerEvent.objects.filter(stream=wish.stream).order_by("seq")
    assert [(each.payload["votes"], each.payload["people"]) for each in votes] == [
        (1, 3),
        (2, 3),
        (3, 3),
    ]


def test_a_policy_that_asks_for_fewer_changes_nothing(clock: Clock, maya: User) -> None:
    pair = proposal(clock, agent(clock), controller(clock), people=2)
    governed(clock, policy(people=1))

    assert say_yes(clock, pair, maya).state == "pending"


@pytest.mark.parametrize(
    ("match", "counts"),
    [
        ({}, True),
        ({"operations": ["throttle", "restart"]}, True),
        ({"operations": ["restart"]}, False),
        ({"kinds": ["Agent"]}, True),
        ({"kinds": ["Budget"]}, False),
        ({"domains": ["growth"]}, True),
        ({"domains": ["finance"]}, False),
        ({"risks": ["low"]}, True),
        ({"risks": ["medium", "high"]}, False),
        ({"reversible": True}, True),
        ({"reversible": False}, False),
        ({"kinds": ["Agent"], "risks": ["high"]}, False),
    ],
)
def test_a_policy_is_about_what_it_names(
    clock: Clock, wish: Proposal, match: dict[str, Any], counts: bool
) -> None:
    governed(clock, policy(match=match, people=2))

    assert roles.quorum_of(wish).people == (2 if counts else 1)


def test_policies_count_where_their_governance_does(clock: Clock, wish: Proposal) -> None:
    governed(clock, policy(name="theirs", people=4), name="theirs", domain="finance")
    governed(clock, policy(name="above", people=2), name="above", domain="elsewhere")
    governed(clock, policy(name="ours"), name="ours", domain="growth", extends="above")
    governed(clock, policy(name="all"), name="all")

    found = roles.quorum_of(wish)

    assert [each.name for each in found.policies] == ["ours", "above", "all"]
    assert found.people == 2
    assert found.policies[1].sentence == "Policy above of governance/above asks for 2 people."


def test_what_runs_without_people_is_asked_for_none(clock: Clock) -> None:
    governed(clock, policy(people=2))
    alone = proposal(clock, agent(clock), controller(clock), lane="run", people=0)

    assert roles.quorum_of(alone).people == 0


def test_so_many_have_to_be_in_the_group(
    clock: Clock, wish: Proposal, maya: User, tomas: User, noor: User
) -> None:
    group(clock, "board", tomas, noor)
    governed(clock, policy(people=2, group="board"))

    assert say_yes(clock, wish, maya).state == "pending"
    assert say_yes(clock, wish, tomas).state == "pending"
    found = tally(clock, wish)
    assert (found.needed, found.given, found.missing) == (2, 2, 1)
    assert found.sentence == "It needs 1 of board more."
    assert say_yes(clock, wish, noor).state == "approved"
    told = LedgerEvent.objects.filter(stream=wish.stream).latest("seq").payload
    assert told["groups"] == [{"group": "board", "people": 2, "votes": 2}]


def test_somebody_in_two_groups_speaks_for_both(
    clock: Clock, wish: Proposal, maya: User, tomas: User
) -> None:
    group(clock, "board", maya)
    group(clock, "guild", maya, tomas)
    governed(clock, policy(group="board"), policy(name="too", group="guild"))

    assert say_yes(clock, wish, maya).state == "approved"


def test_being_in_a_group_alone_decides_nothing(clock: Clock, wish: Proposal, vera: User) -> None:
    group(clock, "board", vera)
    governed(clock, policy(group="board"))

    with refuses("forbidden") as caught:
        say_yes(clock, wish, vera)

    assert caught.value.rule == "NotApprover"


def test_whoever_proposed_it_is_barred_in_the_group_too(clock: Clock, maya: User) -> None:
    own = proposal(clock, agent(clock), proposer="person/maya", interested=["maya"])
    group(clock, "board", maya)
    governed(clock, policy(group="board"))

    with refuses("forbidden") as caught:
        say_yes(clock, own, maya)

    assert caught.value.rule == "Proposer"


def test_a_deputy_speaks_for_a_member(
    clock: Clock, wish: Proposal, maya: User, ines: User
) -> None:
    group(clock, "board", maya)
    governed(clock, policy(group="board"))
    away(clock, maya, ines)

    assert say_yes(clock, wish, ines).state == "approved"


def test_a_deputy_with_a_right_of_their_own_speaks_for_the_member(
    clock: Clock, wish: Proposal, maya: User, tomas: User
) -> None:
    group(clock, "board", maya)
    governed(clock, policy(group="board"))
    away(clock, maya, tomas)

    (first, second) = roles.entitled(wish, clock.now, roles.quorum_of(wish))

    assert roles.authority(tomas, wish, clock.now) == Authority(tomas, maya)
    assert (first.person, first.why) == (maya, "approver, in board")
    assert (second.person, second.why) == (tomas, "deputy of maya, in board")
    assert say_yes(clock, wish, tomas).state == "approved"


def test_a_member_who_stands_in_for_another_is_not_heard_as_a_member(
    clock: Clock, wish: Proposal, maya: User, ines: User
) -> None:
    """It is the other's right that is used, and they are not in the group."""
    group(clock, "board", ines)
    governed(clock, policy(group="board"))
    away(clock, maya, ines)

    assert say_yes(clock, wish, ines).state == "pending"


def test_somebody_and_their_deputy_are_one_in_the_group(
    clock: Clock, wish: Proposal, maya: User, ines: User, tomas: User
) -> None:
    group(clock, "board", maya, tomas)
    governed(clock, policy(group="board", people=2))
    away(clock, maya, ines)

    assert say_yes(clock, wish, maya).state == "pending"
    assert say_yes(clock, wish, ines).state == "pending"
    assert say_yes(clock, wish, tomas).state == "approved"


def away(clock: Clock, who: User, deputy: User) -> None:
    """Let somebody decide for another for a day."""
    until = clock.now + timedelta(days=1)
    roles.delegate(deputy, person=who, starts_at=clock.now, ends_at=until, now=clock.now)


def test_a_group_that_is_not_there_lets_nobody_approve(
    clock: Clock, wish: Proposal, maya: User
) -> None:
    governed(clock, policy(group="board"))

    with refuses("refused", match="There is no group board"):
        say_yes(clock, wish, maya)

    assert not Decision.objects.filter(proposal=wish).exists()
    assert tally(clock, wish).sentence.startswith("There is no group board")
    group(clock, "board", maya)
    assert say_yes(clock, wish, maya).state == "approved"


def test_one_no_is_enough_whoever_is_asked_for(
    clock: Clock, wish: Proposal, maya: User, tomas: User
) -> None:
    group(clock, "board", tomas)
    governed(clock, policy(group="board", people=1))

    refused = answers.reject(
        wish.pk, person=maya, seen=seen(wish), now=clock.now, reason="Not now."
    )

    assert refused.state == "rejected"


def test_in_an_emergency_no_group_stands_in_the_way(
    clock: Clock, wish: Proposal, maya: User
) -> None:
    governed(clock, policy(group="board", people=3))

    broken = answers.break_glass(
        wish.pk, person=maya, seen=seen(wish), now=clock.now, reason="The house is on fire."
    )

    assert broken.state == "approved"


def test_who_joins_the_group_later_says_it_again(
    clock: Clock, wish: Proposal, maya: User, tomas: User
) -> None:
    board = group(clock, "board", tomas)
    governed(clock, policy(group="board"))
    assert say_yes(clock, wish, maya).state == "pending"

    Membership.objects.create(group=board, person=maya, added_by="x", added_at=clock.now)

    assert say_yes(clock, wish, maya).state == "approved"
    assert Decision.objects.filter(proposal=wish).count() == 1


class TestBeforeItRuns:
    """What was approved is asked about again when it is claimed."""

    @pytest.fixture
    def approved(self, clock: Clock, maya: User) -> Proposal:
        """Return what maya approved and nobody has begun."""
        return approve(clock, planned(clock, keeper(clock), overspending(clock)), maya)

    def reason(self, row: Proposal) -> str:
        told = LedgerEvent.objects.filter(stream=row.stream, event="proposal.revised")
        return str(told.latest("seq").payload["reason"])

    def test_it_runs_when_nothing_more_is_asked(self, clock: Clock, approved: Proposal) -> None:
        governed(clock, policy(people=1), policy(match={"risks": ["high"]}, people=5))

        run(clock)

        assert (now(approved).state, limit()) == ("verifying", LIMIT // 2)

    def test_a_policy_declared_since_counts(
        self, clock: Clock, approved: Proposal, tomas: User, maya: User
    ) -> None:
        governed(clock, policy(people=2))

        run(clock)

        back = now(approved)
        assert (back.state, back.people, limit()) == ("pending", 1, LIMIT)
        assert "Policy careful of governance/house asks for 2 people." in self.reason(back)
        assert "It needs one person more." in self.reason(back)
        say_yes(clock, back, maya)
        assert say_yes(clock, back, tomas).state == "approved"
        run(clock)
        assert limit() == LIMIT // 2

    def test_whoever_left_the_group_since_is_not_counted(
        self, clock: Clock, maya: User, tomas: User
    ) -> None:
        board = group(clock, "board", maya, tomas)
        governed(clock, policy(group="board"))
        row = approve(clock, planned(clock, keeper(clock), overspending(clock)), maya)
        Membership.objects.filter(group=board, person=maya).delete()

        run(clock)

        assert (now(row).state, limit()) == ("pending", LIMIT)
        assert "It needs 1 of board more." in self.reason(row)

    def test_a_group_that_is_gone_stops_it(self, clock: Clock, maya: User) -> None:
        board = group(clock, "board", maya)
        governed(clock, policy(group="board"))
        row = approve(clock, planned(clock, keeper(clock), overspending(clock)), maya)
        board.delete()

        run(clock)

        assert (now(row).state, limit()) == ("pending", LIMIT)
        assert "There is no group board" in self.reason(row)

    def test_a_member_whose_right_ended_is_not_counted(
        self, clock: Clock, maya: User, tomas: User
    ) -> None:
        group(clock, "board", maya, tomas)
        governed(clock, policy(group="board"))
        row = approve(clock, planned(clock, keeper(clock), overspending(clock)), maya)
        Grant.objects.filter(person=maya).delete()

        run(clock)

        assert now(row).state == "pending"


@pytest.mark.servers
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("real_database")
def test_of_five_voters_at_once_two_of_the_group_decide(clock: Clock) -> None:
    crowd = [person(clock, f"voter-{number}", "approver") for number in range(5)]
    group(clock, "board", *crowd[:4])
    governed(clock, policy(people=2, group="board"))
    target = agent(clock)
    rows = [proposal(clock, target, proposer=f"agent/robin-{number}") for number in range(10)]

    for row in rows:
        together([partial(quietly, clock, row, who) for who in crowd])

    for row in rows:
        stream = LedgerEvent.objects.filter(stream=row.stream).order_by("seq")
        told = list(stream.values_list("event", flat=True))
        assert (now(row).state, told.count("proposal.approved")) == ("approved", 1)
        last = stream.last()
        assert last is not None
        assert last.payload["groups"] == [{"group": "board", "people": 2, "votes": 2}]


@pytest.mark.servers
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("real_database")
def test_a_no_among_five_voters_leaves_one_result(clock: Clock) -> None:
    crowd = [person(clock, f"voter-{number}", "approver") for number in range(5)]
    group(clock, "board", *crowd)
    governed(clock, policy(people=2, group="board"))
    target = agent(clock)
    rows = [proposal(clock, target, proposer=f"agent/robin-{number}") for number in range(10)]

    for row in rows:
        yes = [partial(quietly, clock, row, who) for who in crowd[1:]]
        together([partial(quietly, clock, row, crowd[0], no=True), *yes])

    ends = ("proposal.approved", "proposal.rejected")
    for row in rows:
        stream = LedgerEvent.objects.filter(stream=row.stream)
        assert stream.filter(event__in=ends).count() == 1
        assert now(row).state in ("approved", "rejected")


def quietly(clock: Clock, row: Proposal, who: User, *, no: bool = False) -> None:
    """Say yes or no; who comes too late is told so."""
    say = answers.reject if no else answers.approve
    with suppress(Problem):
        say(row.pk, person=who, seen=seen(row), now=clock.now, reason="Looked at it.")


def test_the_api_says_what_is_needed_and_why(
    clock: Clock, client: Client, wish: Proposal, maya: User, tomas: User
) -> None:
    group(clock, "board", tomas)
    governed(clock, policy(people=2, group="board"), policy(name="second", group="ghosts"))
    client.force_login(given(maya, "viewer"))

    told = client.get(f"/api/v1/proposals/{wish.pk}").json()
    (listed,) = client.get("/api/v1/proposals").json()["items"]

    assert (told["people"], listed["people"]) == (2, 2)
    assert told["entitled"] == [
        {"person": "maya", "why": "approver"},
        {"person": "tomas", "groups": ["board"], "why": "approver, in board"},
    ]
    assert told["quorum"]["policies"][0] == {
        "governance": "house",
        "name": "careful",
        "people": 2,
        "group": "board",
    }
    assert told["quorum"]["groups"] == [
        {"group": "board", "people": 2, "given": 0, "exists": True},
        {"group": "ghosts", "people": 1, "given": 0, "exists": False},
    ]
    assert told["quorum"]["reason"].startswith("There is no group ghosts")
    answer = client.post(
        f"/api/v1/proposals/{wish.pk}/approve",
        {"reason": "Fine."},
        "application/json",
        headers={"If-Match": f'"{wish.tag}"'},
    )
    assert (answer.status_code, "no group ghosts" in answer.json()["detail"]) == (409, True)


def test_many_proposals_cost_what_one_does(
    clock: Clock, wish: Proposal, maya: User, django_assert_num_queries: Any
) -> None:
    group(clock, "board", maya)
    governed(clock, policy(group="board"))
    rows = [wish, *(proposal(clock, wish.resource, proposer=f"agent/r{n}") for n in range(9))]

    with django_assert_num_queries(2):
        roles.quorums_of(rows)
