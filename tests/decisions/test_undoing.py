"""To undo is to go the same way back, through the same gate, where nobody has gone on since."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers import execution
from controllers.decisions import answers, expiry, holds
from controllers.execution import agent_tasks
from controllers.execution.results import StepResult
from controllers.models import Grant, Proposal, Step
from resources.store import evidence
from resources.tables.models import ResourceRevision
from tests.conftest import Clock
from tests.decisions.carrying import (
    LIMIT,
    approve,
    keeper,
    limit,
    now,
    overspending,
    planned,
    restarting,
    run,
    state,
    steps,
    story,
    wait,
)
from tests.decisions.making import AGENT, action, agent, proposal, seen
from tests.decisions.receiving import Receiver, endpoint, receiving
from tests.problems import refuses
from tests.resources.making import live

pytestmark = pytest.mark.django_db

PAUSING = action(
    sequence=2,
    operation="pause",
    parameters={"agent": AGENT},
    touches=["spec.state"],
    rollback={"operation": "resume", "parameters": {"agent": AGENT}},
)


@pytest.fixture
def robot(settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOKS_ALLOW_LOOPBACK = True
    with receiving() as receiver:
        yield receiver


def undo(clock: Clock, wish: Proposal, person: User) -> Proposal:
    """Ask for a proposal to be undone."""
    wish = now(wish)
    return answers.undo(
        wish.pk, person=person, seen=seen(wish), now=clock.now, reason="It was wrong."
    )


def test_what_was_done_is_undone_in_reverse_order(clock: Clock, maya: User) -> None:
    """O-65"""
    wish = approve(clock, proposal(clock, agent(clock), actions=[action(), PAUSING]), maya)
    run(clock)
    assert (limit(), live("Agent", AGENT).spec["state"]) == (LIMIT // 2, "paused")
    clock.advance(minutes=5)

    undo(clock, wish, maya)
    run(clock)
    run(clock)

    assert (state(wish), limit()) == ("rolled_back", LIMIT)
    declared = live("Agent", AGENT).spec
    assert "state" not in declared
    assert declared["tokenBudget"] == {"maxDaily": LIMIT}
    assert [(each.undoes, each.sequence, each.state) for each in steps(wish)] == [
        (False, 1, "undone"),
        (False, 2, "undone"),
        (True, 1, "done"),
        (True, 2, "done"),
    ]
    back = list(ResourceRevision.objects.filter(resource=wish.resource).order_by("pk"))[-2:]
    assert "state" not in back[0].spec
    assert back[0].spec["tokenBudget"]["maxDaily"] == LIMIT // 2
    assert {each.actor for each in back} == {"person/maya"}
    assert evidence.verify().findings == []


def test_each_way_has_a_key_of_its_own(clock: Clock, maya: User) -> None:
    wish = approve(clock, proposal(clock, agent(clock)), maya)
    run(clock)
    undo(clock, wish, maya)
    run(clock)

    assert len({each.key for each in steps(wish)}) == 2


def test_what_somebody_changed_since_is_left_alone(clock: Clock, maya: User) -> None:
    wish = approve(clock, proposal(clock, agent(clock)), maya)
    run(clock)
    agent(clock, tokenBudget={"maxDaily": 42})

    undo(clock, wish, maya)
    run(clock)

    assert (state(wish), limit()) == ("failed", 42)
    assert "changed since" in now(wish).error
    assert [(each.undoes, each.state) for each in steps(wish)] == [
        (False, "done"),
        (True, "failed"),
    ]


def test_what_could_not_be_undone_can_be_tried_again(clock: Clock, maya: User) -> None:
    wish = approve(clock, proposal(clock, agent(clock)), maya)
    run(clock)
    throttled = live("Agent", AGENT).spec["tokenBudget"]
    agent(clock, tokenBudget={"maxDaily": 42})
    undo(clock, wish, maya)
    run(clock)
    agent(clock, tokenBudget=throttled)

    undo(clock, wish, maya)
    run(clock)

    assert (state(wish), limit()) == ("rolled_back", LIMIT)


def test_a_failed_undo_is_not_undone_by_itself(clock: Clock, maya: User) -> None:
    policy = {"onFailure": "rollback"}
    wish = approve(clock, proposal(clock, agent(clock), policy=policy), maya)
    run(clock)
    agent(clock, tokenBudget={"maxDaily": 42})
    undo(clock, wish, maya)

    for _ in range(3):
        run(clock)
        clock.advance(minutes=1)

    assert (state(wish), limit()) == ("failed", 42)


def test_a_hold_stops_an_undo_too(clock: Clock, maya: User) -> None:
    """I2"""
    wish = approve(clock, proposal(clock, agent(clock)), maya)
    run(clock)
    undo(clock, wish, maya)
    wanted = holds.HoldRequest(
        kind="pause", scope="resource", reason="Wait.", resource=wish.resource_id
    )
    held = holds.place(wanted, person=maya, now=clock.now)

    run(clock)
    assert (state(wish), limit(), now(wish).held) == ("approved", LIMIT // 2, "Paused")

    holds.lift(held.hold.pk, person=maya, now=clock.now, reason="Go on.")
    wait(clock)
    run(clock)
    assert (state(wish), limit()) == ("rolled_back", LIMIT)


def test_whoever_may_no_longer_ask_for_it_is_not_heard(
    clock: Clock, maya: User, tomas: User
) -> None:
    """I1"""
    wish = approve(clock, proposal(clock, agent(clock)), maya)
    run(clock)
    undo(clock, wish, tomas)
    Grant.objects.filter(person=tomas).delete()

    run(clock)

    assert (state(wish), limit()) == ("failed", LIMIT // 2)
    undo(clock, wish, maya)
    run(clock)
    assert (state(wish), limit()) == ("rolled_back", LIMIT)


def test_a_controllers_plan_is_undone_without_asking_whether_it_would_plan_it(
    clock: Clock, maya: User
) -> None:
    wish = approve(clock, planned(clock, keeper(clock), overspending(clock)), maya)
    run(clock)

    undo(clock, wish, maya)
    run(clock)

    assert (state(wish), limit()) == ("rolled_back", LIMIT)


def test_a_policy_may_undo_what_is_left_half_done(clock: Clock, maya: User) -> None:
    """D-33"""
    actions = [action(), action(sequence=2, parameters={"factor": 7})]
    policy = {"onFailure": "rollback"}
    wish = approve(clock, proposal(clock, agent(clock), actions=actions, policy=policy), maya)

    run(clock)
    assert (state(wish), limit()) == ("approved", LIMIT // 2)
    assert story(wish)[-2:] == ["failed", "undo-requested"]
    run(clock)

    assert (state(wish), limit()) == ("rolled_back", LIMIT)


def test_a_machine_is_asked_for_the_operation_against_it(
    clock: Clock, robot: Receiver, maya: User
) -> None:
    endpoint(clock, robot, "pause", "resume")
    wish = proposal(clock, agent(clock), actions=[PAUSING | {"sequence": 1}])
    approve(clock, wish, maya)
    run(clock)

    undo(clock, wish, maya)
    run(clock)

    assert state(wish) == "rolled_back"
    assert [each["data"]["operation"] for each in robot.bodies] == ["pause", "resume"]
    assert [each["data"]["undoes"] for each in robot.bodies] == [False, True]
    assert sorted(robot.calls.values()) == [1, 1]


def test_what_has_no_way_back_says_so(clock: Clock, robot: Receiver, maya: User) -> None:
    """O-65"""
    endpoint(clock, robot, "restart")
    wish = approve(clock, proposal(clock, agent(clock), actions=[restarting()]), maya)
    run(clock)

    with refuses("invalid", match="nothing that could be undone"):
        undo(clock, wish, maya)
    run(clock)

    assert (state(wish), len(robot.bodies)) == ("verifying", 1)
    assert now(wish).undo_until is None


def test_an_agent_undoes_what_it_did(clock: Clock, maya: User) -> None:
    resource = agent(clock, state="paused")
    wish = approve(clock, proposal(clock, resource, actions=[PAUSING | {"sequence": 1}]), maya)
    run(clock)
    (step,) = agent_tasks.claimable(resource, clock.now)
    claim = agent_tasks.claim(step.pk, resource, clock.now)
    agent_tasks.report(step.pk, claim.fence, StepResult("done"), clock.now)
    assert state(wish) == "verifying"
    agent(clock, state="running")

    undo(clock, wish, maya)
    run(clock)
    execution.recover(clock.now)

    back = Step.objects.get(proposal=wish, undoes=True)
    assert (back.operation, back.state, back.agent) == ("resume", "waiting", AGENT)
    claim = agent_tasks.claim(back.pk, resource, clock.now)
    agent_tasks.report(back.pk, claim.fence, StepResult("done"), clock.now)
    assert state(wish) == "rolled_back"


def test_what_was_forced_and_not_reviewed_is_undone(clock: Clock, maya: User) -> None:
    """The one who broke the glass is not asked, whatever their rights are by now."""
    wish = proposal(clock, agent(clock))
    answers.break_glass(
        wish.pk, person=maya, seen=seen(wish), now=clock.now, reason="The house is on fire."
    )
    run(clock)
    assert (state(wish), limit()) == ("verifying", LIMIT // 2)
    Grant.objects.filter(person=maya).delete()
    clock.advance(hours=1, seconds=1)

    expiry.sweep(clock.now)
    run(clock)

    assert (state(wish), limit()) == ("rolled_back", LIMIT)
    change = ResourceRevision.objects.filter(resource=wish.resource).latest("resource_version")
    assert change.actor == "system/ioa"


def test_an_undo_that_does_not_begin_in_time_fails(clock: Clock, maya: User) -> None:
    wish = approve(clock, proposal(clock, agent(clock)), maya)
    run(clock)
    undo(clock, wish, maya)
    clock.advance(hours=25)

    expiry.sweep(clock.now)
    run(clock)

    assert (state(wish), limit()) == ("failed", LIMIT // 2)
