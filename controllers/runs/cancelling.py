"""Cancel a run: stopping is cheap, and what is done stays done."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from controllers import flow, roles
from controllers.engine.reading import text
from controllers.models import WorkflowRun
from controllers.runs import holding, moves, publishing, tending
from controllers.runs.moves import Forbidden, Missing, Refused
from controllers.runs.starting import Starter, actor_of
from resources import store
from resources.models import AgentToken


def cancel(key: int, reason: str, *, by: Starter, now: datetime) -> WorkflowRun:
    """End a run for a person who may stop things, or for the agent that leads it."""
    if not reason.strip():
        raise Refused("Say why.")
    found = WorkflowRun.objects.select_related("workflow").filter(pk=key).first()
    if found is None:
        raise Missing(f"There is no run/{key}.")
    check_right(found, by, now)
    tending.tend_if_due(key, now)
    with store.all_or_stale():
        holding.share(holding.places(found))
        run = moves.take(key)
        if run.state != "queued":
            state: Any = run.state
            flow.after(state, "fail")
        tending.cancel(run, "cancelled", reason.strip(), now, actor_of(by))
    publishing.publish_of(run.workflow_id, now)
    return run


def check_right(run: WorkflowRun, by: Starter, now: datetime) -> None:
    """Let people cancel who may stop anything there, and agents what they lead."""
    if isinstance(by, User):
        roles.check_stop(by, run.workflow.domain, now)
    elif isinstance(by, AgentToken):
        leads = text(run.plan.get("orchestrator"))
        if by.agent.name != leads and run.started_by != f"agent/{by.agent.name}":
            raise Forbidden("Only who started a run, or leads it, cancels it.")
