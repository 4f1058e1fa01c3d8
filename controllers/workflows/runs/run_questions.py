"""What a run asks people: to pass a gate, or to undo what was done before a step failed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from controllers.access import roles
from controllers.common.quotation import WORDED_HERE
from controllers.decisions.creation import draft, submission
from controllers.decisions.creation.draft import Author
from controllers.models import Proposal, RunStep, WorkflowRun
from controllers.workflows.runs.quotation import harmless
from resources.documents.actor import SYSTEM, Actor
from resources.tables import ledger
from resources.tables.models import Resource

LONGEST = 1_500
# A proposal in one of these was said no to, or came to nothing.
REFUSED = (
    "rejected",
    "expired",
    "lapsed",
    "withdrawn",
    "overridden",
    "superseded",
    "converged",
    "skipped",
    "failed",
    "rolled_back",
)


def to_pass(run: WorkflowRun, step: RunStep, until: datetime, now: datetime) -> Proposal:
    """Ask people to let a run pass a gate; whoever started it does not let it pass."""
    kind, _, name = run.started_by.partition("/")
    actor: Any = Actor(kind, name)  # type: ignore[arg-type]
    why = f"{step.name} of {run.workflow} waits for a person: {step.action}"
    parameters = {"workflow": run.workflow.name, "run": str(run.pk), "step": step.name}
    drafted = drafted_as(run, actor, "pass-gate", parameters, why, now)
    drafted.expires_at = until if run.ends_at is None else min(until, run.ends_at)
    agent = Resource.objects.filter(kind="Agent", name=name, deleted_at=None)
    drafted.interested = roles.interested_in(actor, agent.first() if kind == "agent" else None)
    drafted.request_key = f"run/{run.uid}/{step.number}"
    return filed(run, drafted, actor, now)


def to_undo(run: WorkflowRun, step: RunStep, names: list[str], now: datetime) -> Proposal:
    """Ask people to let a run undo what it did, the last step first."""
    words = harmless(step.error)
    said = f" {step.agent} says: “{words}”" if words else ""
    why = f"{step.name} of {run.workflow} failed ({step.error_class}).{said}"
    parameters = {"workflow": run.workflow.name, "run": str(run.pk), "steps": names}
    drafted = drafted_as(run, SYSTEM, "compensate", parameters, why, now)
    if run.ends_at is not None:
        drafted.expires_at = min(drafted.expires_at, run.ends_at)
    drafted.request_key = f"run/{run.uid}/undo"
    return filed(run, drafted, SYSTEM, now)


def drafted_as(
    run: WorkflowRun, actor: Actor, operation: str, parameters: dict[str, Any], why: str, now: Any
) -> Proposal:
    """Draft what a run asks; nobody's autonomy lets it pass by itself."""
    actions = [{"operation": operation, "parameters": parameters}]
    token = ledger.correlation.set(run.correlation_id)
    try:
        drafted = draft.draft(run.workflow, Author(actor), actions, why[:LONGEST], now)
        drafted.policy[WORDED_HERE] = True
        return drafted
    finally:
        ledger.correlation.reset(token)


def filed(run: WorkflowRun, drafted: Proposal, actor: Actor, now: datetime) -> Proposal:
    """File what was drafted, as part of the run's story."""
    token = ledger.correlation.set(run.correlation_id)
    try:
        return submission.file(drafted, actor, now)
    finally:
        ledger.correlation.reset(token)
