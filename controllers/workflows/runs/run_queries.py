"""Which runs somebody may read, and which steps wait for an agent."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from controllers.common.clocks import current
from controllers.models import RunStep, WorkflowRun
from resources.tables.models import AgentToken, Resource
from resources.usecases import access
from resources.usecases.access import Principal


def visible(principal: Principal) -> QuerySet[WorkflowRun]:
    """Return the runs a principal may read: of workflows it sees, or with steps of its own."""
    runs = access.rows(WorkflowRun, principal).select_related("workflow")
    if not isinstance(principal, AgentToken):
        return runs
    seen = access.visible(Resource.objects.filter(kind="Workflow"), principal)
    own = RunStep.objects.filter(run=OuterRef("pk"), agent=principal.agent.name)
    return runs.filter(Q(workflow__in=seen.values("pk")) | Exists(own))


def steps_for(agent: Resource, state: str, now: datetime) -> QuerySet[RunStep]:
    """Return the steps that an agent may begin (`ready`) or is at (`running`), oldest first."""
    mine = RunStep.objects.filter(agent=agent.name, gate=False)
    if state == "running":
        mine = mine.filter(state="running")
    else:
        rested = Q(not_before=None) | Q(not_before__lte=current(now))
        open_runs = Q(run__state__in=["executing", "compensating"])
        mine = mine.filter(rested, open_runs, state="pending", ready=True)
    return mine.select_related("run__workflow").order_by("pk")
