"""Many people at once, with connections of their own: one result, and nobody left in the dark."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from controllers.decisions import answers as deciding
from controllers.decisions import expiry, gate_facts, holds, locks, proposals
from controllers.decisions.answers import Instead
from controllers.engine import digests
from controllers.engine.proposal_lifecycle import TOLD, Verb
from controllers.models import Decision, Hold, Proposal
from resources.documents.actor import SYSTEM
from resources.documents.problems import CHANGED, DECIDED, EXPIRED, Problem
from resources.store import evidence
from resources.tables import visibility
from resources.tables.models import LedgerEvent, Resource
from resources.tables.visibility import Scope
from tests.conftest import Clock
from tests.decisions.making import agent, person, proposal, seen
from tests.resources.conftest import real_database as real_database
from tests.resources.racing import PATIENCE, together
from tests.tiers import quick_first

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("real_database"),
    pytest.mark.servers,
]

PEOPLE = 12
# SQLite has one writer at a time: whoever races there mostly waits.
ROUNDS = quick_first([40, 200]) if connection.vendor == "postgresql" else [50]

Move = Callable[[], Any]


@pytest.fixture
def target(clock: Clock) -> Resource:
    return agent(clock)


@pytest.fixture
def crowd(clock: Clock) -> list[User]:
    """Return twelve people who may decide."""
    return [person(clock, f"person-{number}", "approver") for number in range(PEOPLE)]


def many(clock: Clock, target: Resource, rounds: int, **given: Any) -> list[Proposal]:
    """Make a proposal for each round, all about one resource."""
    with transaction.atomic():
        return [
            proposal(clock, target, proposer=f"agent/robin-{number}", **given)
            for number in range(rounds)
        ]


def race(rounds: Sequence[Sequence[Move]], every: int = 1) -> list[list[Any]]:
    """Let the moves of each round begin at once, each in the thread of its place.

    Everybody waits for everybody before every so many rounds.
    """
    width = len(rounds[0])
    barrier = threading.Barrier(width)
    results: list[list[Any]] = [[None] * width for _ in rounds]

    def run(place: int) -> None:
        for number, moves in enumerate(rounds):
            if number % every == 0:
                barrier.wait(PATIENCE)
            try:
                results[number][place] = moves[place]()
            except Problem as refused:
                results[number][place] = refused

    together([partial(run, place) for place in range(width)])
    return results


def is_problem(found: Any, code: str) -> bool:
    return isinstance(found, Problem) and found.code == code


def approve(row: Proposal, who: User, now: datetime) -> Proposal:
    said = f"yes of {who.get_username()}"
    return deciding.approve(row.pk, person=who, seen=seen(row), now=now, reason=said)


def reject(row: Proposal, who: User, now: datetime) -> Proposal:
    said = f"no of {who.get_username()}"
    return deciding.reject(row.pk, person=who, seen=seen(row), now=now, reason=said)


def by_itself(row: Proposal, verb: Verb, now: datetime) -> Proposal:
    """Move a proposal as the loop, the clock or the executor does."""
    with transaction.atomic():
        return proposals.move(
            proposals.take(row.pk, verb, now), verb, actor=SYSTEM, now=now, reason="By itself."
        )


def answers(row: Proposal) -> list[str]:
    told = LedgerEvent.objects.filter(stream=row.stream).order_by("seq")
    return [event.removeprefix("proposal.") for event in told.values_list("event", flat=True)]


def fresh(rows: Sequence[Proposal]) -> Iterator[Proposal]:
    found = Proposal.objects.in_bulk([row.pk for row in rows])
    return (found[row.pk] for row in rows)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("count", ROUNDS)
def test_of_twelve_who_decide_at_once_one_wins_and_all_others_know(
    clock: Clock, target: Resource, crowd: list[User], count: int
) -> None:
    """I4: one decision; every loser is told who won, when and why."""
    rows = many(clock, target, count)
    says = [approve if number % 2 else reject for number in range(PEOPLE)]
    rounds = [
        [partial(say, row, who, clock.now) for say, who in zip(says, crowd, strict=True)]
        for row in rows
    ]

    # Whoever waits for SQLite's one writer sleeps, the longer the more there are: the slowest
    # would spend most of the time.
    results = race(rounds, every=20 if connection.vendor == "sqlite" else 1)

    winners: Counter[str] = Counter()
    for row, found in zip(fresh(rows), results, strict=True):
        won = [each for each in found if isinstance(each, Proposal)]
        lost = [each for each in found if is_problem(each, DECIDED)]
        assert len(won) == 1
        assert len(lost) == PEOPLE - 1
        for each in lost:
            assert row.decided_by in str(each)
            assert row.reason in str(each)
            assert f"{row.decided_at:%Y-%m-%d %H:%M:%S} UTC" in str(each)
        winners[row.state] += 1
    assert winners.total() == count
    assert set(winners) <= {"approved", "rejected"}
    assert Decision.objects.count() == count
    assert LedgerEvent.objects.filter(stream__startswith="proposal/").count() == count
    assert evidence.verify().findings == []


def test_five_voters_always_come_to_one_result(
    clock: Clock, target: Resource, crowd: list[User]
) -> None:
    """Two of three who say yes, one who says no, and one who presses twice."""
    rows = many(clock, target, 40, people=2)
    yes, no = crowd[:3], crowd[3]
    rounds: list[list[Move]] = [
        [
            *(partial(approve, row, who, clock.now) for who in yes),
            partial(reject, row, no, clock.now),
            partial(approve, row, yes[0], clock.now),
        ]
        for row in rows
    ]
    for moves in rounds:
        random.shuffle(moves)

    race(rounds)

    for row in fresh(rows):
        told = answers(row)
        assert row.state in ("approved", "rejected")
        assert told.count("approved") + told.count("rejected") == 1
        assert told[-1] == row.state
        votes = Decision.objects.filter(proposal=row, answer="approve").count()
        assert votes == told.count("voted") + told.count("approved")
        assert votes == 2 if row.state == "approved" else votes < 2


def test_of_those_who_see_one_domain_only_one_wins(
    clock: Clock, target: Resource, crowd: list[User]
) -> None:
    """What narrows the rows that somebody sees must not loosen what guards them."""
    scope = Scope("somebody", frozenset({("approver", target.domain)}))

    def narrowly(move: Move) -> Any:
        with visibility.within(scope):
            return move()

    rows = many(clock, target, 30)
    says = [approve if number % 2 else reject for number in range(6)]
    rounds = [
        [
            partial(narrowly, partial(say, row, who, clock.now))
            for say, who in zip(says, crowd[:6], strict=True)
        ]
        for row in rows
    ]

    results = race(rounds)

    assert [sum(isinstance(each, Proposal) for each in found) for found in results] == [1] * 30
    assert Decision.objects.count() == 30


def test_of_many_workers_one_claims(clock: Clock) -> None:
    # Of one resource only one is carried out at a time.
    targets = [agent(clock, f"agent-{number}") for number in range(30)]
    rows = [proposal(clock, each, state="approved") for each in targets]
    rounds = [[partial(by_itself, row, "claim", clock.now)] * 6 for row in rows]

    results = race(rounds)

    assert [sum(isinstance(each, Proposal) for each in found) for found in results] == [1] * 30


def test_a_person_who_presses_twice_is_heard_once(
    clock: Clock, target: Resource, crowd: list[User]
) -> None:
    rows = many(clock, target, 25)

    results = race([[partial(approve, row, crowd[0], clock.now)] * 3 for row in rows])

    for row, found in zip(rows, results, strict=True):
        assert [each.state for each in found] == ["approved"] * 3
        assert answers(row) == ["approved"]


@pytest.mark.parametrize(
    ("verb", "late"), [("expire", EXPIRED), ("supersede", DECIDED), ("converge", DECIDED)]
)
def test_an_approval_and_the_end_of_a_proposal_never_both_win(
    clock: Clock, target: Resource, crowd: list[User], verb: Verb, late: str
) -> None:
    rows = many(clock, target, 20)
    ending = TOLD[verb]
    ends = [partial(by_itself, row, verb, clock.now) for row in rows]
    votes = [partial(approve, row, crowd[0], clock.now) for row in rows]

    results = race([list(pair) for pair in zip(ends, votes, strict=True)])

    for row, (ended, approved) in zip(fresh(rows), results, strict=True):
        told = answers(row)
        if isinstance(approved, Proposal):
            # What is approved no longer expires; a newer plan may still take its place.
            assert told in (["approved"], ["approved", ending])
        else:
            assert is_problem(approved, late)
            assert told == [ending]
        assert (row.state == "approved") == (told[-1] == "approved")
        assert isinstance(ended, Proposal) == (told[-1] == ending)


def test_nobody_beats_the_deadline(clock: Clock, target: Resource, crowd: list[User]) -> None:
    """The clock in the statement decides, whether the sweep comes early, late or never."""
    rows = many(clock, target, 15)

    def press(row: Proposal, after: float) -> Proposal:
        time.sleep(after)
        return approve(row, crowd[0], datetime.now(UTC))

    def sweep(after: float) -> None:
        time.sleep(after)
        expiry.sweep(datetime.now(UTC))

    for number, row in enumerate(rows):
        deadline = datetime.now(UTC) + timedelta(milliseconds=20)
        Proposal.objects.filter(pk=row.pk).update(expires_at=deadline)
        ((approved, _),) = race([[partial(press, row, number / 500), partial(sweep, 0.02)]])
        expiry.sweep(datetime.now(UTC) + timedelta(seconds=1))
        if isinstance(approved, Proposal):
            assert answers(row) == ["approved"]
            assert approved.decided_at is not None
            assert approved.decided_at < deadline
        else:
            assert is_problem(approved, EXPIRED)
            assert answers(row) == ["expired"]


def test_an_approval_and_a_pause_meet_and_the_pause_holds(
    clock: Clock, target: Resource, crowd: list[User]
) -> None:
    """I2: whichever comes first, nothing runs once the hold stands."""
    rows = many(clock, target, 20)
    wanted = holds.HoldRequest("pause", "resource", "Wait.", resource=target.pk)
    pause = partial(holds.place, wanted, person=crowd[1], now=clock.now)

    results = race([[partial(approve, row, crowd[0], clock.now), pause] for row in rows])

    assert all(isinstance(approved, Proposal) for approved, _ in results)
    assert Hold.objects.filter(ended_at=None).count() == len(rows)
    for row in fresh(rows):
        assert row.state == "approved"
        assert gate_facts.examine(row, clock.now).hold is not None


def test_an_override_wins_in_the_end_and_nobody_waits_in_a_circle(
    clock: Clock, target: Resource, crowd: list[User]
) -> None:
    """I-95 I2: a person's word against an approval and a worker that is about to begin."""
    # Each of its own plan: one override answers every proposal about the resource.
    targets = [agent(clock, f"agent-{number}") for number in range(20)]
    rows = [proposal(clock, each) for each in targets]

    def claim(row: Proposal) -> Proposal:
        with transaction.atomic():
            locks.share(row.resource.domain, None, row.resource_id)
            return by_itself(row, "claim", clock.now)

    def override(row: Proposal) -> Proposal:
        return deciding.override(
            row.pk,
            person=crowd[1],
            seen=seen(row),
            now=clock.now,
            reason="Less.",
            instead=Instead("spec.tokenBudget.maxDaily", 7),
        )

    results = race(
        [
            [
                partial(approve, row, crowd[0], clock.now),
                partial(claim, row),
                partial(override, row),
            ]
            for row in rows
        ]
    )

    assert all(isinstance(overridden, Proposal) for *_, overridden in results)
    for row in fresh(rows):
        assert (row.state, row.decided_by) == ("overridden", "person/person-1")
        assert answers(row)[-1] == "overridden"
        assert row.holds.count() == 1


def test_two_edits_at_once_are_one_edit_and_one_refusal(
    clock: Clock, target: Resource, crowd: list[User]
) -> None:
    rows = many(clock, target, 20)

    def edit(row: Proposal, who: User, factor: float) -> Proposal:
        return deciding.change(
            row.pk,
            person=who,
            seen=seen(row),
            now=clock.now,
            edits={1: {"factor": factor}},
            reason="Otherwise.",
        )

    results = race(
        [[partial(edit, row, crowd[0], 0.1), partial(edit, row, crowd[1], 0.2)] for row in rows]
    )

    for row, found in zip(fresh(rows), results, strict=True):
        won = [each for each in found if isinstance(each, Proposal)]
        lost = [each for each in found if is_problem(each, CHANGED)]
        assert (len(won), len(lost), row.revision) == (1, 1, 2)
        assert row.action_digest == digests.of_actions(str(target.uid), row.actions)
        (factor,) = {each.actions[0]["parameters"]["factor"] for each in won}
        assert row.actions[0]["parameters"]["factor"] == factor
        assert {each["pointer"] for each in deciding.since(row, 2)} == set()


def test_the_vote_of_somebody_who_is_removed_meanwhile_is_checked_again(
    clock: Clock, target: Resource, crowd: list[User]
) -> None:
    """I1: whatever the order, nobody who was gone before the last vote was counted."""
    rows = many(clock, target, 20, people=2)
    for row in rows:
        leaver = User.objects.create(username=f"leaver-{row.pk}")
        leaver.grants.create(role="approver", granted_by="system/ioa", granted_at=clock.now)
        approve(row, leaver, clock.now)

    def remove(row: Proposal) -> None:
        User.objects.filter(username=f"leaver-{row.pk}").update(is_active=False)

    results = race(
        [[partial(remove, row), partial(approve, row, crowd[0], clock.now)] for row in rows]
    )

    for row, (_, voted) in zip(fresh(rows), results, strict=True):
        assert isinstance(voted, Proposal)
        # Gone before the second vote: one more is needed. Gone after it: the claim asks again.
        assert row.state == voted.state
        assert row.state in ("approved", "pending")
        if row.state == "pending":
            assert approve(row, crowd[1], clock.now).state == "approved"
