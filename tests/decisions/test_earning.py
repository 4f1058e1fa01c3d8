"""Autonomy is earned by a record, granted by two people, and lost at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.decisions import answers as deciding
from controllers.decisions import autonomy, holds
from controllers.engine import gate
from controllers.engine.proposal_lifecycle import OPEN
from controllers.models import Autonomy, Proposal
from controllers.trust import promotions
from controllers.worker import housekeeping
from resources.tables.models import LedgerEvent, Resource
from tests.api.deciding import as_user, good
from tests.conftest import Clock
from tests.controllers.making import work
from tests.decisions.carrying import approve, keeper, overspending, run
from tests.decisions.looking import look
from tests.decisions.making import action, agent, proposal, seen
from tests.problems import refuses
from tests.resources.making import apply, live, made

pytestmark = pytest.mark.django_db

BAR = {"autonomy": {"approvals": 3}}
PAIR = ("throttle", "growth")
WHY = "Because it is so."


@pytest.fixture
def owner(clock: Clock) -> Resource:
    """A controller with a bar."""
    return keeper(clock, **BAR)


def lived(clock: Clock, owner: Resource, number: int, **given: Any) -> list[Proposal]:
    """Let as many proposals have been approved and carried out."""
    usual = {"state": "succeeded", "answer": "approve", "decided_by": "person/maya"}
    found = []
    for _ in range(number):
        name = f"agent-{Proposal.objects.count()}"
        row = agent(clock, name)
        found.append(proposal(clock, row, owner, actions=[action(name)], **(usual | given)))
    return found


def promotion() -> Proposal:
    """Return the promotion that was drafted."""
    return Proposal.objects.select_related("resource").get(resource__kind="Controller")


def granted(clock: Clock, owner: Resource, *people: User) -> None:
    """Let a record be long enough, and people grant what it earns."""
    lived(clock, owner, 3)
    promotions.sweep(clock.now)
    approve(clock, promotion(), *people)
    run(clock)
    assert autonomy.earned(owner.pk, owner.generation) == {PAIR}


def ended() -> str:
    """Return why autonomy ended, as the ledger tells it."""
    event = LedgerEvent.objects.get(event="controller.autonomy-ended")
    return str(event.payload["reason"])


def test_a_record_beyond_the_bar_drafts_a_promotion_for_two_people(
    clock: Clock, owner: Resource
) -> None:
    lived(clock, owner, 2)
    promotions.sweep(clock.now)
    assert not Proposal.objects.filter(state="pending").exists()

    lived(clock, owner, 1)
    for _ in range(2):
        promotions.sweep(clock.now)

    drafted = promotion()
    assert (drafted.state, drafted.people, drafted.proposer) == (
        "pending",
        2,
        "controller/keeper",
    )
    assert drafted.actions[0]["parameters"]["operation"] == "throttle"
    assert not Autonomy.objects.exists()


def test_one_person_is_not_enough(clock: Clock, owner: Resource, maya: User, tomas: User) -> None:
    lived(clock, owner, 3)
    promotions.sweep(clock.now)
    wish = promotion()
    deciding.approve(wish.pk, person=maya, seen=seen(wish), now=clock.now, reason=WHY)
    run(clock)
    assert autonomy.earned(owner.pk, owner.generation) == frozenset()

    deciding.approve(wish.pk, person=tomas, seen=seen(wish), now=clock.now, reason=WHY)
    run(clock)

    assert autonomy.earned(owner.pk, owner.generation) == {PAIR}
    told = LedgerEvent.objects.get(event="controller.autonomy-granted")
    assert told.payload["proposal"] == wish.pk


def test_who_stands_behind_the_controller_does_not_count(
    clock: Clock, owner: Resource, maya: User
) -> None:
    Resource.objects.filter(pk=owner.pk).update(metadata={"owner": {"name": "maya"}})
    lived(clock, owner, 3)
    promotions.sweep(clock.now)
    wish = promotion()

    with refuses("forbidden"):
        deciding.approve(wish.pk, person=maya, seen=seen(wish), now=clock.now, reason=WHY)


def test_without_a_bar_nothing_is_ever_drafted(clock: Clock) -> None:
    lived(clock, keeper(clock), 9)

    assert promotions.sweep(clock.now) == 0
    assert not Proposal.objects.filter(state="pending").exists()


@pytest.mark.parametrize(
    "setback",
    [
        {"state": "rejected", "answer": "reject"},
        {"state": "overridden", "answer": "override"},
        {"state": "rolled_back", "answer": "undo"},
        {"state": "succeeded", "outcome": "worse"},
    ],
)
def test_a_setback_begins_the_record_anew(
    clock: Clock, owner: Resource, setback: dict[str, str]
) -> None:
    lived(clock, owner, 2)
    lived(clock, owner, 1, **setback)
    lived(clock, owner, 2)

    (found,) = promotions.of(owner, clock.now)

    assert (found.approvals, found.setbacks, found.reached) == (2, 1, False)


def test_what_ran_by_itself_is_no_record_of_people(clock: Clock, owner: Resource) -> None:
    lived(clock, owner, 5, lane="run", decided_by="policy/enforce@1")

    assert [each.approvals for each in promotions.of(owner, clock.now)] in ([], [0])


def test_what_was_earned_runs_without_asking(
    clock: Clock, owner: Resource, maya: User, tomas: User
) -> None:
    granted(clock, owner, maya, tomas)
    overspending(clock)

    work(clock)

    done = Proposal.objects.get(resource__name="scribe")
    assert (done.lane, done.policy["code"]) == ("run", gate.EARNED)
    assert done.decided_by.startswith("policy/earned@")
    assert done.executed_at is not None
    assert live("Agent", "scribe").spec["tokenBudget"]["maxDaily"] != 1_000_000


def test_in_another_domain_people_are_asked(
    clock: Clock, owner: Resource, maya: User, tomas: User
) -> None:
    granted(clock, owner, maya, tomas)
    overspending(clock, domain="ops")

    work(clock)

    assert Proposal.objects.get(resource__name="scribe").state == "pending"


def test_a_hold_beats_what_was_earned(
    clock: Clock, owner: Resource, maya: User, tomas: User
) -> None:
    granted(clock, owner, maya, tomas)
    overspending(clock)
    holds.place(
        holds.HoldRequest("pause", "controller", WHY, controller=owner.pk),
        person=maya,
        now=clock.now,
    )

    work(clock)

    assert not Proposal.objects.filter(resource__name="scribe").exists()


@pytest.mark.parametrize("verb", ["reject", "override", "undo"])
def test_a_no_ends_it_at_once(
    clock: Clock, owner: Resource, maya: User, tomas: User, verb: str
) -> None:
    granted(clock, owner, maya, tomas)
    row = agent(clock, "late")
    state = "succeeded" if verb == "undo" else "pending"
    undoable = {"undo_until": clock.now + timedelta(hours=1), "executed_at": clock.now}
    given = undoable if verb == "undo" else {}
    wish = proposal(clock, row, owner, actions=[action("late")], state=state, **given)

    getattr(deciding, verb)(wish.pk, person=maya, seen=seen(wish), now=clock.now, reason=WHY)

    assert autonomy.earned(owner.pk, owner.generation) == frozenset()
    assert f"proposal/{wish.pk}" in ended()


def test_an_override_of_what_it_did_alone_ends_it(
    clock: Clock, owner: Resource, maya: User, tomas: User
) -> None:
    granted(clock, owner, maya, tomas)
    target = overspending(clock)
    work(clock)
    wanted = holds.HoldRequest(
        "override", "field", WHY, resource=target.pk, path="spec.tokenBudget.maxDaily", value=7
    )

    holds.place(wanted, person=maya, now=clock.now)

    assert autonomy.earned(owner.pk, owner.generation) == frozenset()


def test_another_declaration_ends_it_at_once(
    clock: Clock, owner: Resource, maya: User, tomas: User
) -> None:
    granted(clock, owner, maya, tomas)

    renewed = keeper(clock, **BAR, timeout="9m")

    assert autonomy.earned(renewed.pk, renewed.generation) == frozenset()
    overspending(clock)
    work(clock)
    assert Proposal.objects.get(resource__name="scribe").state == "pending"
    housekeeping.run_due(clock.now)
    assert ended() == autonomy.REDECLARED


def test_what_was_let_run_is_asked_about_if_the_trust_ends_before_it_runs(
    clock: Clock, owner: Resource, maya: User, tomas: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    granted(clock, owner, maya, tomas)
    overspending(clock)
    monkeypatch.setattr("controllers.execution.run_due", lambda *_: 0)
    work(clock)
    monkeypatch.undo()
    promotions.end(owner, Autonomy.objects.get().pk, person=maya, now=clock.now)

    run(clock)
    look(clock)

    wish = Proposal.objects.get(resource__name="scribe", state__in=OPEN)
    assert (wish.state, wish.executed_at) == ("pending", None)


def test_a_promotion_that_was_refused_does_not_come_back(
    clock: Clock, owner: Resource, maya: User
) -> None:
    lived(clock, owner, 3)
    promotions.sweep(clock.now)
    wish = promotion()
    deciding.reject(wish.pk, person=maya, seen=seen(wish), now=clock.now, reason=WHY)

    assert promotions.sweep(clock.now) == 0


def test_a_promotion_can_be_undone(clock: Clock, owner: Resource, maya: User, tomas: User) -> None:
    granted(clock, owner, maya, tomas)
    wish = promotion()
    deciding.undo(wish.pk, person=maya, seen=seen(wish), now=clock.now, reason=WHY)

    run(clock)

    assert autonomy.earned(owner.pk, owner.generation) == frozenset()


def test_declaring_a_bar_needs_a_second_person(clock: Clock) -> None:
    keeper(clock)
    spec = live("Controller", "keeper").spec | BAR

    outcome = apply(clock.now, made("Controller", "keeper", spec))

    assert not outcome.written


@pytest.mark.parametrize(
    "beyond",
    [
        {"risk": "medium"},
        {"reversible": False},
        {"destructive": True},
        {"redeclares": True},
        {"requires_approval": True},
        {"only_propose": True},
        {"autonomy": "supervised"},
    ],
)
def test_what_was_earned_never_reaches_beyond_a_small_change(beyond: dict[str, Any]) -> None:
    small = gate.Question(kind="change", mode="warn", earned=True)
    assert gate.decide(small).word == "run"

    assert gate.decide(small._replace(**beyond)).word == "ask"


@pytest.mark.parametrize(("mode", "word"), [("observe", "record"), ("advise", "recommend")])
def test_a_controller_that_may_not_ask_may_not_act_alone(mode: Any, word: str) -> None:
    assert gate.decide(gate.Question(kind="change", mode=mode, earned=True)).word == word


def test_the_page_and_the_api_show_the_record(
    clock: Clock, owner: Resource, maya: User, tomas: User
) -> None:
    lived(clock, owner, 2)
    browser = Client()
    browser.force_login(maya)

    (found,) = good(as_user(maya).get("controllers/keeper/autonomy"), "AutonomyList")["items"]
    page = browser.get("/controllers/keeper").content.decode()

    assert (found["operation"], found["approvals"], found["bar"]) == ("throttle", 2, 3)
    assert "2 of 3 approved in a row" in page


def test_whoever_may_stop_a_controller_takes_its_autonomy_back_on_its_page(
    clock: Clock, owner: Resource, maya: User, tomas: User, vera: User
) -> None:
    granted(clock, owner, maya, tomas)
    key = Autonomy.objects.get().pk
    answers = []
    for who in (vera, maya, maya):
        browser = Client()
        browser.force_login(who)
        answer = browser.post("/controllers/keeper/autonomy", {"autonomy": str(key)}, follow=True)
        answers.append(answer.content.decode())

    assert "operator" in answers[0]
    assert "asks again" in answers[1]
    assert "It does not stand any more." in answers[2]
    assert autonomy.earned(owner.pk, owner.generation) == frozenset()
