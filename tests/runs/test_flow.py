"""Every state with every verb, of runs and of steps: as the specification says, or refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers.engine import run_lifecycle
from controllers.engine.run_lifecycle import (
    STATES,
    STEP_STATES,
    STEP_VERBS,
    VERBS,
    State,
    StepState,
    StepVerb,
    Verb,
)
from controllers.models import RunStep, WorkflowRun
from controllers.workflows import runs
from controllers.workflows.runs import AgentStepReport, run_moves
from resources.documents.actor import SYSTEM
from tests.conftest import Clock
from tests.problems import refuses
from tests.resources.making import live
from tests.rows import every_row
from tests.runs.working import now, say, start, workflow

# Written by hand from the specification, not from the table.
RUNS: dict[str, dict[str, str]] = {
    "idle": {"queue": "queued"},
    "queued": {"begin": "executing"},
    "executing": {
        "block": "blocked",
        "complete": "completed",
        "fail": "failed",
        "compensate": "compensating",
    },
    "blocked": {"resume": "executing", "fail": "failed"},
    "compensating": {"complete": "completed", "fail": "failed"},
    "completed": {},
    "failed": {},
}
STEPS: dict[str, dict[str, str]] = {
    "pending": {"start": "running", "skip": "skipped"},
    "running": {
        "progress": "running",
        "complete": "completed",
        "fail": "failed",
        "retry": "pending",
        "skip": "skipped",
    },
    "completed": {},
    "failed": {},
    "skipped": {},
}


def test_the_states_and_verbs_are_those_of_the_specification() -> None:
    assert set(STATES) == set(RUNS)
    assert set(STEP_STATES) == set(STEPS)
    assert {verb for verbs in RUNS.values() for verb in verbs} == set(VERBS)
    assert {verb for verbs in STEPS.values() for verb in verbs} == set(STEP_VERBS)


@pytest.mark.sqlite
@pytest.mark.django_db
@every_row(("state", "verb"), [(s, v) for s in STATES for v in VERBS], rolled_back=True)
def test_a_verb_leads_a_run_where_the_specification_says_or_is_refused(
    clock: Clock, ines: User, state: State, verb: Verb
) -> None:
    """What is forbidden: idle to executing, out of completed, failed or compensating forward."""
    workflow(clock)
    run = start(clock, ines)
    WorkflowRun.objects.filter(pk=run.pk).update(state=state)
    run = now(run)
    led = RUNS[state].get(verb)

    if led is not None:
        run_moves.move(run, verb, actor=SYSTEM, now=clock.now, told="resumed")
        assert now(run).state == led
        return
    with refuses("refused") as refused:
        run_moves.move(run, verb, actor=SYSTEM, now=clock.now, told="resumed")
    assert refused.value.facts["allowed"] == [each for each in VERBS if each in RUNS[state]]
    assert now(run).state == state


@pytest.mark.sqlite
@pytest.mark.django_db
@every_row(("state", "verb"), [(s, v) for s in STEP_STATES for v in STEP_VERBS], rolled_back=True)
def test_a_verb_leads_a_step_where_the_specification_says_or_is_refused(
    clock: Clock, ines: User, state: StepState, verb: StepVerb
) -> None:
    workflow(clock)
    step = start(clock, ines).steps.get(number=1)
    RunStep.objects.filter(pk=step.pk).update(state=state)
    step.refresh_from_db()
    led = STEPS[state].get(verb)

    if led is not None:
        run_moves.move_step(step, verb)
        step.refresh_from_db()
        assert step.state == led
        return
    with refuses("refused"):
        run_moves.move_step(step, verb)
    step.refresh_from_db()
    assert step.state == state


SAYINGS: dict[str, dict[str, str]] = {
    "pending": {"start": "running"},
    "running": {"progress": "running", "complete": "completed", "fail": "failed"},
}


@pytest.mark.sqlite
@pytest.mark.django_db
@every_row(
    ("state", "word"),
    [(s, w) for s in STEP_STATES for w in run_lifecycle.SAID],
    rolled_back=True,
)
def test_what_an_agent_says_moves_a_step_or_is_refused_with_what_it_may_say(
    clock: Clock, ines: User, state: StepState, word: Any
) -> None:
    workflow(clock)
    run = start(clock, ines)
    RunStep.objects.filter(run=run, number=1).update(state=state, fence=7, attempts=1)
    led = SAYINGS.get(state, {}).get(word)

    if led is not None:
        assert say(clock, run, "write", AgentStepReport(word, 7)).state == led
        return
    with refuses("refused") as refused:
        say(clock, run, "write", AgentStepReport(word, 7))
    assert refused.value.facts["allowed"] == list(SAYINGS.get(state, {}))
    assert RunStep.objects.get(run=run, number=1).state == state


@pytest.mark.sqlite
@pytest.mark.django_db
@pytest.mark.parametrize("state", STATES)
def test_a_run_can_be_cancelled_until_it_has_ended(clock: Clock, ines: User, state: State) -> None:
    workflow(clock)
    run = start(clock, ines)
    WorkflowRun.objects.filter(pk=run.pk).update(state=state)

    if state in ("queued", "executing", "blocked", "compensating"):
        ended = runs.cancel(run.pk, "Not today.", by=ines, now=clock.now)
        outcome = "partial" if state == "compensating" else "cancelled"
        assert (ended.state, ended.outcome, ended.reason) == ("failed", outcome, "Not today.")
        return
    with refuses("refused"):
        runs.cancel(run.pk, "Not today.", by=ines, now=clock.now)
    assert now(run).state == state
    assert live("Workflow", "release").status["state"] == "executing"
