"""Workflow Monitor: execution state and timeout; retry, compensate, abort."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings

from controllers.engine.targets.workflow import TARGET
from controllers.engine.terms import Condition, Document, Related, Snapshot
from tests.engine.targets.judging import (
    A_MOMENT,
    NOW,
    damaged,
    drift_of,
    example,
    holds_for_any_document,
    observed,
    resource,
    steps_of,
    words,
)
from tests.tiers import examples

STARTED = "2026-11-15T22:30:00Z"
STEPS = [
    {"name": "score", "retryPolicy": {"maxRetries": 2}},
    {"name": "offer", "retryPolicy": {"maxRetries": 1}, "timeout": "20m"},
    {"name": "deliver"},
]
CHURN = example("Workflow", "churn-response")
VALUES = [
    *("executing", "blocked", "compensating", "failed", "completed", "running", "offer"),
    *("compensate", "retry", "abort", "2h", "0s", STARTED, "2026-11-16T00:20:00Z"),
]


def run(state: str = "executing", policy: str = "", **status: Any) -> Snapshot:
    spec: dict[str, Any] = {"domainsInvolved": ["growth"], "steps": STEPS, "timeout": "2h"}
    if policy:
        spec["failurePolicy"] = policy
    found = {"state": state, "startedAt": STARTED, "completedSteps": ["score"], **status}
    return Snapshot(resource("Workflow", "churn-response", spec, found))


@pytest.mark.parametrize("state", ["executing", "blocked", "compensating"])
def test_a_run_is_too_long_from_the_moment_its_timeout_ends(state: str) -> None:
    """I-78 waiting for a person counts too."""
    assert words(TARGET, run(state), NOW - A_MOMENT)["WithinTimeout"] == "True"
    assert words(TARGET, run(state), NOW)["WithinTimeout"] == "False"
    assert TARGET.recheck(run(state), NOW - A_MOMENT) == NOW
    assert TARGET.recheck(run(state), NOW) is None


@pytest.mark.parametrize("state", ["idle", "queued", "completed", "failed"])
def test_the_time_of_a_run_that_is_not_on_is_not_measured(state: str) -> None:
    assert "WithinTimeout" not in words(TARGET, run(state))
    assert TARGET.recheck(run(state), NOW - timedelta(hours=1)) is None


def test_a_run_that_hides_its_start_is_unknown_not_in_time() -> None:
    assert words(TARGET, run(startedAt="yesterday"))["WithinTimeout"] == "Unknown"


@pytest.mark.parametrize("timeout", ["permanent", "continuous", "0s", "9000y", "soon"])
def test_a_timeout_no_clock_can_reach_limits_nothing(timeout: str) -> None:
    target = run().target
    endless = Snapshot(target._replace(spec={**target.spec, "timeout": timeout}))
    assert "WithinTimeout" not in words(TARGET, endless)


def test_a_running_step_has_a_limit_of_its_own() -> None:
    steps = [{"name": "offer", "state": "running", "startedAt": "2026-11-16T00:00:00Z"}]
    within = run(startedAt="2026-11-16T00:00:00Z", steps=steps)
    late = observed(TARGET, within, "WithinTimeout")
    assert (late.status, late.reason) == ("False", "TooLong")
    assert late.message == "Step offer started at 2026-11-16T00:00:00Z and may take 20m."
    before = NOW - timedelta(minutes=15)
    assert TARGET.recheck(within, before) == NOW - timedelta(minutes=10)
    done = [{**steps[0], "state": "completed"}]
    finished = run(startedAt="2026-11-16T00:00:00Z", steps=done)
    assert words(TARGET, finished)["WithinTimeout"] == "True"


def test_what_is_said_about_a_run_does_not_change_with_every_look() -> None:
    first = TARGET.observations(run(), NOW)
    assert first == TARGET.observations(run(), NOW + timedelta(minutes=1))
    assert first[0].message == f"The run started at {STARTED} and may take 2h."


@pytest.mark.parametrize(("retries", "word"), [(0, "True"), (3, "True"), (4, "False")])
def test_retries_are_counted_against_those_of_all_steps(retries: int, word: str) -> None:
    assert words(TARGET, run(retries=retries))["RetriesWithinPolicy"] == word


def test_a_negative_number_of_retries_takes_none_from_other_steps() -> None:
    target = run(retries=3).target
    steps = [*STEPS, {"name": "odd", "retryPolicy": {"maxRetries": -5}}]
    odd = Snapshot(target._replace(spec={**target.spec, "steps": steps}))
    assert words(TARGET, odd)["RetriesWithinPolicy"] == "True"


def test_retries_without_any_policy_are_not_judged() -> None:
    target = run(retries=9).target
    free = Snapshot(target._replace(spec={"steps": [{"name": "score"}]}))
    assert "RetriesWithinPolicy" not in words(TARGET, free)


def test_failed_steps_and_failed_runs_are_unhealthy() -> None:
    failed = observed(TARGET, run(failedSteps=["offer"]), "StepsHealthy")
    assert (failed.status, failed.reason) == ("False", "StepFailed")
    assert failed.message == "1 of 3 steps are completed, offer failed."
    assert words(TARGET, run("failed"))["StepsHealthy"] == "False"
    assert words(TARGET, run("completed"))["StepsHealthy"] == "True"


def test_a_workflow_that_never_ran_has_no_data() -> None:
    idle = Snapshot(resource("Workflow", "idle", {"steps": STEPS, "timeout": "2h"}))
    assert drift_of(TARGET, idle).score is None


def test_budgets_of_the_domains_involved_count_and_no_others() -> None:
    """I-46"""
    limits = {"tokens": {"monthly": 100}}
    mine, theirs = (
        resource(
            "Budget",
            f"{domain}-budget",
            {"domain": domain, "period": "2026-11", "limits": limits},
            {"consumed": {"tokens": 150}},
        )
        for domain in ("growth", "finance")
    )
    related = run("completed")._replace(related=Related({"Budget": (mine, theirs)}))
    assert [each.name for each in TARGET.spending(related, NOW)] == ["growth-budget tokens"]
    budget = drift_of(TARGET, related).of("budget")
    assert budget is not None
    assert budget.score == 0.5


@pytest.mark.parametrize(
    ("policy", "operation", "risk", "reversible"),
    [
        ("compensate", "compensate", "medium", True),
        ("retry", "retry", "low", True),
        ("abort", "abort", "high", False),
        ("", "abort", "high", False),
    ],
)
def test_a_run_past_its_timeout_follows_its_failure_policy(
    policy: str, operation: str, risk: str, reversible: bool
) -> None:
    """I-78"""
    (step,) = steps_of(TARGET, run("executing", policy))
    assert (step.operation, step.kind) == (operation, "change")
    assert (step.risk, step.reversible) == (risk, reversible)
    assert STARTED in step.why
    assert step.preconditions == ("workflow.status.state == 'executing'",)


def test_compensation_undoes_completed_steps_in_reverse_and_only_those_it_can() -> None:
    """I-78"""
    undo = [{"step": name} for name in ("score", "pay", "deliver")]
    target = run("blocked", "compensate", completedSteps=["score", "profile", "pay"]).target
    snapshot = Snapshot(target._replace(spec={**target.spec, "compensation": undo}))
    (step,) = steps_of(TARGET, snapshot)
    assert step.parameters == {"workflow": "churn-response", "steps": ["pay", "score"]}
    assert step.rollback == {"operation": "start", "parameters": {"workflow": "churn-response"}}


@pytest.mark.parametrize("policy", ["compensate", "retry"])
def test_a_compensation_that_fails_is_not_compensated_again(policy: str) -> None:
    (step,) = steps_of(TARGET, run("compensating", policy))
    assert step.operation == "abort"


def test_when_the_retries_are_used_up_a_retry_becomes_an_abort() -> None:
    used, left = run("executing", "retry", retries=3), run("executing", "retry", retries=2)
    assert [each.operation for each in steps_of(TARGET, used)] == ["abort"]
    assert [each.operation for each in steps_of(TARGET, left)] == ["retry"]


def test_a_retry_names_the_failed_steps_or_else_the_current_one() -> None:
    (failed,) = steps_of(TARGET, run("executing", "retry", failedSteps=["offer"], runId="run-7"))
    assert failed.parameters == {"workflow": "churn-response", "run": "run-7", "steps": ["offer"]}
    (current,) = steps_of(TARGET, run("executing", "retry", currentStep="deliver"))
    assert current.parameters["steps"] == ["deliver"]


@pytest.mark.parametrize(
    ("state", "policy", "operation"),
    [
        ("failed", "retry", "retry"),
        ("failed", "compensate", "escalate"),
        ("failed", "abort", "escalate"),
        ("completed", "retry", "escalate"),
    ],
)
def test_a_run_that_is_over_can_be_started_again_or_told_of(
    state: str, policy: str, operation: str
) -> None:
    (step,) = steps_of(TARGET, run(state, policy, failedSteps=["offer"]))
    assert step.operation == operation


def test_nothing_is_proposed_for_faults_that_are_not_those_of_a_run() -> None:
    slow = Condition("SLOCompliant", "False")
    target = run("completed").target._replace(conditions=(slow,))
    assert steps_of(TARGET, Snapshot(target)) == ()


def test_the_blocked_run_of_the_example_is_to_be_compensated() -> None:
    """I-78"""
    snapshot = Snapshot(example("Workflow", "churn-response"))
    drift = drift_of(TARGET, snapshot)
    assert drift.drifted
    (step,) = TARGET.steps(snapshot, drift, NOW)
    assert (step.operation, step.parameters["steps"]) == ("compensate", ["profile"])
    said = TARGET.explain(snapshot, drift)
    assert "The run started at 2026-11-15T18:31:00Z and may take 2h" in said
    assert "2 of 6 steps are completed, offer failed" in said


@pytest.mark.parametrize(
    "name", ["listing-launch", "month-close", "refund-approval", "release-train"]
)
def test_the_other_runs_of_the_example_are_as_declared(name: str) -> None:
    assert drift_of(TARGET, Snapshot(example("Workflow", name))).score == 0


@settings(max_examples=examples(150), deadline=None)
@given(damaged(CHURN.spec, CHURN.status, *VALUES))
def test_any_workflow_is_judged(document: Document) -> None:
    target = CHURN._replace(spec=document["spec"], status=document["status"])
    holds_for_any_document(TARGET, Snapshot(target))
