"""Effects that machines outside bring about: permitted first, called once, never blindly again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from standardwebhooks import Webhook

from controllers import execution
from controllers.common import secrets
from controllers.decisions import answers, expiry, holds
from controllers.execution import critical_section, outside_calls, recheck
from controllers.execution.results import StepResult
from controllers.loop.cycle_run import Means
from controllers.models import Endpoint, Proposal
from resources.store import evidence
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.decisions.carrying import (
    DAY,
    LIMIT,
    approve,
    limit,
    now,
    restarting,
    run,
    starting,
    state,
    steps,
    story,
    wait,
    workflow,
)
from tests.decisions.making import AGENT, action, agent, proposal, seen
from tests.decisions.receiving import Receiver, endpoint, receiving

pytestmark = [pytest.mark.django_db, pytest.mark.full]


@pytest.fixture
def robot(settings: Any) -> Iterator[Receiver]:
    """A machine on this very computer, which only tests may call."""
    settings.WEBHOOKS_ALLOW_LOOPBACK = True
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def wish(clock: Clock, robot: Receiver, maya: User) -> Proposal:
    """An approved restart that a machine carries out; doing it twice is doing it once."""
    endpoint(clock, robot, "restart", "start")
    return approve(clock, proposal(clock, agent(clock), actions=[restarting()]), maya)


@pytest.fixture
def once(clock: Clock, robot: Receiver, maya: User) -> Proposal:
    """An approved start of a workflow, which must not happen twice."""
    endpoint(clock, robot, "restart", "start")
    wish = proposal(clock, workflow(clock), actions=[starting()], risk="medium")
    return approve(clock, wish, maya)


def told(wish: Proposal, event: str) -> list[LedgerEvent]:
    return list(
        LedgerEvent.objects.filter(stream=wish.stream, event=f"proposal.{event}").order_by("seq")
    )


def test_a_machine_is_called_once_with_a_signed_message(
    clock: Clock, robot: Receiver, wish: Proposal
) -> None:
    """I3"""
    run(clock)
    run(clock)

    assert state(wish) == "verifying"
    (step,) = steps(wish)
    assert (step.state, step.executor, step.result["status"]) == ("done", "webhook", 200)
    assert robot.calls == {step.key: 1}
    (body,), (headers,) = robot.bodies, robot.headers
    assert body["data"]["operation"] == "restart"
    assert body["data"]["target"] == f"agent/{AGENT}"
    assert (body["data"]["key"], body["data"]["fence"]) == (step.key, 1)
    assert headers["webhook-id"] == step.key
    assert evidence.verify().findings == []


def test_its_signature_can_be_checked(clock: Clock, robot: Receiver, wish: Proposal) -> None:
    run(clock)

    secret = secrets.decrypt(Endpoint.objects.get().secret)
    sent = orjson.dumps(robot.bodies[0]).decode()
    Webhook(secret).verify(sent, robot.headers[0])


def test_the_permit_is_written_before_the_call(clock: Clock, wish: Proposal) -> None:
    """O-48 I5: no audit, no action."""
    order = critical_section.enter(wish, recheck.look(wish, clock.now), "worker", clock.now)

    assert order is not None
    (permit,) = told(wish, "dispatched")
    assert permit.payload["key"] == order.key
    assert permit.payload["fence"] == order.fence == 1
    assert permit.payload["authority"][0]["actor"] == "person/maya"
    (step,) = steps(wish)
    assert (step.state, step.deadline) == ("dispatched", clock.now + timedelta(seconds=10))
    assert now(wish).claimed_until == clock.now + timedelta(seconds=30)


def test_a_call_whose_permit_is_over_is_not_made(
    clock: Clock, robot: Receiver, wish: Proposal
) -> None:
    """I2 F18: a worker that slept between the permit and the call."""
    order = critical_section.enter(wish, recheck.look(wish, clock.now), "worker", clock.now)
    assert order is not None
    clock.advance(seconds=11)

    assert not outside_calls.permitted(order, clock.now)
    assert outside_calls.make(order, lambda: clock.now) == outside_calls.LATE
    outside_calls.record(order, outside_calls.LATE, clock.now)

    assert (robot.bodies, state(wish)) == ([], "approved")
    run(clock)
    assert (state(wish), robot.calls[order.key]) == ("verifying", 1)


def test_a_hold_after_the_permit_keeps_the_call_from_being_made(
    clock: Clock, robot: Receiver, wish: Proposal, maya: User
) -> None:
    """I2"""
    order = critical_section.enter(wish, recheck.look(wish, clock.now), "worker", clock.now)
    assert order is not None
    wanted = holds.HoldRequest(kind="stop", scope="organisation", reason="Fire.")
    placed = holds.place(wanted, person=maya, now=clock.now)

    assert [each.proposal for each in placed.in_flight] == [wish.pk]
    assert not outside_calls.permitted(order, clock.now)
    outside_calls.record(order, outside_calls.LATE, clock.now)
    run(clock)

    assert (robot.bodies, state(wish), now(wish).held) == ([], "approved", "StoppedAll")
    holds.lift(placed.hold.pk, person=maya, now=clock.now, reason="It is out.")
    wait(clock)
    run(clock)
    assert (state(wish), robot.calls[order.key]) == ("verifying", 1)


def test_what_is_refused_fails(clock: Clock, robot: Receiver, wish: Proposal) -> None:
    robot.answers = [422]

    run(clock)
    run(clock)

    failed = now(wish)
    assert (failed.state, failed.error) == ("failed", "It refused with 422.")
    assert len(robot.bodies) == 1
    assert failed.undo_until is None


def test_what_is_refused_for_now_is_tried_again_with_the_same_key(
    clock: Clock, robot: Receiver, wish: Proposal
) -> None:
    """D-31"""
    robot.answers = [429, 429]

    run(clock)
    assert state(wish) == "approved"
    assert run(clock) == 0
    clock.advance(seconds=2)
    run(clock)
    clock.advance(seconds=3)
    run(clock)

    assert state(wish) == "verifying"
    (step,) = steps(wish)
    assert step.attempts == 3
    assert {each["webhook-id"] for each in robot.headers} == {step.key}
    assert now(wish).fence == 3


def test_it_is_not_tried_for_ever(clock: Clock, robot: Receiver, wish: Proposal) -> None:
    """D-31"""
    robot.answers = [429] * 9

    for _ in range(6):
        run(clock)
        clock.advance(seconds=10)

    assert (state(wish), len(robot.bodies)) == ("failed", 3)


def test_what_may_have_happened_is_sent_again_only_if_that_does_no_harm(
    clock: Clock, robot: Receiver, wish: Proposal
) -> None:
    """I3: the receiver knows the key, so a second call has no second effect."""
    robot.answers = [500]

    run(clock)
    assert state(wish) == "approved"
    clock.advance(seconds=2)
    run(clock)

    (step,) = steps(wish)
    assert (state(wish), robot.calls) == ("verifying", {step.key: 2})


def test_what_may_have_happened_and_must_not_happen_twice_is_for_a_person(
    clock: Clock, robot: Receiver, once: Proposal, maya: User
) -> None:
    """I3"""
    robot.answers = [500]

    for _ in range(3):
        run(clock)
        execution.recover(clock.now)
        clock.advance(minutes=1)

    assert (state(once), len(robot.bodies)) == ("unknown", 1)
    assert [each.state for each in steps(once)] == ["unknown"]
    asked = now(once)
    answers.resolve(
        once.pk,
        person=maya,
        seen=seen(asked),
        now=clock.now,
        outcome="happened",
        reason="I have seen it run.",
    )
    assert state(once) == "verifying"


def test_what_is_lost_three_times_is_for_a_person(
    clock: Clock, robot: Receiver, wish: Proposal
) -> None:
    robot.answers = [500] * 9

    for _ in range(6):
        run(clock)
        clock.advance(seconds=10)

    assert (state(wish), len(robot.bodies)) == ("unknown", 3)


def test_what_must_not_happen_twice_and_did_not_happen_fails(
    clock: Clock, robot: Receiver, once: Proposal
) -> None:
    robot.answers = [429]

    run(clock)

    assert (state(once), len(robot.bodies)) == ("failed", 1)


def test_a_hold_before_the_second_call_leaves_it_to_a_person(
    clock: Clock, robot: Receiver, wish: Proposal, maya: User
) -> None:
    """I2: nobody knows whether the first call had its effect."""
    robot.answers = [500]
    run(clock)
    wanted = holds.HoldRequest(
        kind="pause", scope="resource", reason="Wait.", resource=wish.resource_id
    )
    holds.place(wanted, person=maya, now=clock.now)
    clock.advance(seconds=2)

    run(clock)

    assert (state(wish), len(robot.bodies)) == ("unknown", 1)


def test_a_result_under_an_old_fence_is_not_written(
    clock: Clock, robot: Receiver, wish: Proposal
) -> None:
    """I12"""
    order = critical_section.enter(wish, recheck.look(wish, clock.now), "first", clock.now)
    assert order is not None
    clock.advance(seconds=31)
    assert execution.recover(clock.now) == 1
    before = story(wish)

    assert not outside_calls.record(order, StepResult("failed", "I was away."), clock.now)

    assert (state(wish), story(wish)) == ("approved", before)
    clock.advance(seconds=2)
    run(clock, "second")
    assert (state(wish), robot.calls[order.key]) == ("verifying", 1)


def test_steps_go_one_after_the_other_through_different_hands(
    clock: Clock, robot: Receiver, maya: User
) -> None:
    """D-17 D-55"""
    endpoint(clock, robot, "restart")
    actions = [action(), restarting(sequence=2), action(sequence=3, parameters={"factor": 0.25})]
    wish = approve(clock, proposal(clock, agent(clock), actions=actions), maya)

    run(clock)
    assert (state(wish), limit(), len(robot.bodies)) == ("executing", LIMIT // 2, 1)
    run(clock)

    assert (state(wish), limit()) == ("verifying", LIMIT // 4)
    assert [each.state for each in steps(wish)] == ["done"] * 3
    assert story(wish).count("begun") == 1


def test_a_hold_between_two_steps_stops_before_the_second(
    clock: Clock, robot: Receiver, maya: User
) -> None:
    """I2: at the next safe point."""
    endpoint(clock, robot, "restart")
    actions = [restarting(), action(sequence=2)]
    wish = approve(clock, proposal(clock, agent(clock), actions=actions), maya)
    run(clock)
    wanted = holds.HoldRequest(kind="stop", scope="organisation", reason="Fire.")
    placed = holds.place(wanted, person=maya, now=clock.now)

    run(clock)

    assert (state(wish), limit()) == ("approved", LIMIT)
    holds.lift(placed.hold.pk, person=maya, now=clock.now, reason="It is out.")
    wait(clock)
    run(clock)
    assert (state(wish), limit(), len(robot.bodies)) == ("verifying", LIMIT // 2, 1)


def test_what_is_half_done_when_its_time_is_over_fails_and_can_be_undone(
    clock: Clock, robot: Receiver, maya: User
) -> None:
    endpoint(clock, robot, "restart")
    actions = [action(), restarting(sequence=2)]
    wish = approve(clock, proposal(clock, agent(clock), actions=actions), maya)
    robot.answers = [429]
    run(clock)
    assert (state(wish), limit()) == ("approved", LIMIT // 2)
    clock.advance(hours=25)

    expiry.sweep(clock.now)
    run(clock)

    assert (state(wish), now(wish).undo_until) == ("failed", clock.now + DAY)


def test_a_target_that_others_change_between_two_steps_ends_it(
    clock: Clock, robot: Receiver, maya: User
) -> None:
    """I7"""
    endpoint(clock, robot, "restart")
    actions = [restarting(), action(sequence=2)]
    wish = approve(clock, proposal(clock, agent(clock), actions=actions), maya)
    run(clock)
    agent(clock, purpose="Writes books.")

    run(clock)

    assert (state(wish), limit()) == ("failed", LIMIT)
    assert [each.state for each in steps(wish)] == ["done", "skipped"]
    assert now(wish).undo_until is None


def test_a_machine_that_hangs_costs_one_wait_for_all(
    clock: Clock, robot: Receiver, maya: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-48 O-29

    F10: others are served meanwhile, and the rest of its calls waits for another round.
    """
    monkeypatch.setattr("controllers.execution.permits.PERMIT", timedelta(seconds=0.5))
    robot.seconds = 1.0
    endpoint(clock, robot, "restart")
    hanging = []
    for number in range(5):
        resource = agent(clock, f"agent-{number}")
        asked = restarting(resource.name)
        hanging.append(approve(clock, proposal(clock, resource, actions=[asked]), maya))
    other = approve(clock, proposal(clock, agent(clock)), maya)

    assert execution.run_due("worker", Means(clock=lambda: clock.now)) == 3

    assert state(other) == "verifying"
    assert len(robot.bodies) == 2
    assert {state(each) for each in hanging} == {"approved"}


@pytest.mark.full
def test_a_call_costs_the_same_however_many_wait_for_the_machine(
    clock: Clock, robot: Receiver, maya: User
) -> None:
    """F10: after an outage everything is due at once, for the same machine."""
    endpoint(clock, robot, "restart")
    costs = []
    for count in (4, 16):
        for number in range(count):
            resource = agent(clock, f"agent-{count}-{number}")
            asked = restarting(resource.name)
            approve(clock, proposal(clock, resource, actions=[asked]), maya)
        with CaptureQueriesContext(connection) as statements:
            assert run(clock) == count
        costs.append(len(statements) / count)

    assert costs[1] <= costs[0] + 1


def test_a_machine_that_is_switched_off_is_not_called(
    clock: Clock, robot: Receiver, wish: Proposal
) -> None:
    """It is then for the agent itself to do."""
    Endpoint.objects.update(enabled=False)

    run(clock)

    assert (robot.bodies, state(wish)) == ([], "executing")
    assert [(each.executor, each.agent) for each in steps(wish)] == [("agent", AGENT)]


def test_without_the_setting_nothing_on_this_computer_is_called(
    clock: Clock, robot: Receiver, wish: Proposal, settings: Any
) -> None:
    settings.WEBHOOKS_ALLOW_LOOPBACK = False

    run(clock)

    assert (robot.bodies, state(wish)) == ([], "approved")


def test_a_decision_taken_while_the_call_is_on_its_way_keeps_the_result(
    clock: Clock, robot: Receiver, wish: Proposal, maya: User
) -> None:
    """I-95"""
    order = critical_section.enter(wish, recheck.look(wish, clock.now), "worker", clock.now)
    assert order is not None
    answers.override(
        wish.pk, person=maya, seen=seen(wish), now=clock.now, reason="I do it myself."
    )
    assert state(wish) == "overridden"

    answer = outside_calls.make(order, lambda: clock.now)
    outside_calls.record(order, answer, clock.now)

    assert state(wish) == "overridden"
    assert [each.state for each in steps(wish)] == ["done"]
    assert story(wish)[-1] == "late-result"
