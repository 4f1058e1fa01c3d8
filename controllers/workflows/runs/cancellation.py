"""Cancel a run: stopping is cheap, and what is done stays done."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from controllers.access import roles
from controllers.engine import run_lifecycle
from controllers.engine.document_values import text
from controllers.models import WorkflowRun
from controllers.workflows.runs import deadlines, hold_check, run_moves, workflow_status
from controllers.workflows.runs.run_start import Starter, actor_of
from resources.documents.problems import forbidden, invalid, missing
from resources.store import store
from resources.tables.models import AgentToken


def cancel(key: int, reason: str, *, by: Starter, now: datetime) -> WorkflowRun:
    """End a run for a person who may stop things, or for the agent that leads it."""
    if not reason.strip():
        raise invalid("Say why.")
    found = WorkflowRun.objects.select_related("workflow").filter(pk=key).first()
    if found is None:
        raise missing(f"There is no run/{key}.")
    check_right(found, by, now)
    deadlines.tend_if_due(key, now)
    with store.all_or_stale():
        hold_check.share(hold_check.places(found))
        run = run_moves.take(key)
        if run.state != "queued":
            state: Any = run.state
            run_lifecycle.after(state, "fail")
        deadlines.cancel(run, "cancelled", reason.strip(), now, actor_of(by))
    workflow_status.publish_of(run.workflow_id, now)
    return run


def check_right(run: WorkflowRun, by: Starter, now: datetime) -> None:
    """Let people cancel who may stop anything there, and agents what they lead."""
    if isinstance(by, User):
        roles.check_stop(by, run.workflow.domain, now)
    elif isinstance(by, AgentToken):
        leads = text(run.plan.get("orchestrator"))
        if by.agent.name != leads and run.started_by != f"agent/{by.agent.name}":
            raise forbidden("Only who started a run, or leads it, cancels it.")
