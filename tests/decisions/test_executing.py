"""What is approved is done once, by the right authority, as it was seen, or not at all."""

from __future__ import annotations

import threading
import time
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers import execution
from controllers.decisions import answers, holds
from controllers.execution import due_work, moves
from controllers.loop import registration
from controllers.loop.cycle_run import Means
from controllers.models import Decision, Grant, Proposal, Runtime, WorkItem
from controllers.worker import worker_loop
from resources.store import evidence
from resources.tables.models import LedgerEvent, ResourceRevision
from resources.usecases import deletion, specs
from tests.conftest import Clock
from tests.decisions.carrying import (
    DAY,
    LIMIT,
    approve,
    authorise,
    consume,
    keeper,
    limit,
    now,
    overspending,
    planned,
    run,
    state,
    steps,
    story,
    wait,
)
from tests.decisions.making import AGENT, action, agent, proposal, seen
from tests.resources.conftest import real_database
from tests.resources.making import ALICE, apply, live, made, shown
from tests.resources.racing import together

__all__ = ["real_database"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def wish(clock: Clock) -> Proposal:
    """What a controller proposes for an agent that uses too much."""
    return planned(clock, keeper(clock), overspending(clock))


def told(wish: Proposal, event: str) -> LedgerEvent:
    """Return the last entry of a proposal's chain with a name."""
    return LedgerEvent.objects.filter(stream=wish.stream, event=f"proposal.{event}").latest("seq")


def pause(clock: Clock, person: User, **given: Any) -> holds.Placed:
    """Pause what `given` names."""
    scope = next(iter(given), "organisation")
    kind = "stop" if scope == "organisation" else "pause"
    wanted = holds.HoldRequest(kind=kind, scope=scope, reason="Wait.", **given)
    return holds.place(wanted, person=person, now=clock.now)


def test_what_a_person_approved_is_done_once(clock: Clock, wish: Proposal, maya: User) -> None:
    """I3 I8"""
    approve(clock, wish, maya)

    run(clock)
    run(clock)

    assert (state(wish), limit()) == ("verifying", LIMIT // 2)
    (step,) = steps(wish)
    assert (step.state, step.executor, step.attempts) == ("done", "control-plane", 1)
    assert step.before[0] | {"path": "spec.tokenBudget.maxDaily", "value": LIMIT} == step.before[0]
    done = now(wish)
    assert (done.executed_at, done.undo_until) == (clock.now, clock.now + DAY)
    assert done.verify_by is not None
    assert (done.holder, done.claimed_until) == ("", None)
    assert story(wish)[-2:] == ["begun", "executed"]
    assert evidence.verify().findings == []


def test_the_ledger_names_whose_authority_it_was(clock: Clock, wish: Proposal, maya: User) -> None:
    """I1 I5"""
    approve(clock, wish, maya)
    decision = Decision.objects.get(proposal=wish)

    run(clock)

    (named,) = told(wish, "begun").payload["authority"]
    assert (named["decision"], named["actor"]) == (decision.pk, "person/maya")
    (step,) = steps(wish)
    assert step.authority == [named]
    (kept,) = told(wish, "executed").payload["steps"]
    assert (kept["key"], kept["state"]) == (step.key, "done")
    change = ResourceRevision.objects.filter(resource=wish.resource).latest("resource_version")
    assert change.actor == "controller/keeper"


def test_the_controller_looks_again_at_what_was_done(
    clock: Clock, wish: Proposal, maya: User
) -> None:
    approve(clock, wish, maya)

    run(clock)

    assert WorkItem.objects.filter(controller=wish.controller, resource=wish.resource).exists()


def test_what_the_policy_allows_is_done_without_a_person(clock: Clock) -> None:
    owner = keeper(clock, enforcementMode="enforce", approval="auto")
    wish = authorise(clock, planned(clock, owner, overspending(clock)))

    run(clock)

    assert (state(wish), limit()) == ("verifying", LIMIT // 2)
    (named,) = told(wish, "begun").payload["authority"]
    assert named["actor"] == "policy/enforce@1"


def test_a_policy_that_asks_by_now_no_longer_authorises(clock: Clock) -> None:
    """I10"""
    resource = overspending(clock)
    wish = proposal(clock, resource, policy={"approval": "auto"}, mode="enforce")
    wish = authorise(clock, wish)
    Proposal.objects.filter(pk=wish.pk).update(policy={"approval": "required"})

    run(clock)

    assert (state(wish), limit()) == ("pending", LIMIT)
    asked = now(wish)
    assert (asked.lane, asked.people, asked.revision) == ("ask", 1, 2)
    assert asked.execute_before is None
    assert asked.expires_at > clock.now


def test_what_was_not_approved_is_not_done(clock: Clock, wish: Proposal) -> None:
    """I1"""
    assert run(clock) == 0
    assert execution.execute(wish.pk, "worker", clock.now) is None
    assert (state(wish), limit()) == ("pending", LIMIT)


def test_what_is_to_begin_later_waits(clock: Clock, wish: Proposal, maya: User) -> None:
    approve(clock, wish, maya)
    Proposal.objects.update(run_at=clock.now.replace(year=clock.now.year + 1))

    assert run(clock) == 0
    assert state(wish) == "approved"


def test_a_vote_of_somebody_who_may_no_longer_decide_does_not_count(
    clock: Clock, wish: Proposal, maya: User, tomas: User
) -> None:
    """I1 I18"""
    approve(clock, wish, maya)
    Grant.objects.filter(person=maya).delete()

    run(clock)

    assert (state(wish), limit(), now(wish).revision) == ("pending", LIMIT, 2)
    assert now(wish).decided_by == ""
    approve(clock, now(wish), tomas)
    run(clock)
    assert (state(wish), limit()) == ("verifying", LIMIT // 2)


def test_a_vote_of_somebody_who_left_does_not_count(
    clock: Clock, wish: Proposal, maya: User
) -> None:
    """I1"""
    approve(clock, wish, maya)
    User.objects.filter(pk=maya.pk).update(is_active=False)

    run(clock)

    assert (state(wish), limit()) == ("pending", LIMIT)


def test_two_people_are_needed_where_the_gate_asks_for_two_by_now(
    clock: Clock, maya: User, tomas: User
) -> None:
    """I9"""
    resource = agent(clock)
    patch = {"patch": {"purpose": "Writes less."}}
    changed = action(operation="modify-spec", parameters=patch, touches=["spec.purpose"])
    wish = proposal(clock, resource, actions=[changed | {"risk": "medium"}])
    approve(clock, wish, maya)

    run(clock)
    assert (state(wish), now(wish).people) == ("pending", 2)

    approve(clock, now(wish), maya, tomas)
    run(clock)
    assert state(wish) == "verifying"
    assert live("Agent", resource.name).spec["purpose"] == "Writes less."


def test_a_target_that_was_declared_anew_is_decided_anew(clock: Clock, maya: User) -> None:
    """A-35 I7: the proposal of an agent rests on the declaration it saw."""
    resource = agent(clock)
    wish = approve(clock, proposal(clock, resource), maya)
    agent(clock, purpose="Writes books.")

    run(clock)

    asked = now(wish)
    assert (asked.state, asked.revision, limit()) == ("pending", 2, LIMIT)
    assert asked.basis["generation"] == resource.generation + 1
    approve(clock, asked, maya)
    run(clock)
    assert (state(wish), limit()) == ("verifying", LIMIT // 2)


def test_a_plan_with_another_reason_waits_for_its_controller(
    clock: Clock, wish: Proposal, maya: User
) -> None:
    """I7: the next cycle says whether the approval outlives what has changed."""
    approve(clock, wish, maya)
    overspending(clock, purpose="Writes books.")

    run(clock)

    assert (state(wish), limit()) == ("approved", LIMIT)
    assert WorkItem.objects.filter(controller=wish.controller, resource=wish.resource).exists()
    assert run(clock) == 0


def test_another_plan_is_not_the_one_that_was_approved(
    clock: Clock, wish: Proposal, maya: User
) -> None:
    """A-35 I7 I8"""
    approve(clock, wish, maya)
    consume(clock, wish.resource.name, 4 * LIMIT)

    run(clock)

    assert (state(wish), limit(), now(wish).revision) == ("pending", LIMIT, 2)
    assert WorkItem.objects.filter(controller=wish.controller, resource=wish.resource).exists()


def test_what_a_person_changed_runs_as_it_was_changed(
    clock: Clock, wish: Proposal, maya: User, tomas: User
) -> None:
    """I8"""
    changed = answers.change(
        wish.pk,
        person=tomas,
        seen=seen(wish),
        now=clock.now,
        edits={wish.actions[0]["sequence"]: {"factor": 0.25}},
        reason="Slower still.",
    )
    approve(clock, changed, maya)

    run(clock)

    assert (state(wish), limit()) == ("verifying", LIMIT // 4)


def test_a_report_that_changes_no_verdict_voids_no_vote(
    clock: Clock, wish: Proposal, maya: User
) -> None:
    """I7: heartbeats must not void votes."""
    approve(clock, wish, maya)
    consume(clock, wish.resource.name, 2 * LIMIT)

    run(clock)

    assert state(wish) == "verifying"


def test_where_nothing_is_left_to_do_nothing_is_done(
    clock: Clock, wish: Proposal, maya: User
) -> None:
    """F-42"""
    approve(clock, wish, maya)
    consume(clock, wish.resource.name, LIMIT // 2)

    run(clock)

    assert (state(wish), limit()) == ("converged", LIMIT)


def test_a_target_that_is_gone_is_left_alone(clock: Clock, wish: Proposal, maya: User) -> None:
    """O-64 D-25"""
    approve(clock, wish, maya)
    deletion.delete("Agent", wish.resource.name, actor=ALICE, now=clock.now)

    run(clock)

    assert state(wish) == "skipped"


def test_a_controller_that_is_gone_does_nothing(clock: Clock, wish: Proposal, maya: User) -> None:
    approve(clock, wish, maya)
    deletion.delete("Controller", "keeper", actor=ALICE, now=clock.now)

    run(clock)

    assert (state(wish), limit()) == ("skipped", LIMIT)


@pytest.mark.parametrize("scope", ["organisation", "domain", "controller", "resource"])
def test_a_hold_beats_what_was_approved_before_it(
    clock: Clock, wish: Proposal, maya: User, scope: str
) -> None:
    """I-95 I2"""
    approve(clock, wish, maya)
    named: dict[str, dict[str, Any]] = {
        "organisation": {},
        "domain": {"domain": "growth"},
        "controller": {"controller": wish.controller_id},
        "resource": {"resource": wish.resource_id},
    }
    held = pause(clock, maya, **named[scope])

    run(clock)
    wait(clock)
    run(clock)

    assert (state(wish), limit()) == ("approved", LIMIT)
    assert now(wish).held in ("StoppedAll", "Paused")
    assert "Wait." in now(wish).held_reason
    assert story(wish).count("held") == 1

    holds.lift(held.hold.pk, person=maya, now=clock.now, reason="Go on.")
    run(clock)
    assert (state(wish), limit()) == ("verifying", LIMIT // 2)
    assert (now(wish).held, now(wish).held_reason) == ("", "")


def test_a_hold_on_another_resource_that_would_be_changed_is_kept_too(
    clock: Clock, maya: User
) -> None:
    """O-38 I2: a budget's throttling reaches agents; one of them is paused."""
    agent(clock, "scribe")
    other = agent(clock, "editor")
    assert apply(clock.now, made("Budget", "pot", {"domain": "growth"})).written
    budget = live("Budget", "pot")
    throttle = action(
        operation="throttle-agents",
        parameters={"factor": 0.5},
        target="budget/pot",
        touches=["spec.tokenBudget.maxDaily"],
    )
    wish = approve(clock, proposal(clock, budget, actions=[throttle]), maya)
    held = pause(clock, maya, resource=other.pk)

    run(clock)
    assert (state(wish), limit("scribe"), limit("editor")) == ("approved", LIMIT, LIMIT)
    assert now(wish).held_reason.startswith("agent/editor: It is paused")

    holds.lift(held.hold.pk, person=maya, now=clock.now, reason="Go on.")
    wait(clock)
    run(clock)
    assert (limit("scribe"), limit("editor")) == (LIMIT // 2, LIMIT // 2)


def test_after_a_hold_the_policy_alone_is_not_enough(clock: Clock, maya: User) -> None:
    owner = keeper(clock, enforcementMode="enforce", approval="auto")
    registration.sync(clock.now)
    wish = authorise(clock, planned(clock, owner, overspending(clock)))
    held = pause(clock, maya, controller=owner.pk)
    run(clock)
    holds.lift(held.hold.pk, person=maya, now=clock.now, reason="Go on.")
    wait(clock)

    run(clock)

    assert limit() == LIMIT
    assert state(wish) != "verifying"


def test_what_is_not_begun_in_time_lapses(clock: Clock, wish: Proposal, maya: User) -> None:
    approve(clock, wish, maya)
    clock.advance(hours=25)

    run(clock)

    assert (state(wish), limit()) == ("lapsed", LIMIT)


def lower(clock: Clock) -> None:
    """Let the controller only observe, as two people have decided."""
    document = shown("Controller", "keeper")
    document["spec"]["enforcementMode"] = "observe"
    document.pop("status", None)
    wish = specs.DesiredDocument(document, authorised=True)
    assert specs.apply([wish], actor=ALICE, now=clock.now).written


def test_a_mode_that_was_lowered_lowers_what_is_approved(
    clock: Clock, wish: Proposal, maya: User
) -> None:
    """I10"""
    approve(clock, wish, maya)
    lower(clock)

    run(clock)

    assert (state(wish), limit()) == ("pending", LIMIT)


def test_a_controller_that_was_stopped_does_nothing(
    clock: Clock, wish: Proposal, maya: User
) -> None:
    approve(clock, wish, maya)
    registration.sync(clock.now)
    Runtime.objects.update(breaker="open", breaker_reason="It failed.")

    run(clock)

    assert (state(wish), limit(), now(wish).held) == ("approved", LIMIT, "BreakerOpen")


def test_a_condition_of_the_plan_that_does_not_hold_any_more_skips_it(
    clock: Clock, maya: User
) -> None:
    """D-21 O-64"""
    resource = agent(clock)
    asked = action(preconditions=["agent.spec.purpose == 'Paints.'"])
    wish = approve(clock, proposal(clock, resource, actions=[asked]), maya)

    run(clock)

    assert (state(wish), limit()) == ("skipped", LIMIT)
    assert "Paints" in now(wish).error


def test_a_condition_of_the_plan_that_holds_lets_it_run(clock: Clock, maya: User) -> None:
    asked = action(preconditions=["agent.spec.purpose == 'Writes.'"])
    wish = approve(clock, proposal(clock, agent(clock), actions=[asked]), maya)

    run(clock)

    assert (state(wish), limit()) == ("verifying", LIMIT // 2)


def test_a_failure_stops_the_rest_and_offers_to_undo_what_was_done(
    clock: Clock, maya: User
) -> None:
    """D-30"""
    actions = [
        action(),
        action(sequence=2, parameters={"factor": 7}),
        action(sequence=3, operation="pause", parameters={"agent": AGENT}),
    ]
    wish = approve(clock, proposal(clock, agent(clock), actions=actions), maya)

    run(clock)

    assert [each.state for each in steps(wish)] == ["done", "failed", "skipped"]
    failed = now(wish)
    assert (failed.state, limit()) == ("failed", LIMIT // 2)
    assert failed.undo_until == clock.now + DAY
    assert failed.error == steps(wish)[1].error != ""


def test_an_operation_nobody_knows_fails(clock: Clock, maya: User) -> None:
    """D-25"""
    unknown = action(operation="dance", parameters={})
    wish = approve(clock, proposal(clock, agent(clock), actions=[unknown]), maya)

    run(clock)

    assert state(wish) == "failed"
    assert "dance" in now(wish).error
    assert now(wish).undo_until is None


def test_the_most_urgent_goes_first(clock: Clock, maya: User) -> None:
    wishes = {}
    for urgency in ("low", "critical", "medium"):
        resource = agent(clock, urgency)
        asked = action(urgency)
        wishes[urgency] = approve(
            clock, proposal(clock, resource, actions=[asked], urgency=urgency), maya
        )

    run(clock)

    order = sorted(wishes, key=lambda each: told(wishes[each], "executed").pk)
    assert order == ["critical", "medium", "low"]


def test_while_one_is_under_way_another_on_the_same_resource_waits(
    clock: Clock, maya: User
) -> None:
    """O-35"""
    resource = agent(clock)
    first = proposal(clock, resource, actions=[action(why="First.")], proposer="agent/a")
    Proposal.objects.filter(pk=first.pk).update(
        state="executing", holder="agent/scribe", execute_before=clock.now + DAY
    )
    second = approve(clock, proposal(clock, resource), maya)

    run(clock)

    assert (state(second), limit()) == ("approved", LIMIT)
    Proposal.objects.filter(pk=first.pk).update(state="succeeded")
    clock.advance(seconds=2)
    run(clock)
    assert state(second) == "verifying"


@pytest.mark.servers
@pytest.mark.usefixtures("real_database")
@pytest.mark.django_db(transaction=True)
def test_of_many_workers_one_does_it(clock: Clock, maya: User) -> None:
    """I3"""
    wishes = []
    for number in range(6):
        resource = agent(clock, f"agent-{number}")
        asked = action(resource.name)
        wishes.append(approve(clock, proposal(clock, resource, actions=[asked]), maya))

    together([partial(run, clock, f"worker-{each}") for each in range(4)])

    for wish in wishes:
        assert (state(wish), limit(wish.resource.name)) == ("verifying", LIMIT // 2)
        assert story(wish).count("begun") == 1
        assert wish.resource.revisions.count() == 2
    assert evidence.verify().findings == []


@pytest.mark.usefixtures("real_database")
@pytest.mark.django_db(transaction=True)
def test_nothing_is_done_between_a_stop_and_its_end(
    clock: Clock, maya: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I2: busy workers and a person who stops and starts; the ledger's numbers tell the order."""
    monkeypatch.setattr(moves, "PATIENCE", timedelta(0))
    wishes = []
    for number in range(24):
        resource = agent(clock, f"agent-{number}")
        asked = action(resource.name)
        wishes.append(approve(clock, proposal(clock, resource, actions=[asked]), maya))
    over = threading.Event()

    def work(name: str) -> None:
        while not over.is_set():
            run(clock, name)

    def press() -> None:
        try:
            for _ in range(8):
                placed = pause(clock, maya)
                time.sleep(0.02)
                holds.lift(placed.hold.pk, person=maya, now=clock.now, reason="Go on.")
                time.sleep(0.05)
            while Proposal.objects.filter(state="approved").exists():
                time.sleep(0.05)
        finally:
            over.set()

    together([press, *(partial(work, f"worker-{each}") for each in range(3))])

    done = {told(each, "executed").pk for each in wishes}
    assert len(done) == len(wishes)
    begun, ended = (
        list(LedgerEvent.objects.filter(event=each).order_by("pk").values_list("pk", flat=True))
        for each in ("hold.placed", "hold.lifted")
    )
    stopped = list(zip(begun, ended, strict=True))
    assert len(stopped) == 8
    assert not [each for each in done for since, until in stopped if since < each < until]


def test_a_broken_glass_stands_for_the_second_person(clock: Clock, maya: User) -> None:
    """I9: louder, and reviewed later; but one person is enough."""
    patch = {"patch": {"purpose": "Writes less."}}
    changed = action(operation="modify-spec", parameters=patch, touches=["spec.purpose"])
    wish = proposal(clock, agent(clock), actions=[changed], people=2, risk="medium")
    answers.break_glass(
        wish.pk, person=maya, seen=seen(wish), now=clock.now, reason="The house is on fire."
    )

    run(clock)

    assert state(wish) == "verifying"
    (named,) = told(wish, "begun").payload["authority"]
    assert named["answer"] == "break_glass"


def test_from_drift_to_proof_through_the_loop(clock: Clock, maya: User) -> None:
    """I-04 O-23

    A cycle proposes, a person approves, the loop does it, a later cycle sees that it helped.
    """
    keeper(clock)
    overspending(clock)
    means = Means(clock=lambda: clock.now)
    worker_loop.work("worker", means)
    wish = Proposal.objects.get()
    approve(clock, wish, maya)

    clock.advance(seconds=1)
    worker_loop.work("worker", means)
    assert (state(wish), limit()) == ("verifying", LIMIT // 2)

    clock.advance(minutes=1)
    consume(clock, wish.resource.name, LIMIT // 4)
    worker_loop.work("worker", means)
    assert (state(wish), now(wish).outcome) == ("succeeded", "effective")


def test_what_a_controller_may_do_alone_is_done_in_the_round_that_finds_it(clock: Clock) -> None:
    """I-53"""
    keeper(clock, enforcementMode="enforce", approval="auto")
    overspending(clock)

    worker_loop.work("worker", Means(clock=lambda: clock.now))

    assert limit() == LIMIT // 2
    assert Proposal.objects.get().state == "verifying"


def test_what_is_due_takes_turns_with_everything_else(
    clock: Clock, maya: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I13: however much was approved, cycles and chores are not kept waiting.

    However slow everything is, something is done in each turn.
    """
    monkeypatch.setattr(due_work, "WAVE", 2)
    wishes = []
    for number in range(6):
        resource = agent(clock, f"agent-{number}")
        wishes.append(approve(clock, proposal(clock, resource), maya))

    def slow() -> datetime:
        clock.advance(seconds=6)
        return clock.now

    done = [execution.run_due("worker", Means(clock=slow)) for _ in range(3)]

    assert done == [2, 2, 2]
    assert {state(each) for each in wishes} == {"verifying"}
