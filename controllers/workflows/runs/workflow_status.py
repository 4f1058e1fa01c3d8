"""What a workflow's status says of its runs: the last one, and how many of late came to an end."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Q, QuerySet

from controllers.engine.run_lifecycle import ENDED
from controllers.models import RunStep, WorkflowRun
from controllers.workflows.runs.run_end import cost_of
from controllers.workflows.runs.run_questions import REFUSED
from resources.documents.actor import SYSTEM
from resources.store import store
from resources.tables import ledger
from resources.tables.models import Resource
from resources.usecases import statuses

LATELY = timedelta(days=7)
SOME = 200


def unsaid() -> QuerySet[WorkflowRun]:
    """Return the runs that have moved since their workflow's status was written."""
    return WorkflowRun.objects.filter(Q(published=None) | ~Q(published=F("lock")))


def publish(now: datetime) -> int:
    """Write the statuses of all workflows whose runs have moved; return how many."""
    found = unsaid().filter(workflow__deleted_at=None).order_by("workflow")
    keys = list(found.values_list("workflow", flat=True).distinct()[:SOME])
    for key in keys:
        publish_of(key, now)
    return len(keys)


def publish_of(workflow: int, now: datetime) -> None:
    """Write the status of one workflow, from its last run."""
    moved = list(unsaid().filter(workflow=workflow).values_list("pk", "lock"))
    run = WorkflowRun.objects.filter(workflow=workflow).order_by("-pk").first()
    row = Resource.objects.filter(pk=workflow, deleted_at=None).only("name").first()
    if not moved or run is None or row is None:
        return
    said = statuses.Report("Workflow", row.name, status_of(run, now))
    # Somebody else writes it: the loop tries again.
    with suppress(store.Stale):
        statuses.observe([said], actor=SYSTEM, now=now)
        for key, lock in moved:
            WorkflowRun.objects.filter(pk=key).update(published=lock)


def status_of(run: WorkflowRun, now: datetime) -> dict[str, Any]:
    """Write a run as the status of its workflow; what there is none of is taken away."""
    steps = list(run.steps.filter(undoes=False).order_by("number").select_related("proposal"))
    current = [each for each in steps if each.state in ("running", "failed")] or [
        each for each in steps if each.state == "pending" and each.ready
    ]
    asks = [each.proposal for each in steps if each.proposal is not None]
    waits = [each for each in asks if each.state not in (*REFUSED, "succeeded", "verifying")]
    waiting = run.state == "blocked" and waits
    return {
        "runId": str(run.pk),
        "state": run.state,
        "currentStep": current[0].name if current and run.state not in ENDED else None,
        "completedSteps": [each.name for each in steps if each.state == "completed"],
        "failedSteps": [each.name for each in steps if each.state == "failed"],
        "startedAt": instant(run.started_at),
        "completedAt": instant(run.ended_at),
        "retries": run.retries,
        "latency": spelled(run.ended_at - run.started_at)
        if run.ended_at and run.started_at
        else None,
        "costAccumulated": cost_of(run),
        "waitingFor": f"proposal/{waits[0].pk}" if waiting else None,
        "successRate": success_rate(run.workflow_id, now),
        "steps": [described(each) for each in steps],
    }


def described(step: RunStep) -> dict[str, Any]:
    """Write one step."""
    told = {
        "name": step.name,
        "state": step.state,
        "startedAt": instant(step.started_at),
        "finishedAt": instant(step.ended_at),
        "attempts": step.attempts,
    }
    return {name: value for name, value in told.items() if value is not None}


def success_rate(workflow: int, now: datetime) -> float | None:
    """Return which part of the runs that ended of late was completed."""
    ended = WorkflowRun.objects.filter(workflow=workflow, ended_at__gt=now - LATELY)
    outcomes = list(ended.values_list("outcome", flat=True))
    done = sum(each == "completed" for each in outcomes)
    return round(done / len(outcomes), 4) if outcomes else None


def instant(at: datetime | None) -> str | None:
    """Spell a time, if there is one."""
    return ledger.instant(at) if at else None


def spelled(lasted: timedelta) -> str:
    """Spell a duration as documents do: 8m32s."""
    seconds = max(0, round(lasted.total_seconds()))
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    parts = ((hours, "h"), (minutes, "m"), (seconds, "s"))
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0s"
