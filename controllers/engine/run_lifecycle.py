"""A run's life and that of its steps: which verb leads from which state to which, as two tables.

Nothing can happen to a run or to a step that is not written here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from resources.documents.problems import Problem, refused

State = Literal["idle", "queued", "executing", "blocked", "completed", "failed", "compensating"]
Verb = Literal["queue", "begin", "block", "resume", "complete", "fail", "compensate"]
StepState = Literal["pending", "running", "completed", "failed", "skipped"]
StepVerb = Literal["start", "progress", "complete", "fail", "retry", "skip"]

STATES: tuple[State, ...] = get_args(State)
VERBS: tuple[Verb, ...] = get_args(Verb)
STEP_STATES: tuple[StepState, ...] = get_args(StepState)
STEP_VERBS: tuple[StepVerb, ...] = get_args(StepVerb)
# What an agent says about a step of its own.
SAID: tuple[StepVerb, ...] = ("start", "progress", "complete", "fail")

# It may still bring something about.
OPEN: tuple[State, ...] = ("idle", "queued", "executing", "blocked", "compensating")
# Its clock runs: waiting for a person counts.
RUNNING: tuple[State, ...] = ("executing", "blocked", "compensating")
ENDED: tuple[State, ...] = ("completed", "failed")

# What failed is not begun again, and what is being undone does not go on: start a new run.
_RUNS: Mapping[State, Mapping[Verb, State]] = {
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
}
_STEPS: Mapping[StepState, Mapping[StepVerb, StepState]] = {
    "pending": {"start": "running", "skip": "skipped"},
    "running": {
        "progress": "running",
        "complete": "completed",
        "fail": "failed",
        # An attempt that failed and may be made again.
        "retry": "pending",
        "skip": "skipped",
    },
}


def after(state: State, verb: Verb) -> State:
    """Return the state a verb leads a run to; one that does not fit is refused."""
    led = _RUNS.get(state, {}).get(verb)
    if led is None:
        raise misfit("a run", state, verb, verbs(state))
    return led


def misfit(what: str, state: str, verb: str, allowed: tuple[str, ...]) -> Problem:
    """Say that a verb does not fit a state, and which do."""
    fit = f"What fits is {' or '.join(allowed)}." if allowed else "It has come to its end."
    told = f"“{verb}” does not fit {what} that is {state}. {fit}"
    return refused(told, allowed=list(allowed))


def verbs(state: State) -> tuple[Verb, ...]:
    """Return the verbs that fit a run in a state."""
    return tuple(verb for verb in VERBS if verb in _RUNS.get(state, {}))


def step_after(state: StepState, verb: StepVerb) -> StepState:
    """Return the state a verb leads a step to; one that does not fit is refused."""
    led = _STEPS.get(state, {}).get(verb)
    if led is None:
        raise misfit("a step", state, verb, said(state))
    return led


def step_verbs(state: StepState) -> tuple[StepVerb, ...]:
    """Return the verbs that fit a step in a state."""
    return tuple(verb for verb in STEP_VERBS if verb in _STEPS.get(state, {}))


def said(state: StepState) -> tuple[StepVerb, ...]:
    """Return what an agent may say about a step in a state."""
    return tuple(verb for verb in step_verbs(state) if verb in SAID)
