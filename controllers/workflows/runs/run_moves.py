"""How a run moves: taken first, moved by a verb of the table, told as one story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import F, QuerySet

from controllers.engine import run_lifecycle
from controllers.engine.run_lifecycle import StepState, StepVerb, Verb
from controllers.models import RunStep, WorkflowRun
from resources.documents.actor import Actor
from resources.documents.problems import missing
from resources.store import announcements
from resources.tables import ledger

# How loud the ledger is about what happened; all else is only to be known.
CATEGORIES = {"step_completed": "trace", "step_started": "trace"}
ALARMING = {
    "step_failed": "warning",
    "blocked": "warning",
    "compensating": "warning",
    "failed": "error",
    "late_result": "warning",
}
LONGEST = 2_000


def take(key: int) -> WorkflowRun:
    """Take a run: the first statement of every transaction about it."""
    if not WorkflowRun.objects.filter(pk=key).update(lock=F("lock") + 1):
        raise missing(f"There is no run/{key}.")
    return WorkflowRun.objects.select_related("workflow").get(pk=key)


def move(
    run: WorkflowRun,
    verb: Verb,
    *,
    actor: Actor,
    now: datetime,
    told: str,
    payload: Mapping[str, Any] | None = None,
    **changes: Any,
) -> None:
    """Move a taken run to its next state, and tell of it."""
    state: Any = run.state
    change(run, state=run_lifecycle.after(state, verb), **changes)
    tell(run, told, actor=actor, now=now, payload=payload)


def change(run: WorkflowRun, **changes: Any) -> None:
    """Change fields of a taken run."""
    for name, value in changes.items():
        setattr(run, name, value)
    WorkflowRun.objects.filter(pk=run.pk).update(**changes)


def move_step(step: RunStep, verb: StepVerb, **changes: Any) -> None:
    """Move a step of a taken run to its next state."""
    state: Any = step.state
    changes["state"] = run_lifecycle.step_after(state, verb)
    for name, value in changes.items():
        setattr(step, name, value)
    RunStep.objects.filter(pk=step.pk).update(**changes)


def make_ready(steps: Sequence[RunStep]) -> None:
    """Let steps be begun: everything they wait for is over."""
    for step in steps:
        step.ready = True
    if steps:
        RunStep.objects.filter(pk__in=[each.pk for each in steps]).update(ready=True)


def skip_all(steps: QuerySet[RunStep], reason: str, now: datetime) -> None:
    """Leave out steps of a taken run; a larger fence shuts out whoever is at one."""
    source: tuple[StepState, ...] = ("pending", "running")
    led = {run_lifecycle.step_after(state, "skip") for state in source}
    steps.filter(state__in=source, error="").update(error=reason)
    steps.filter(state__in=source).update(
        state=led.pop(), ended_at=now, fence=F("fence") + 1, ready=False, deadline=None
    )


def tell(
    run: WorkflowRun,
    verb: str,
    *,
    actor: Actor,
    now: datetime,
    payload: Mapping[str, Any] | None = None,
) -> None:
    """Write what happened to a run into its chain, and announce it on commit."""
    said = {
        "run": run.pk,
        "workflowName": run.workflow.name,
        "state": run.state,
        "correlationId": run.correlation_id,
        **(payload or {}),
    }
    entry = ledger.Entry(
        run.stream,
        f"workflow.{verb.replace('_', '-')}",
        str(run.workflow),
        said,
        category=CATEGORIES.get(verb, "alert" if verb in ALARMING else "audit"),
        severity=ALARMING.get(verb, "info"),
    )
    token = ledger.correlation.set(run.correlation_id)
    try:
        ledger.append([entry], actor=actor, now=now)
    finally:
        ledger.correlation.reset(token)
    announcements.announce()
