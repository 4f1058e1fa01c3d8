"""What becomes of a run of a workflow is on every open page as it would be on a fresh one."""

from __future__ import annotations

import pytest

from controllers.decisions import answers, holds
from controllers.models import RunStep, WorkflowRun
from controllers.workflows import runs
from controllers.workflows.runs import AgentStepReport
from tests.decisions.carrying import approve
from tests.decisions.carrying import run as work
from tests.decisions.making import seen
from tests.live.watching import World, about_proposal, about_resource, glance
from tests.live.watching import world as world
from tests.problems import refuses
from tests.resources.making import live
from tests.runs.working import (
    COST,
    asked,
    begin,
    done,
    failed,
    say,
    start,
    step,
    undo,
    workflow,
)
from tests.web.conftest import clock as clock

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

STORY = "/audit/trace/story-1"
GATE = {"action": "GATE: Is the text right?"}


def pages_of_it() -> list[str]:
    """Return the pages about the workflow, the agent at it, and the story of its run."""
    agent = live("Agent", "scribe")
    return [*about_resource(live("Workflow", "release")), *glance(agent), STORY]


def started(world: World) -> WorkflowRun:
    """Let the operator start a run."""
    return start(world.clock, world.person("ines"))


def test_a_run_from_its_start_to_its_end(world: World) -> None:
    clock = world.clock
    workflow(clock)
    pages = pages_of_it()
    with world.watch("workflow.queued workflow.started", pages):
        run = started(world)
    with world.watch("workflow.step-started", pages):
        began = begin(clock, run, "write")
    with world.watch("workflow.step-progressed", pages):
        say(clock, run, "write", AgentStepReport("progress", began.fence, message="Half of it."))
    with world.watch("workflow.step-completed", pages):
        say(clock, run, "write", AgentStepReport("complete", began.fence, cost=COST))
    with world.watch("workflow.completed", pages):
        done(clock, run, "send")


def test_a_run_that_waits_for_a_hold_to_end(world: World) -> None:
    clock, maya = world.clock, world.person()
    row = workflow(clock)
    wanted = holds.HoldRequest("pause", "resource", "We count stock.", resource=row.pk)
    hold = holds.place(wanted, person=maya, now=clock.now).hold
    pages = [*pages_of_it(), f"/overrides/{hold.pk}"]
    with world.watch("workflow.queued", pages):
        run = started(world)
    assert run.state == "queued"
    holds.lift(hold.pk, person=maya, now=clock.now, reason="Go on.")
    with world.watch("workflow.started", pages):
        runs.sweep(clock.now)


def test_a_gate_that_people_open(world: World) -> None:
    clock = world.clock
    workflow(clock, step("write"), step("check", "write", **GATE), step("send", "check"))
    run, pages = started(world), pages_of_it()
    with world.watch("workflow.gate-opened workflow.blocked proposal.created", pages):
        done(clock, run, "write")
    wish = approve(clock, asked(run), world.person())
    with world.watch("workflow.resumed", [*pages, *about_proposal(wish)]):
        work(clock)


def test_a_gate_that_people_keep_shut(world: World) -> None:
    clock, maya = world.clock, world.person()
    workflow(clock, step("write"), step("check", "write", **GATE))
    run = started(world)
    done(clock, run, "write")
    wish = asked(run)
    answers.reject(wish.pk, person=maya, seen=seen(wish), now=clock.now, reason="Too early.")
    pages = [*pages_of_it(), *about_proposal(wish)]
    with world.watch("workflow.step-failed workflow.failed", pages):
        runs.sweep(clock.now)


def test_a_run_that_is_cancelled_takes_its_question_back(world: World) -> None:
    clock = world.clock
    workflow(clock, step("check", **GATE))
    run = started(world)
    pages = [*pages_of_it(), *about_proposal(asked(run))]
    with world.watch("workflow.failed", pages):
        runs.cancel(run.pk, "Not today.", by=world.person("ines"), now=clock.now)
    with world.watch("proposal.withdrawn", pages):
        runs.sweep(clock.now)


def test_a_step_that_is_tried_again(world: World) -> None:
    clock = world.clock
    workflow(clock, step("write", retryPolicy={"maxRetries": 1, "backoff": "1s"}))
    run, pages = started(world), pages_of_it()
    first = begin(clock, run, "write")
    broken = AgentStepReport("fail", first.fence, error_class="transient", error="Busy.")
    with world.watch("workflow.step-retried", pages):
        say(clock, run, "write", broken)
    late = refuses("taken")
    with world.watch("workflow.late-result", pages), late:
        say(clock, run, "write", AgentStepReport("complete", first.fence))
    clock.advance(seconds=2)
    with world.watch("workflow.step-failed workflow.failed", pages):
        failed(clock, run, "write")


def test_a_run_that_is_undone(world: World) -> None:
    clock = world.clock
    plan = {"failurePolicy": "compensate", "compensation": [undo("write")]}
    workflow(clock, step("write"), step("send", "write"), **plan)
    run, pages = started(world), pages_of_it()
    done(clock, run, "write")
    with world.watch("workflow.step-failed workflow.blocked", pages):
        failed(clock, run, "send", "validation")
    wish = approve(clock, asked(run), world.person())
    pages += about_proposal(wish)
    with world.watch("workflow.compensating", pages):
        work(clock)
    back = RunStep.objects.get(run=run, undoes=True)
    with world.watch("workflow.step-started workflow.completed", pages):
        done(clock, run, str(back.number))
