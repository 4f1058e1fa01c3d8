"""What an approved proposal does to a run; it is done in the transaction that decided it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from controllers.engine.run_lifecycle import OPEN
from controllers.models import Proposal, RunStep, WorkflowRun
from controllers.operations import Impossible
from controllers.workflows.runs import compensation, deadlines, next_steps, run_moves, step_reports
from resources.documents.actor import Actor

GONE = "Its run has ended: start a new one."


def carry_out(
    proposal: Proposal, operation: str, parameters: Mapping[str, Any], actor: Actor, now: datetime
) -> None:
    """Do to a run what people let happen to it."""
    run = found(proposal, parameters)
    if run.state not in OPEN:
        raise Impossible(GONE)
    DEEDS[operation](run, proposal, parameters, actor, now)


def found(proposal: Proposal, parameters: Mapping[str, Any]) -> WorkflowRun:
    """Take the run a proposal speaks of; without a word, the last one."""
    said = str(parameters.get("run") or "")
    runs = WorkflowRun.objects.filter(workflow=proposal.resource_id)
    if said:
        runs = runs.filter(pk=int(said) if said.isascii() and said.isdecimal() else 0)
    key = runs.order_by("-pk").values_list("pk", flat=True).first()
    if key is None:
        raise Impossible(f"There is no run {said} of {proposal.resource}.")
    return run_moves.take(key)


def pass_gate(
    run: WorkflowRun,
    proposal: Proposal,
    parameters: Mapping[str, Any],
    actor: Actor,
    now: datetime,
) -> None:
    """Let a run pass the gate at which it waits."""
    step = RunStep.objects.filter(
        run=run, name=parameters["step"], undoes=False, gate=True, state="running"
    ).first()
    if step is None or step.proposal_id != proposal.pk:
        raise Impossible("Nobody waits at this gate any more.")
    next_steps.resume(run, now)
    result = {"proposal": proposal.pk, "decidedBy": proposal.decided_by}
    run_moves.move_step(step, "complete", ended_at=now, result=result)
    payload = step_reports.passed(step, now) | result
    run_moves.tell(run, "step_completed", actor=actor, now=now, payload=payload)
    next_steps.advance(run, now)


def compensate(
    run: WorkflowRun, proposal: Proposal, _: Mapping[str, Any], actor: Actor, now: datetime
) -> None:
    """Let a run turn back."""
    if run.state not in ("executing", "blocked"):
        raise Impossible(f"A run that is {run.state} is not undone.")
    if not compensation.undoable(run):
        raise Impossible("Nothing of it can be undone.")
    next_steps.resume(run, now)
    compensation.begin(run, actor, now, {"proposal": proposal.pk})


def retry(
    run: WorkflowRun,
    proposal: Proposal,
    parameters: Mapping[str, Any],
    actor: Actor,
    now: datetime,
) -> None:
    """Let the steps be begun again at which somebody hangs."""
    hanging = run.steps.filter(state="running", gate=False, undoes=False)
    if named := parameters.get("steps"):
        hanging = hanging.filter(name__in=named)
    steps = list(hanging.order_by("number"))
    if not steps:
        raise Impossible("No step of it hangs. What has failed is started in a new run.")
    for step in steps:
        freed = {"fence": step.fence + 1, "deadline": None, "not_before": None}
        run_moves.move_step(step, "retry", **freed)
        payload = {"stepName": step.name, "proposal": proposal.pk}
        run_moves.tell(run, "step_retried", actor=actor, now=now, payload=payload)
    run_moves.change(run, retries=run.retries + len(steps))
    next_steps.advance(run, now)


def abort(
    run: WorkflowRun, proposal: Proposal, _: Mapping[str, Any], actor: Actor, now: datetime
) -> None:
    """End a run where it stands."""
    reason = f"Aborted by P-{proposal.pk}: {proposal.explanation}"
    deadlines.cancel(run, "cancelled", reason, now, actor)


Deed = Callable[[WorkflowRun, Proposal, Mapping[str, Any], Actor, datetime], None]
DEEDS: Mapping[str, Deed] = {
    "pass-gate": pass_gate,
    "compensate": compensate,
    "retry": retry,
    "abort": abort,
}
