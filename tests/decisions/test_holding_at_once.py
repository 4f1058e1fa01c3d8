"""Many hold and lift at the same moment: each is counted, one wins, nobody waits in a circle."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.contrib.auth.models import User

from controllers.decisions import holds
from controllers.decisions.holds import HoldRequest
from controllers.models import Hold, Proposal, Runtime
from resources.documents.problems import Problem
from resources.store import evidence
from resources.tables.models import LedgerEvent, Resource
from resources.usecases import specs
from tests.conftest import Clock
from tests.decisions.making import agent, controller, person, proposal
from tests.resources.conftest import real_database as real_database
from tests.resources.making import ALICE, live, made, report
from tests.resources.racing import together

pytestmark = [pytest.mark.usefixtures("real_database"), pytest.mark.servers]

PEOPLE = 6
BUDGET = "spec.tokenBudget.maxDaily"


@pytest.fixture
def maya(clock: Clock) -> User:
    return person(clock, "maya", "approver")


@pytest.fixture
def scribe(clock: Clock) -> Resource:
    return agent(clock)


def now() -> datetime:
    return datetime.now(UTC)


def test_every_hold_placed_at_once_stands_and_counts(
    clock: Clock, maya: User, scribe: Resource
) -> None:
    keeper = controller(clock)
    wishes = [
        HoldRequest("stop", "organisation", "Everything."),
        HoldRequest("pause", "domain", "The domain.", domain="growth"),
        HoldRequest("pause", "controller", "The controller.", controller=keeper.pk),
        HoldRequest("pause", "resource", "The agent.", resource=scribe.pk),
        HoldRequest("override", "resource", "By hand.", resource=scribe.pk),
        HoldRequest("override", "field", "Less.", resource=scribe.pk, path=BUDGET, value=5),
    ]

    placed = together([partial(holds.place, each, person=maya, now=now()) for each in wishes])

    assert sorted(each.hold.epoch for each in placed) == [1, 2, 3, 4, 5, 6]
    assert holds.epoch() == 6
    assert len(holds.standing(now())) == 6
    assert evidence.verify().findings == []


def test_of_many_who_lift_at_once_one_does_and_the_others_are_told(
    clock: Clock, maya: User, scribe: Resource
) -> None:
    wanted = HoldRequest("pause", "resource", "Wait.", resource=scribe.pk)
    hold = holds.place(wanted, person=maya, now=now()).hold

    def lift(number: int) -> str:
        try:
            holds.lift(hold.pk, person=maya, now=now(), reason=f"Number {number}.")
        except Problem as problem:
            if problem.code != "refused":
                raise
            return problem.message
        return "lifted"

    said = together([partial(lift, number) for number in range(PEOPLE)])

    (winner,) = [number for number, each in enumerate(said) if each == "lifted"]
    assert all(f"person/maya: Number {winner}." in each for each in said if each != "lifted")
    assert LedgerEvent.objects.filter(event="hold.lifted").count() == 1
    assert holds.epoch() == 2


def test_of_many_who_renew_at_once_the_longest_stands(
    clock: Clock, maya: User, scribe: Resource
) -> None:
    wanted = HoldRequest("pause", "resource", "Wait.", resource=scribe.pk)
    hold = holds.place(wanted, person=maya, now=now()).hold
    ends = [now() + timedelta(days=days) for days in (30, 10, 40, 20, 15, 25)]

    def renew(end: datetime) -> None:
        with suppress(Problem):
            holds.renew(hold.pk, end, person=maya, now=now(), reason="Longer.")

    together([partial(renew, end) for end in ends])

    hold.refresh_from_db()
    assert hold.ends_at == max(ends)


def test_of_many_who_sweep_at_once_one_ends_it(clock: Clock, maya: User, scribe: Resource) -> None:
    wanted = HoldRequest("pause", "resource", "Wait.", resource=scribe.pk)
    hold = holds.place(wanted, person=maya, now=now()).hold
    Hold.objects.filter(pk=hold.pk).update(ends_at=now())

    ended = together([partial(holds.sweep, now()) for _ in range(PEOPLE)])

    assert sum(ended) == 1
    assert LedgerEvent.objects.filter(event="hold.ended").count() == 1
    assert holds.epoch() == 2


def test_an_override_comes_through_while_its_target_reports_and_is_edited(
    clock: Clock, maya: User, scribe: Resource
) -> None:
    """Nothing is lost: the value of the override stands, and so does what others declared."""
    asked = proposal(clock, scribe, expires_at=now() + timedelta(days=1))
    wanted = HoldRequest("override", "field", "Less.", resource=scribe.pk, path=BUDGET, value=5)

    def talk() -> None:
        for number in range(8):
            report(now(), "scribe", {"state": "running", "tasks": number})

    def edit() -> None:
        for number in range(4):
            row = live("Agent", "scribe")
            spec = row.spec | {"purpose": f"Writes {number}."}
            wish = specs.DesiredDocument(made("Agent", "scribe", spec), row.resource_version)
            specs.apply([wish], actor=ALICE, now=now())

    together([talk, talk, edit, partial(holds.place, wanted, person=maya, now=now())])

    assert Proposal.objects.get(pk=asked.pk).state == "overridden"
    assert Hold.objects.get().former == 1_000_000
    assert live("Agent", "scribe").spec["tokenBudget"]["maxDaily"] == 5
    assert LedgerEvent.objects.filter(event="hold.placed").count() == 1
    assert evidence.verify().findings == []


def test_controllers_at_work_do_not_wait_in_a_circle_with_who_lifts(
    clock: Clock, maya: User, scribe: Resource
) -> None:
    rows = [controller(clock, f"keeper-{number}") for number in range(3)]
    for row in rows:
        Runtime.objects.create(controller=row, started_at=clock.now, resync_at=clock.now)
    stops = [
        holds.place(HoldRequest("stop", "organisation", "Wait."), person=maya, now=now()).hold
        for _ in range(PEOPLE)
    ]

    together(
        [partial(holds.lift, each.pk, person=maya, now=now(), reason="Go.") for each in stops]
    )

    assert holds.standing(now()) == ()
    assert set(Runtime.objects.values_list("only_proposes_from", flat=True)) == {1}
    assert holds.epoch() == 2 * PEOPLE
