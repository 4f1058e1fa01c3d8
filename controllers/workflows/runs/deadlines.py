"""What time and people do to runs: deadlines, answers at gates, and holds that were lifted.

Every use case asks here before it does anything, so nothing depends on how often the loop sweeps.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from controllers.common.clocks import current
from controllers.decisions.creation.proposal_end import close_gone
from controllers.engine import run_lifecycle
from controllers.engine.proposal_lifecycle import WAITING
from controllers.engine.run_lifecycle import ENDED, OPEN, RUNNING
from controllers.models import Proposal, RunStep, WorkflowRun
from controllers.workflows.runs import (
    hold_check,
    next_steps,
    run_end,
    run_moves,
    step_failure,
    workflow_status,
)
from controllers.workflows.runs.run_questions import REFUSED
from controllers.workflows.runs.step_failure import Failure
from resources.documents.actor import SYSTEM
from resources.documents.problems import NOT_FOUND, Problem
from resources.store import store

SOME = 500
TIMEOUT = Failure("timeout", "It took longer than it may.")


def sweep(now: datetime) -> int:
    """Tend every run that something has happened to; return how many there were."""
    done = 0
    for key in list(due(now).order_by("pk").values_list("pk", flat=True)[:SOME]):
        # Whoever was faster has left it tended, or it comes again.
        try:
            tend(key, now)
            done += 1
        except store.Stale:
            continue
        except Problem as problem:
            if problem.code != NOT_FOUND:
                raise
    ended = RunStep.objects.filter(proposal=OuterRef("pk"), run__state__in=ENDED)
    # What nobody answered in time expires, as everything else does.
    silent = Q(state__in=WAITING, expires_at__lte=current(now))
    over = Proposal.objects.filter(~silent, Exists(ended))
    close_gone(over, "The run that asked for it has ended.", now)
    workflow_status.publish(now)
    return done


def due(now: datetime) -> QuerySet[WorkflowRun]:
    """Return the open runs whose time, or whose answer, has come."""
    clock = current(now)
    mine = RunStep.objects.filter(run=OuterRef("pk"))
    late = mine.filter(state="running", gate=False, deadline__lte=clock)
    refused = mine.filter(answered_no(now), state__in=["running", "failed"])
    return WorkflowRun.objects.filter(state__in=OPEN).filter(
        Q(ends_at__lte=clock)
        | Q(state="queued")
        | Q(workflow__deleted_at__isnull=False)
        | Exists(late)
        | Exists(refused)
    )


def answered_no(now: datetime) -> Q:
    """Tell of steps whether people said no to what they ask, or said nothing in time."""
    silent = Q(proposal__state__in=WAITING, proposal__expires_at__lte=current(now))
    return Q(proposal__state__in=REFUSED) | silent


def tend_if_due(key: int, now: datetime) -> None:
    """Tend a run before something else is done with it."""
    if due(now).filter(pk=key).exists():
        tend(key, now)


def tend(key: int, now: datetime) -> None:
    """Bring a run to where its clock and people's answers lead it."""
    found = WorkflowRun.objects.select_related("workflow").get(pk=key)
    with store.all_or_stale():
        hold_check.share(hold_check.places(found))
        run = run_moves.take(key)
        if run.state == "queued":
            wake(run, now)
        elif run.state in RUNNING:
            end(run, now)
    workflow_status.publish_of(found.workflow_id, now)


def wake(run: WorkflowRun, now: datetime) -> None:
    """Let a queued run begin once nobody stands in its way."""
    if run.workflow.deleted_at is not None:
        cancel(run, "failed", "Its workflow is gone.", now)
    elif hold_check.in_the_way(hold_check.places(run), now) is None:
        next_steps.begin(run, now)


def end(run: WorkflowRun, now: datetime) -> None:
    """End what is over: the whole run first, then what people said no to, then late steps."""
    late = WorkflowRun.objects.filter(pk=run.pk, ends_at__lte=current(now)).exists()
    refused = asked(run).filter(answered_no(now)).select_related("proposal").first()
    if run.workflow.deleted_at is not None:
        cancel(run, "failed", "Its workflow is gone.", now)
    elif late:
        cancel(run, "timeout", "The run took longer than it may.", now)
    elif refused is not None:
        shut(run, refused, now)
    else:
        for step in overdue(run, now):
            if run.state in RUNNING:
                step_failure.fail(run, step, TIMEOUT, SYSTEM, now)


def asked(run: WorkflowRun) -> QuerySet[RunStep]:
    """Return the steps for which people are asked something."""
    return RunStep.objects.filter(
        run=run, proposal__isnull=False, state__in=["running", "failed"]
    ).order_by("number")


def overdue(run: WorkflowRun, now: datetime) -> list[RunStep]:
    """Return the steps that last longer than they may."""
    rows = run.steps.filter(state="running", gate=False, deadline__lte=current(now))
    return list(rows.order_by("number"))


def shut(run: WorkflowRun, step: RunStep, now: datetime) -> None:
    """Fail a run that people did not let go on."""
    proposal = step.proposal
    said = f": {proposal.reason}" if proposal is not None and proposal.reason else "."
    word = proposal.state if proposal is not None else "gone"
    if proposal is not None and proposal.state in WAITING:
        word = "expired"
    what = f"P-{step.proposal_id} about {step.name} is {word.replace('_', ' ')}{said}"
    if step.state == "running":
        run_moves.move_step(step, "fail", error_class="governance", error=what, ended_at=now)
        payload = step_failure.told(step, Failure("governance", what)) | {"onFailure": "abort"}
        run_moves.tell(run, "step_failed", actor=SYSTEM, now=now, payload=payload)
    run_end.fail(run, "governance", what, SYSTEM, now)


def cancel(
    run: WorkflowRun, outcome: str, reason: str, now: datetime, actor: Any = SYSTEM
) -> None:
    """End a run wherever it stands; one that is queued begins for a moment, and does nothing."""
    state: Any = run.state
    if state == "queued":
        told = {"reason": reason}
        changes = {"started_at": now}
        run_moves.move(run, "begin", actor=actor, now=now, told="started", payload=told, **changes)
    state = run.state
    run_lifecycle.after(state, "fail")
    partial = outcome if run.state != "compensating" else "partial"
    run_end.fail(run, partial, reason, actor, now)
