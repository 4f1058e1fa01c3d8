"""People decide over runs: gates they open or keep shut, and the way back they let a run go."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers.decisions import answers, expiry
from controllers.models import Proposal, RunStep
from controllers.workflows import runs
from controllers.workflows.runs import AgentStepReport
from tests.conftest import Clock
from tests.decisions.carrying import approve
from tests.decisions.carrying import run as work
from tests.decisions.making import proposal, seen
from tests.problems import refuses
from tests.resources.conftest import real_database as real_database
from tests.resources.making import live
from tests.runs.working import (
    allow,
    asked,
    begin,
    done,
    failed,
    now,
    say,
    start,
    states,
    status,
    step,
    story,
    undo,
    workflow,
)

pytestmark = pytest.mark.django_db

GATE = {"action": "GATE: Is the text right?"}


def gated(clock: Clock, **given: Any) -> None:
    """Declare a workflow with a gate in its middle."""
    workflow(clock, step("write"), step("check", "write", **GATE), step("send", "check"), **given)


@pytest.mark.parametrize("action", ["GATE: Is it right?", "approval-gate"])
def test_a_run_waits_at_a_gate_for_people(clock: Clock, ines: User, action: str) -> None:
    workflow(clock, step("write"), step("check", "write", action=action), step("send", "check"))
    run = start(clock, ines)

    done(clock, run, "write")

    wish = asked(run)
    assert (now(run).state, states(run)["check"]) == ("blocked", "running")
    assert (wish.state, wish.people, wish.proposer) == ("pending", 1, "person/ines")
    assert wish.actions[0]["operation"] == "pass-gate"
    assert wish.correlation_id == "story-1"
    assert (status()["state"], status()["waitingFor"]) == ("blocked", f"proposal/{wish.pk}")


def test_a_gate_that_people_open_lets_the_run_go_on(clock: Clock, ines: User, maya: User) -> None:
    gated(clock)
    run = start(clock, ines)
    done(clock, run, "write")

    allow(clock, run, maya)
    assert (now(run).state, states(run)["check"]) == ("executing", "completed")
    done(clock, run, "send")

    assert now(run).state == "completed"
    assert asked(run).state == "verifying"
    assert asked(run).undo_until is None
    at = story(run).index("blocked")
    assert story(run)[at : at + 3] == ["blocked", "resumed", "step-completed"]


def test_whoever_started_a_run_does_not_open_its_gates(clock: Clock, maya: User) -> None:
    maya.grants.create(role="operator", granted_by="system/ioa", granted_at=clock.now)
    gated(clock)
    run = start(clock, maya)
    done(clock, run, "write")
    wish = asked(run)

    with refuses("forbidden") as refused:
        answers.approve(wish.pk, person=maya, seen=seen(wish), now=clock.now)

    assert refused.value.rule == "Proposer"


def test_an_agent_that_acts_alone_opens_no_gate(clock: Clock) -> None:
    from tests.telemetry.telling import teller

    gated(clock)
    robin = teller(clock, "robin")
    run = start(clock, robin)
    done(clock, run, "write")

    work(clock)

    assert live("Agent", "robin").spec["type"] == "autonomous"
    assert (asked(run).state, now(run).state) == ("pending", "blocked")
    with refuses("forbidden", match="for people"):
        begin(clock, run, "check")


def test_a_gate_that_people_keep_shut_fails_the_run(clock: Clock, ines: User, maya: User) -> None:
    gated(clock)
    run = start(clock, ines)
    done(clock, run, "write")
    wish = asked(run)

    answers.reject(wish.pk, person=maya, seen=seen(wish), now=clock.now, reason="Too early.")
    runs.sweep(clock.now)

    run = now(run)
    assert (run.state, run.outcome) == ("failed", "governance")
    assert run.reason == f"P-{wish.pk} about check is rejected: Too early."
    assert states(run) == {"write": "completed", "check": "failed", "send": "skipped"}


def test_silence_at_a_gate_fails_the_run(clock: Clock, ines: User) -> None:
    gated(clock)
    run = start(clock, ines)
    done(clock, run, "write")

    clock.advance(hours=23)
    runs.sweep(clock.now)
    waiting = now(run).state
    clock.advance(hours=2)
    runs.sweep(clock.now)

    assert (waiting, now(run).state, now(run).outcome) == ("blocked", "failed", "governance")
    expiry.sweep(clock.now)
    assert asked(run).state == "expired"


def test_waiting_for_people_counts_towards_the_time_of_a_run(clock: Clock, ines: User) -> None:
    gated(clock, timeout="1h")
    run = start(clock, ines)
    done(clock, run, "write")
    assert asked(run).expires_at == now(run).ends_at

    clock.advance(minutes=61)
    runs.sweep(clock.now)

    assert (now(run).state, now(run).outcome) == ("failed", "timeout")
    expiry.sweep(clock.now)
    assert asked(run).state == "expired"


def test_a_run_that_ends_takes_its_question_back(clock: Clock, ines: User) -> None:
    gated(clock)
    run = start(clock, ines)
    done(clock, run, "write")
    runs.cancel(run.pk, "No.", by=ines, now=clock.now)

    runs.sweep(clock.now)

    assert asked(run).state == "withdrawn"


def test_other_branches_go_on_beside_a_gate(clock: Clock, ines: User, maya: User) -> None:
    workflow(clock, step("check", **GATE), step("write"), step("send", "check", "write"))
    run = start(clock, ines)
    assert (now(run).state, states(run)["check"]) == ("executing", "running")

    done(clock, run, "write")
    assert now(run).state == "blocked"
    allow(clock, run, maya)
    done(clock, run, "send")

    assert now(run).state == "completed"


def test_a_gate_at_the_end_completes_the_run(clock: Clock, ines: User, maya: User) -> None:
    workflow(clock, step("write"), step("check", "write", **GATE))
    run = start(clock, ines)
    done(clock, run, "write")

    allow(clock, run, maya)

    assert (now(run).state, now(run).outcome) == ("completed", "completed")


def test_what_was_approved_for_a_run_that_ended_is_not_done(
    clock: Clock, ines: User, maya: User
) -> None:
    gated(clock)
    run = start(clock, ines)
    done(clock, run, "write")
    approve(clock, asked(run), maya)

    runs.cancel(run.pk, "Not today.", by=ines, now=clock.now)
    work(clock)

    assert (asked(run).state, now(run).state) == ("failed", "failed")
    assert "has ended" in asked(run).error


def undoing(clock: Clock, **given: Any) -> None:
    """Declare a workflow whose first three steps can be undone, by two agents."""
    workflow(
        clock,
        step("a"),
        step("b", "a", by="wren"),
        step("c", "b"),
        step("d", "c"),
        failurePolicy="compensate",
        compensation=[undo("a"), undo("b", "wren"), undo("c"), undo("d")],
        **given,
    )


def broken(clock: Clock, ines: User) -> Any:
    """Start a run that fails at its fourth step."""
    run = start(clock, ines)
    for name, by in (("a", "scribe"), ("b", "wren"), ("c", "scribe")):
        done(clock, run, name, by)
        clock.advance(seconds=1)
    failed(clock, run, "d", "validation")
    return run


def number(run: Any, name: str) -> str:
    """Return the place of the step that undoes another."""
    return str(RunStep.objects.get(run=run, name=name, undoes=True).number)


def test_a_failure_asks_people_before_anything_is_undone(clock: Clock, ines: User) -> None:
    undoing(clock)

    run = broken(clock, ines)

    wish = asked(run)
    assert (now(run).state, wish.state, wish.proposer) == ("blocked", "pending", "system/ioa")
    assert wish.actions[0]["operation"] == "compensate"
    assert wish.actions[0]["parameters"]["steps"] == ["c", "b", "a"]
    assert status()["failedSteps"] == ["d"]


def test_what_was_done_is_undone_strictly_in_reverse(clock: Clock, ines: User, maya: User) -> None:
    undoing(clock)
    run = broken(clock, ines)
    allow(clock, run, maya)
    assert now(run).state == "compensating"

    for name, by, later in (("c", "scribe", "b"), ("b", "wren", "a"), ("a", "scribe", "")):
        if later:
            other = "wren" if later == "b" else "scribe"
            with refuses("refused", match="turn has not come"):
                begin(clock, run, number(run, later), other)
        done(clock, run, number(run, name), by)

    run = now(run)
    assert (run.state, run.outcome) == ("completed", "compensated")
    assert status()["successRate"] == 0
    assert "compensating" in story(run)


def test_a_way_back_that_fails_is_not_undone_again(clock: Clock, ines: User, maya: User) -> None:
    undoing(clock)
    run = broken(clock, ines)
    allow(clock, run, maya)
    done(clock, run, number(run, "c"))

    failed(clock, run, number(run, "b"), "transient", "wren")

    run = now(run)
    assert (run.state, run.outcome) == ("failed", "partial")
    assert [states(run)[f"undo {each}"] for each in "cba"] == ["completed", "failed", "skipped"]
    assert Proposal.objects.count() == 1
    runs.sweep(clock.now)
    assert Proposal.objects.count() == 1


def test_the_key_of_a_step_is_the_same_for_every_attempt(clock: Clock, ines: User) -> None:
    workflow(clock, step("write", retryPolicy={"maxRetries": 1, "backoff": "1s"}))
    run = start(clock, ines)

    first = begin(clock, run, "write").key
    say(clock, run, "write", AgentStepReport("fail", 1, error_class="transient"))
    clock.advance(seconds=2)

    assert begin(clock, run, "write").key == first


def test_people_may_leave_what_was_done(clock: Clock, ines: User, maya: User) -> None:
    undoing(clock)
    run = broken(clock, ines)
    wish = asked(run)

    answers.reject(wish.pk, person=maya, seen=seen(wish), now=clock.now, reason="Keep it.")
    runs.sweep(clock.now)

    assert (now(run).state, now(run).outcome) == ("failed", "governance")
    assert not RunStep.objects.filter(run=run, undoes=True).exists()


def test_where_nothing_can_be_undone_nobody_is_asked(clock: Clock, ines: User) -> None:
    workflow(clock, step("a"), step("b", "a"), failurePolicy="compensate")
    run = start(clock, ines)
    done(clock, run, "a")

    failed(clock, run, "b", "validation")

    assert (now(run).state, Proposal.objects.count()) == ("failed", 0)


def test_what_runs_beside_a_failure_ends_and_is_undone_too(
    clock: Clock, ines: User, maya: User
) -> None:
    workflow(
        clock,
        step("left"),
        step("right", by="wren"),
        step("last", "left", "right"),
        failurePolicy="compensate",
        compensation=[undo("right", "wren")],
    )
    run = start(clock, ines)
    other = begin(clock, run, "right", "wren")

    failed(clock, run, "left", "validation")
    assert (now(run).state, states(run)["last"]) == ("executing", "skipped")
    say(clock, run, "right", AgentStepReport("complete", other.fence), "wren")
    assert now(run).state == "blocked"
    allow(clock, run, maya)
    done(clock, run, number(run, "right"), "wren")

    assert now(run).outcome == "compensated"


def test_the_time_of_a_run_ends_its_undoing(clock: Clock, ines: User, maya: User) -> None:
    undoing(clock, timeout="1h")
    run = broken(clock, ines)
    allow(clock, run, maya)

    clock.advance(hours=2)
    runs.sweep(clock.now)

    assert (now(run).state, now(run).outcome) == ("failed", "partial")


def operation(clock: Clock, name: str, run: Any, **parameters: Any) -> Proposal:
    """Propose something about a run, as a controller would."""
    said = {"workflow": "release", "run": str(run.pk)} | parameters
    action = {
        "sequence": 1,
        "type": "reconcile",
        "operation": name,
        "kind": "change",
        "target": "workflow/release",
        "parameters": said,
        "risk": "medium",
        "reversible": True,
        "why": "It hangs.",
        "touches": ["status.state"],
    }
    return proposal(clock, live("Workflow", "release"), actions=[action], risk="medium")


def test_an_approved_retry_frees_a_step_that_hangs(clock: Clock, ines: User, maya: User) -> None:
    workflow(clock)
    run = start(clock, ines)
    hanging = begin(clock, run, "write")
    wish = operation(clock, "retry", run, steps=["write"])

    approve(clock, wish, maya)
    work(clock)

    assert (states(run)["write"], now(run).retries) == ("pending", 1)
    with refuses("taken"):
        say(clock, run, "write", AgentStepReport("complete", hanging.fence))
    assert begin(clock, run, "write").fence > hanging.fence


def test_an_approved_abort_ends_the_run(clock: Clock, ines: User, maya: User, tomas: User) -> None:
    workflow(clock)
    run = start(clock, ines)
    wish = operation(clock, "abort", run)

    approve(clock, wish, maya)
    work(clock)
    again = Proposal.objects.get(pk=wish.pk)
    if again.state != "verifying":
        approve(clock, again, maya, tomas)
        work(clock)

    assert (now(run).state, now(run).outcome) == ("failed", "cancelled")


def test_nothing_is_done_to_a_run_that_has_ended(clock: Clock, ines: User, maya: User) -> None:
    workflow(clock)
    run = start(clock, ines)
    runs.cancel(run.pk, "No.", by=ines, now=clock.now)
    wish = operation(clock, "compensate", run)

    approve(clock, wish, maya)
    work(clock)

    assert Proposal.objects.get(pk=wish.pk).state == "failed"
    assert Proposal.objects.get(pk=wish.pk).error == "Its run has ended: start a new one."


def test_a_hold_keeps_an_open_gate_shut(clock: Clock, ines: User, maya: User) -> None:
    from controllers.decisions import holds

    gated(clock)
    run = start(clock, ines)
    done(clock, run, "write")
    wanted = holds.HoldRequest(
        "pause",
        "resource",
        "We count stock.",
        resource=live("Workflow", "release").pk,
        ends_at=clock.now + timedelta(hours=1),
    )
    holds.place(wanted, now=clock.now, person=ines)

    allow(clock, run, maya)

    assert (asked(run).state, now(run).state) == ("approved", "blocked")
