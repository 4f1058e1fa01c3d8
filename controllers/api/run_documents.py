"""Runs and their steps as documents; what agents wrote is passed on as the text it is."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from controllers import flow, holds
from controllers.models import RunStep, WorkflowRun
from controllers.runs.ending import cost_of
from resources import ledger
from resources.kind import Document


def told(**given: Any) -> Document:
    """Leave out what is not said."""
    return {name: value for name, value in given.items() if value not in (None, "")}


def instant(at: datetime | None) -> str | None:
    """Spell a time, if there is one."""
    return ledger.instant(at) if at else None


def summary(run: WorkflowRun) -> Document:
    """Write a run without its steps."""
    state: Any = run.state
    return told(
        id=str(run.pk),
        workflow=str(run.workflow),
        state=run.state,
        outcome=run.outcome,
        reason=run.reason,
        allowed=list(flow.verbs(state)),
        generation=run.generation,
        revision=str(run.revision),
        trigger=run.trigger,
        startedBy=run.started_by,
        createdAt=instant(run.created_at),
        startedAt=instant(run.started_at),
        endsAt=instant(run.ends_at),
        endedAt=instant(run.ended_at),
        retries=run.retries,
        costAccumulated=cost_of(run),
        correlationId=run.correlation_id,
    )


def record(run: WorkflowRun) -> Document:
    """Write a run with its steps."""
    steps = [step(each) for each in run.steps.order_by("number")]
    return summary(run) | {"inputs": run.inputs, "steps": steps}


def step(row: RunStep) -> Document:
    """Write one step."""
    state: Any = row.state
    return told(
        number=row.number,
        name=row.name,
        undoes=row.undoes,
        gate=row.gate,
        agent=row.agent,
        action=row.action,
        state=row.state,
        ready=row.ready and row.state == "pending",
        allowed=list(flow.said(state)),
        attempts=row.attempts,
        notBefore=instant(row.not_before),
        deadline=instant(row.deadline),
        startedAt=instant(row.started_at),
        endedAt=instant(row.ended_at),
        errorClass=row.error_class,
        error=row.error,
        message=row.message,
        result=row.result or None,
        proposal=str(row.proposal_id) if row.proposal_id else None,
    )


def work(row: RunStep) -> Document:
    """Write a step as the agent that is to do it needs it."""
    run = row.run
    return {
        "run": str(run.pk),
        "workflow": str(run.workflow),
        "correlationId": run.correlation_id,
        "inputs": run.inputs,
        "key": row.key,
        "step": step(row),
    }


def claim(row: RunStep) -> Document:
    """Write the right to do a step: its fence and the epoch of the holds it was given at."""
    return work(row) | {"fence": row.fence, "epoch": str(holds.epoch())}
