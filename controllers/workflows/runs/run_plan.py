"""What a run was started with: its steps, what follows when one fails, and how it is undone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal, NamedTuple

from controllers.engine.document_values import duration, items, number, section, text, texts
from resources.documents.kind import Document

# Why a step failed.
ErrorClass = Literal["transient", "agent", "external", "timeout", "validation", "governance"]
# These may be tried again; the others would fail again, or are not for a machine to try.
RETRIABLE: tuple[ErrorClass, ...] = ("transient", "agent", "external")
OnFailure = Literal["abort", "skip", "compensate"]
# What a run keeps of the declaration it was started with.
PINNED = (
    "steps",
    "compensation",
    "timeout",
    "failurePolicy",
    "domainsInvolved",
    "orchestrator",
)
GATE, GATE_PREFIX = "approval-gate", "GATE:"
# Where nothing is declared: how long a step, and how long people at a gate, may take.
STEP_TIMEOUT = timedelta(hours=1)
GATE_TIMEOUT = timedelta(hours=24)
# How often a step is tried again where only the workflow says that it is.
USUAL_RETRIES = 3
MOST_RETRIES = 100
# The first delay of each back-off, and the longest of those that grow.
FIRST = {"constant": 5, "linear": 5, "exponential": 1}
LONGEST_DELAY = timedelta(seconds=60)


class Retrying(NamedTuple):
    """How often a step is tried again, when, and after which errors."""

    times: int
    backoff: str
    first: timedelta
    most: timedelta
    after: tuple[str, ...]


class StepPlan(NamedTuple):
    """One step as it is declared."""

    name: str
    agent: str
    action: str
    waits_for: tuple[str, ...]
    gate: bool
    timeout: timedelta
    retrying: Retrying
    on_failure: OnFailure


class Undoing(NamedTuple):
    """How one step is undone, and by whom."""

    agent: str
    action: str


def pinned(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run keeps of a declaration."""
    return {name: spec[name] for name in PINNED if name in spec}


def steps_of(plan: Mapping[str, Any]) -> dict[str, StepPlan]:
    """Read the steps of a plan, in their order."""
    found = (step_of(plan, each) for each in items(plan, "steps"))
    return {each.name: each for each in found}


def step_of(plan: Mapping[str, Any], step: Mapping[str, Any]) -> StepPlan:
    """Read one step."""
    action = text(step.get("action"))
    gate = action.strip() == GATE or action.lstrip().startswith(GATE_PREFIX)
    usual = GATE_TIMEOUT if gate else STEP_TIMEOUT
    return StepPlan(
        text(step.get("name")),
        text(step.get("agent")),
        action,
        tuple(texts(step, "dependsOn")),
        gate,
        duration(step.get("timeout")) or usual,
        retrying_of(plan, section(step, "retryPolicy")),
        on_failure_of(plan, step),
    )


def retrying_of(plan: Mapping[str, Any], policy: Mapping[str, Any]) -> Retrying:
    """Read when a step is tried again; a bare duration is the same delay each time."""
    said = text(policy.get("backoff"))
    delay = duration(said)
    word = said if said in FIRST else "constant"
    first = duration(policy.get("initialDelay")) or delay or timedelta(seconds=FIRST[word])
    usual = USUAL_RETRIES if plan.get("failurePolicy") == "retry" else 0
    times = number(policy.get("maxRetries"))
    return Retrying(
        usual if times is None else int(min(max(0, times), MOST_RETRIES)),
        word,
        first,
        duration(policy.get("maxDelay")) or max(first, LONGEST_DELAY),
        tuple(texts(policy, "retryOn")) or RETRIABLE,
    )


def on_failure_of(plan: Mapping[str, Any], step: Mapping[str, Any]) -> OnFailure:
    """Return what follows when a step fails for good: its own word, or else the workflow's."""
    said = step.get("onFailure")
    if said in ("abort", "skip", "compensate"):
        return said  # type: ignore[no-any-return]
    # `retry` has tried again before it comes to this.
    return "compensate" if plan.get("failurePolicy") == "compensate" else "abort"


def may_retry(step: StepPlan, attempts: int, error_class: str) -> bool:
    """Tell whether a step that failed is tried again."""
    again = error_class in RETRIABLE and error_class in step.retrying.after
    return again and attempts <= step.retrying.times


def delay(step: StepPlan, attempts: int) -> timedelta:
    """Return how long to wait after so many attempts: 5/5/5, 5/10/15 or 1/2/4/8 seconds."""
    policy = step.retrying
    grown: dict[str, int] = {"linear": attempts, "exponential": 1 << min(attempts - 1, 32)}
    return min(policy.first * grown.get(policy.backoff, 1), policy.most)


def compensation_of(plan: Mapping[str, Any]) -> dict[str, Undoing]:
    """Read how steps are undone."""
    return {
        text(each.get("step")): Undoing(text(each.get("agent")), text(each.get("action")))
        for each in items(plan, "compensation")
    }


def timeout_of(plan: Mapping[str, Any]) -> timedelta | None:
    """Return how long the whole run may take."""
    return duration(plan.get("timeout"))


def policy_of(plan: Document) -> str:
    """Return the failure policy of a run."""
    return text(plan.get("failurePolicy")) or "abort"
