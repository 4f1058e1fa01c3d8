"""A run from its start to its end: order, branches, fences, retries, costs and the story of it."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers.decisions import holds
from controllers.models import RunStep, WorkflowRun
from controllers.workflows import runs
from controllers.workflows.runs import AgentStepReport
from controllers.workflows.runs.run_plan import delay, step_of
from resources.documents.problems import Problem
from resources.store import evidence
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.problems import refuses
from tests.resources.conftest import real_database as real_database
from tests.resources.making import live
from tests.resources.racing import together
from tests.runs.working import (
    COST,
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
    workflow,
)
from tests.telemetry.telling import teller

pytestmark = pytest.mark.django_db


def test_a_run_goes_through_its_steps_in_order_and_ends(clock: Clock, ines: User) -> None:
    workflow(clock)

    run = start(clock, ines, inputs={"version": 3})
    assert (run.state, states(run)) == ("executing", {"write": "pending", "send": "pending"})
    with refuses("refused", match="It waits for write"):
        begin(clock, run, "send")
    done(clock, run, "write", cost=COST)
    clock.advance(minutes=8, seconds=32)
    done(clock, run, "send", cost=COST)

    run = now(run)
    assert (run.state, run.outcome, run.tokens, run.cost) == ("completed", "completed", 200, 1.0)
    assert story(run) == [
        "queued",
        "started",
        "step-started",
        "step-completed",
        "step-started",
        "step-completed",
        "completed",
    ]
    told = LedgerEvent.objects.filter(correlation_id="story-1", stream=run.stream)
    assert told.count() == 7
    assert evidence.verify().ok


def test_the_status_of_the_workflow_follows_its_run(clock: Clock, ines: User) -> None:
    workflow(clock)
    run = start(clock, ines)
    began = clock.now
    begin(clock, run, "write")
    assert (status()["state"], status()["currentStep"]) == ("executing", "write")
    say(clock, run, "write", AgentStepReport("complete", 1, cost=COST))
    clock.advance(minutes=8, seconds=32)
    done(clock, run, "send")

    said = status()
    assert said["state"] == "completed"
    assert "currentStep" not in said
    assert said["runId"] == str(run.pk)
    assert said["completedSteps"] == ["write", "send"]
    assert said["latency"] == "8m32s"
    assert said["costAccumulated"] == {"tokens": 100, "cost": 0.5, "currency": "EUR"}
    assert said["successRate"] == 1
    assert said["startedAt"] == began.isoformat().replace("+00:00", "Z")
    assert [each["state"] for each in said["steps"]] == ["completed", "completed"]


def test_branches_run_side_by_side_and_meet_again(clock: Clock, ines: User) -> None:
    workflow(
        clock,
        step("plan"),
        step("left", "plan"),
        step("right", "plan", by="wren"),
        step("meet", "left", "right"),
    )
    run = start(clock, ines)
    done(clock, run, "plan")
    left, right = begin(clock, run, "left"), begin(clock, run, "right", "wren")
    say(clock, run, "left", AgentStepReport("complete", left.fence))
    with refuses("refused", match="It waits for left, right"):
        begin(clock, run, "meet")
    say(clock, run, "right", AgentStepReport("complete", right.fence), "wren")
    done(clock, run, "meet")

    assert now(run).state == "completed"


def test_no_step_comes_in_once_a_run_has_started(clock: Clock, ines: User) -> None:
    """Step injection: the declaration is pinned."""
    declared = workflow(clock, step("write"))
    run = start(clock, ines)
    workflow(clock, step("write"), step("steal", "write", by="rook"))

    assert (run.generation, run.revision) == (1, declared.declared_version)
    done(clock, run, "write")

    assert now(run).state == "completed"
    assert list(states(run)) == ["write"]
    with refuses("not-found"):
        begin(clock, run, "steal", "rook")


def test_only_the_steps_agent_reports_it(clock: Clock, ines: User) -> None:
    workflow(clock, step("write"), step("send", by="wren"))
    run = start(clock, ines)

    with refuses("forbidden", match="write is for scribe"):
        begin(clock, run, "write", "wren")

    assert states(run)["write"] == "pending"


def test_whoever_has_an_older_fence_writes_nothing(clock: Clock, ines: User) -> None:
    workflow(clock, step("write", retryPolicy={"maxRetries": 1, "backoff": "1s"}))
    run = start(clock, ines)
    first = begin(clock, run, "write")
    say(clock, run, "write", AgentStepReport("fail", first.fence, error_class="transient"))
    clock.advance(seconds=2)
    begin(clock, run, "write")

    with refuses("taken"):
        say(clock, run, "write", AgentStepReport("complete", first.fence))

    assert states(run)["write"] == "running"
    assert story(run)[-1] == "late-result"


@pytest.mark.parametrize(
    ("kind", "again"),
    [
        ("transient", True),
        ("agent", True),
        ("external", True),
        ("timeout", False),
        ("validation", False),
        ("governance", False),
    ],
)
def test_only_some_errors_are_tried_again(
    clock: Clock, ines: User, kind: str, again: bool
) -> None:
    workflow(clock, step("write", retryPolicy={"maxRetries": 1, "backoff": "30s"}))
    run = start(clock, ines)

    failed(clock, run, "write", kind)

    assert states(run)["write"] == ("pending" if again else "failed")
    assert now(run).state == ("executing" if again else "failed")
    assert now(run).retries == int(again)


def test_a_policy_names_the_errors_it_is_for(clock: Clock, ines: User) -> None:
    policy = {"maxRetries": 2, "backoff": "1s", "retryOn": ["transient"]}
    workflow(clock, step("write", retryPolicy=policy))
    run = start(clock, ines)

    failed(clock, run, "write", "agent")

    assert now(run).state == "failed"


@pytest.mark.parametrize(
    ("policy", "seconds"),
    [
        ({"backoff": "constant"}, [5, 5, 5]),
        ({"backoff": "linear"}, [5, 10, 15]),
        ({"backoff": "exponential"}, [1, 2, 4, 8]),
        ({"backoff": "30s"}, [30, 30]),
        ({"backoff": "exponential", "initialDelay": "20s", "maxDelay": "50s"}, [20, 40, 50]),
        ({}, [5, 5]),
    ],
)
def test_back_offs_are_those_of_the_specification(
    policy: dict[str, Any], seconds: list[int]
) -> None:
    plan = step_of({}, {"name": "a", "agent": "b", "action": "c", "retryPolicy": policy})

    waits = [delay(plan, number).total_seconds() for number in range(1, len(seconds) + 1)]

    assert waits == seconds


def test_a_step_rests_before_it_is_tried_again(clock: Clock, ines: User) -> None:
    workflow(clock, step("write", retryPolicy={"maxRetries": 1, "backoff": "30s"}))
    run = start(clock, ines)
    failed(clock, run, "write", "transient")

    with refuses("refused", match="tried again from"):
        begin(clock, run, "write")
    clock.advance(seconds=31)
    failed(clock, run, "write", "transient")

    assert (now(run).state, now(run).retries) == ("failed", 1)
    assert story(run)[-2:] == ["step-failed", "failed"]


def test_the_policy_retry_tries_again_and_then_aborts(clock: Clock, ines: User) -> None:
    workflow(clock, step("write"), failurePolicy="retry")
    run = start(clock, ines)

    for _ in range(4):
        failed(clock, run, "write")
        clock.advance(minutes=1)

    assert (now(run).state, now(run).retries) == ("failed", 3)


def test_a_step_that_may_be_left_out_does_not_stop_the_run(clock: Clock, ines: User) -> None:
    workflow(clock, step("write", onFailure="skip"), step("send", "write"))
    run = start(clock, ines)

    failed(clock, run, "write")
    done(clock, run, "send")

    assert states(run) == {"write": "skipped", "send": "completed"}
    assert now(run).state == "completed"


def test_a_failure_aborts_what_is_under_way(clock: Clock, ines: User) -> None:
    workflow(clock, step("write"), step("send", by="wren"), step("end", "write", "send"))
    run = start(clock, ines)
    other = begin(clock, run, "send", "wren")

    failed(clock, run, "write")

    assert (now(run).state, now(run).reason) == ("failed", "write: It broke.")
    assert states(run) == {"write": "failed", "send": "skipped", "end": "skipped"}
    with refuses("taken"):
        say(clock, run, "send", AgentStepReport("complete", other.fence), "wren")
    assert status()["failedSteps"] == ["write"]
    assert status()["successRate"] == 0


def test_a_run_is_counted_in_one_currency(clock: Clock, ines: User) -> None:
    workflow(clock)
    run = start(clock, ines)
    done(clock, run, "write", cost=COST)
    began = begin(clock, run, "send")

    with refuses("refused", match="counted in EUR"):
        say(
            clock,
            run,
            "send",
            AgentStepReport("complete", began.fence, cost=runs.Cost(1, 1, "USD")),
        )

    assert states(run)["send"] == "running"


def test_a_repeated_request_starts_nothing_new(clock: Clock, ines: User) -> None:
    workflow(clock)

    first = start(clock, ines, request_key="k")
    again = start(clock, ines, request_key="k", story="other")

    assert first.pk == again.pk
    with refuses("refused", match="Another run"):
        start(clock, ines, request_key="k", trigger="other")


def test_only_an_operator_starts_and_an_agent_runs_what_it_sees(
    clock: Clock, vera: User, maya: User
) -> None:
    workflow(clock)
    near, far = teller(clock, "robin"), teller(clock, "finch", "finance")

    for person in (vera, maya):
        with refuses("forbidden", match="starts workflows"):
            start(clock, person)
    with refuses("not-found"):
        start(clock, far)
    run = start(clock, near)

    assert (run.started_by, run.state) == ("agent/robin", "executing")


def test_who_cancels_says_why_and_may_stop_things(clock: Clock, ines: User, vera: User) -> None:
    workflow(clock, orchestrator="lead")
    run = start(clock, ines)
    robin, lead = teller(clock, "robin"), teller(clock, "lead")

    with refuses("invalid", match="Say why"):
        runs.cancel(run.pk, " ", by=ines, now=clock.now)
    with refuses("forbidden"):
        runs.cancel(run.pk, "No.", by=vera, now=clock.now)
    with refuses("forbidden"):
        runs.cancel(run.pk, "No.", by=robin, now=clock.now)

    assert runs.cancel(run.pk, "No.", by=lead, now=clock.now).state == "failed"


def pause(clock: Clock, ines: User, scope: str, **given: Any) -> holds.Placed:
    ends = clock.now + timedelta(hours=1)
    kind = "stop" if scope == "organisation" else "pause"
    wanted = holds.HoldRequest(kind, scope, "We count stock.", ends_at=ends, **given)
    return holds.place(wanted, now=clock.now, person=ines)


@pytest.mark.parametrize("scope", ["organisation", "domain", "resource", "agent"])
def test_no_step_begins_against_a_hold(clock: Clock, ines: User, scope: str) -> None:
    row = workflow(clock)
    run = start(clock, ines)
    given: dict[str, dict[str, Any]] = {
        "domain": {"domain": "growth"},
        "resource": {"resource": row.pk},
        "agent": {"resource": live("Agent", "scribe").pk},
    }
    pause(clock, ines, "resource" if scope == "agent" else scope, **given.get(scope, {}))

    with refuses("stopped", match="We count stock") as refused:
        begin(clock, run, "write")

    assert refused.value.facts["epoch"] == str(holds.epoch())
    assert states(run)["write"] == "pending"


def test_a_pause_in_the_middle_lets_a_step_end_and_none_begin(
    clock: Clock, ines: User, maya: User
) -> None:
    row = workflow(clock)
    run = start(clock, ines)
    began = begin(clock, run, "write")
    hold = pause(clock, ines, "resource", resource=row.pk).hold

    with refuses("stopped"):
        say(clock, run, "write", AgentStepReport("progress", began.fence))
    say(clock, run, "write", AgentStepReport("complete", began.fence))
    with refuses("stopped"):
        begin(clock, run, "send")
    holds.lift(hold.pk, person=maya, now=clock.now, reason="Counted.")
    done(clock, run, "send")

    assert now(run).state == "completed"


def test_a_run_that_is_started_under_a_hold_waits_in_the_queue(
    clock: Clock, ines: User, maya: User
) -> None:
    row = workflow(clock)
    hold = pause(clock, ines, "resource", resource=row.pk).hold

    run = start(clock, ines)
    runs.sweep(clock.now)
    waiting = now(run).state
    with refuses("stopped"):
        begin(clock, run, "write")
    holds.lift(hold.pk, person=maya, now=clock.now, reason="Counted.")
    runs.sweep(clock.now)

    assert (waiting, now(run).state) == ("queued", "executing")


def test_a_step_that_takes_too_long_fails_without_a_sweep(clock: Clock, ines: User) -> None:
    workflow(clock, step("write", timeout="5m", retryPolicy={"maxRetries": 3}))
    run = start(clock, ines)
    began = begin(clock, run, "write")
    clock.advance(minutes=6)

    with refuses("taken"):
        say(clock, run, "write", AgentStepReport("complete", began.fence))

    row = RunStep.objects.get(run=run)
    assert (row.state, row.error_class, now(run).state) == ("failed", "timeout", "failed")


def test_the_sweep_ends_what_nobody_reports_any_more(clock: Clock, ines: User) -> None:
    workflow(clock, step("write", timeout="5m", onFailure="skip"), step("send", "write"))
    run = start(clock, ines)
    begin(clock, run, "write")

    clock.advance(minutes=6)
    runs.sweep(clock.now)

    assert states(run) == {"write": "skipped", "send": "pending"}
    done(clock, run, "send")
    assert now(run).state == "completed"


def test_the_time_of_the_run_beats_that_of_its_steps(clock: Clock, ines: User) -> None:
    workflow(clock, step("write", timeout="2h"), timeout="1h")
    run = start(clock, ines)
    began = begin(clock, run, "write")
    clock.advance(minutes=61)

    with refuses("taken"):
        say(clock, run, "write", AgentStepReport("complete", began.fence))

    assert (now(run).state, now(run).outcome) == ("failed", "timeout")


def test_a_run_ends_with_its_workflow(clock: Clock, ines: User) -> None:
    from resources.usecases import deletion
    from tests.resources.making import ALICE

    workflow(clock)
    run = start(clock, ines)
    deletion.delete("Workflow", "release", actor=ALICE, now=clock.now)

    runs.sweep(clock.now)

    assert (now(run).state, now(run).reason) == ("failed", "Its workflow is gone.")


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_of_two_who_begin_a_step_at_once_one_wins(clock: Clock, ines: User) -> None:
    workflow(clock, *[step(f"s{number}") for number in range(10)])
    run = start(clock, ines)

    def attempt(name: str) -> Any:
        try:
            return begin(clock, run, name).fence
        except Problem as problem:
            return problem.code

    for number in range(10):
        told = together([partial(attempt, f"s{number}")] * 4)
        assert sorted(map(str, told)) == ["1", "refused", "refused", "refused"]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_of_two_who_report_one_step_at_once_one_is_heard(clock: Clock, ines: User) -> None:
    workflow(clock, *[step(f"s{number}", onFailure="skip") for number in range(10)])
    run = start(clock, ines)

    def attempt(name: str, said: AgentStepReport) -> str:
        try:
            return say(clock, run, name, said).state
        except Problem as problem:
            return problem.code

    for number in range(10):
        name = f"s{number}"
        fence = begin(clock, run, name).fence
        words = [
            AgentStepReport("complete", fence),
            AgentStepReport("fail", fence, error_class="validation"),
        ] * 2
        told = together([partial(attempt, name, each) for each in words])
        assert len([each for each in told if each in ("completed", "skipped")]) == 1
        assert len([each for each in told if each == "refused"]) == 3

    assert WorkflowRun.objects.get(pk=run.pk).state == "completed"
    assert story(run).count("completed") == 1
