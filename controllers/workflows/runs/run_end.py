"""How a run ends: completed, failed, or undone; what has not begun by then never does."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from controllers.models import RunStep, WorkflowRun
from controllers.workflows.runs import run_moves
from controllers.workflows.runs.run_plan import policy_of
from resources.documents.actor import Actor

OVER = ("pending", "running")


def complete(run: WorkflowRun, outcome: str, actor: Actor, now: datetime) -> None:
    """End a run whose every step is over."""
    began = run.started_at or run.created_at
    payload: dict[str, Any] = {
        "totalDurationMs": round((now - began).total_seconds() * 1000),
        "stepsCompleted": run.steps.filter(state="completed", undoes=False).count(),
        "costAccumulated": cost_of(run),
        "outcome": outcome,
    }
    run_moves.move(
        run,
        "complete",
        actor=actor,
        now=now,
        told="completed",
        payload=payload,
        ended_at=now,
        outcome=outcome,
    )


def fail(run: WorkflowRun, outcome: str, reason: str, actor: Actor, now: datetime) -> None:
    """End a run that does not go on; whoever is at a step of it learns so with the next report."""
    skip(run, "The run has failed.", now)
    failed = run.steps.filter(state="failed").order_by("-ended_at", "-number").first()
    payload = {
        "failedStep": failed.name if failed else "",
        "failurePolicy": policy_of(run.plan),
        "outcome": outcome,
        "reason": reason[: run_moves.LONGEST],
    }
    run_moves.move(
        run,
        "fail",
        actor=actor,
        now=now,
        told="failed",
        payload=payload,
        ended_at=now,
        outcome=outcome,
        reason=reason[: run_moves.LONGEST],
    )


def skip(run: WorkflowRun, reason: str, now: datetime, states: tuple[str, ...] = OVER) -> None:
    """Leave out what is not over; a larger fence shuts out whoever is at it."""
    run_moves.skip_all(RunStep.objects.filter(run=run, state__in=states), reason, now)


def cost_of(run: WorkflowRun) -> dict[str, Any]:
    """Write what a run has cost so far."""
    money = {"cost": run.cost, "currency": run.currency} if run.currency else {}
    return {"tokens": run.tokens, **money}
