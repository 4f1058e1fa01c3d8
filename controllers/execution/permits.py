"""What others do: a permit with a deadline and a key, for a machine outside or an agent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from controllers import operations
from controllers.decisions import proposals
from controllers.execution import moves, steps
from controllers.execution.authority import Authority
from controllers.execution.steps import Task
from controllers.models import Endpoint, Proposal, Step
from controllers.operations import Impossible
from resources.documents.actor import SYSTEM
from resources.tables import ledger

# No call begins later than this after it was permitted, and none is waited for longer.
PERMIT = timedelta(seconds=10)


@dataclass(frozen=True)
class Order:
    """A call that is permitted, until its deadline and under its fence."""

    proposal: int
    step: int
    fence: int
    epoch: int
    endpoint: Endpoint
    body: dict[str, Any]
    key: str
    deadline: datetime
    # The correlation id it goes on with.
    story: str


def hand_out(proposal: Proposal, task: Task, given: Authority, now: datetime) -> Order | None:
    """Hand a step to whoever carries it out; return the call to make if that is a machine."""
    target = proposal.resource
    for each in operations.check(task.operation, task.parameters, target.kind, target.name):
        raise Impossible(f"{each.pointer} {each.message}.")
    if task.hand.endpoint is not None:
        return dispatch(proposal, task, task.hand.endpoint, given, now)
    offer(proposal, task, given, now)
    return None


def dispatch(
    proposal: Proposal, task: Task, endpoint: Endpoint, given: Authority, now: datetime
) -> Order:
    """Permit a call: it is written down before it is made, so that it can never be forgotten."""
    step = steps.begin(proposal, task, Step.State.DISPATCHED, given, now)
    deadline = now + PERMIT
    steps.change(step, deadline=deadline, claimed_by=f"endpoint/{endpoint.name}")
    tell(proposal, "dispatched", step, given, now)
    body = message(proposal, step, now)
    return Order(
        proposal.pk,
        step.pk,
        proposal.fence,
        step.epoch,
        endpoint,
        body,
        step.key,
        deadline,
        proposal.correlation_id,
    )


def offer(proposal: Proposal, task: Task, given: Authority, now: datetime) -> None:
    """Let an agent or an outside controller claim a step; until then nothing is under way."""
    step = steps.begin(proposal, task, Step.State.WAITING, given, now)
    # The agent's claims are what is counted.
    steps.change(step, attempts=step.attempts - 1, deadline=None, claimed_by="")
    moves.change(proposal, holder=f"{step.executor}/{step.agent}", claimed_until=None)
    tell(proposal, "offered", step, given, now)


def tell(proposal: Proposal, verb: str, step: Step, given: Authority, now: datetime) -> None:
    """Tell the ledger that a step went into other hands."""
    payload = {
        "operation": step.operation,
        "sequence": step.sequence,
        "executor": step.executor,
        "to": step.claimed_by or f"{step.executor}/{step.agent}",
        "key": step.key,
        "fence": step.fence,
        "epoch": step.epoch,
        "attempt": step.attempts,
        "deadline": ledger.instant(step.deadline) if step.deadline else None,
        "authority": given,
    }
    proposals.tell(proposal, verb, actor=SYSTEM, now=now, payload=payload)


def message(proposal: Proposal, step: Step, now: datetime) -> dict[str, Any]:
    """Write what a machine outside is asked to do."""
    return {
        "type": "ioa.operation",
        "timestamp": ledger.instant(now),
        "data": {
            "operation": step.operation,
            "parameters": step.parameters,
            "target": str(proposal.resource),
            "proposal": proposal.pk,
            "revision": proposal.revision,
            "undoes": step.undoes,
            "key": step.key,
            "fence": step.fence,
            "epoch": step.epoch,
        },
    }
