"""One action at a time: which comes next, through whose hands it goes, and the row of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from controllers import operations
from controllers.decisions import holds
from controllers.execution.executor_choice import Hand, hand_of
from controllers.models import Proposal, Step
from resources.documents.actor import Actor
from resources.documents.canonical import digest

# On its way, or handed out: what became of it is not known here.
UNDER_WAY = (Step.State.DISPATCHED, Step.State.CLAIMED, Step.State.WAITING)


class Task(NamedTuple):
    """What is to be done next: an action of a proposal, or the undoing of one."""

    sequence: int
    operation: str
    parameters: dict[str, Any]
    hand: Hand
    # The step it takes back.
    undoes: Step | None = None


def remaining(proposal: Proposal) -> Iterator[Task]:
    """Yield what is left to do, in its order; to undo is to go the same way back."""
    done = {each.sequence: each for each in done_of(proposal)}
    if proposal.undoing:
        for sequence in sorted(done, reverse=True):
            yield backwards(proposal, done[sequence])
        return
    for action in sorted(proposal.actions, key=lambda each: each["sequence"]):
        if action["sequence"] not in done:
            parameters = dict(action.get("parameters", {}))
            hand = hand_of(proposal, action["operation"])
            yield Task(action["sequence"], action["operation"], parameters, hand)


def backwards(proposal: Proposal, step: Step) -> Task:
    """Return how a step is undone: by what was there before, or by the operation against it."""
    known = operations.find(step.operation)
    if step.executor == "control-plane":
        if known is not None and known.on_runs:
            raise operations.Impossible("A run does not go back: start a new one.")
        return Task(step.sequence, step.operation, {}, Hand("control-plane", True), step)
    actions = {each["sequence"]: each for each in proposal.actions}
    back = actions[step.sequence].get("rollback") or {}
    operation = str(back.get("operation") or (known.opposite if known else ""))
    if not operation:
        raise operations.Impossible(f"What {step.operation} does cannot be taken back.")
    parameters = dict(back.get("parameters") or step.parameters)
    return Task(step.sequence, operation, parameters, hand_of(proposal, operation), step)


def way_back(proposal: Proposal) -> bool:
    """Tell whether what was done can be undone: every step of it, each by its own way."""
    try:
        return proposal.reversible and all(
            backwards(proposal, each) is not None for each in done_of(proposal)
        )
    except operations.Impossible:
        return False


def done_of(proposal: Proposal) -> list[Step]:
    """Return the steps of a proposal that were done and not undone."""
    found = Step.objects.filter(proposal=proposal, undoes=False, state=Step.State.DONE)
    return list(found.order_by("sequence"))


def under_way(proposal: Proposal) -> Step | None:
    """Return the step that is on its way, or that nobody knows the end of."""
    found = Step.objects.filter(proposal=proposal, state__in=UNDER_WAY, undoes=proposal.undoing)
    return found.order_by("sequence").first()


def on_the_wire(proposal: Proposal) -> bool:
    """Tell whether a call went out for a proposal and nobody knows what became of it."""
    sent = (Step.State.DISPATCHED, Step.State.CLAIMED)
    return Step.objects.filter(proposal=proposal, state__in=sent).exists()


def doer(step: Step) -> Actor:
    """Return the agent or the outside controller that does a step, as the ledger names it."""
    return Actor("controller" if step.executor == "controller" else "agent", step.agent)


def key_of(proposal: Proposal, sequence: int, undoes: bool) -> str:
    """Name a step: the same for every attempt, so that whoever receives it twice does it once.

    The plan is part of it: after a restore a revision may be counted again, for another plan.
    """
    plan = proposal.action_digest
    return digest([str(proposal.uid), proposal.revision, plan, sequence, undoes])


def begin(
    proposal: Proposal, task: Task, state: str, authority: list[dict[str, Any]], now: datetime
) -> Step:
    """Write down that a step begins: under which claim, at which epoch, by whose authority."""
    facts, undoes = facts_of(proposal, task), task.undoes is not None
    step, made = Step.objects.get_or_create(
        proposal=proposal,
        sequence=task.sequence,
        undoes=undoes,
        defaults={**facts, "state": state},
    )
    # What may have happened keeps its key; what has not may be another thing in a new revision.
    if not made and step.state != Step.State.DISPATCHED:
        change(step, **facts)
    # One that failed for good and is asked for again begins anew.
    before = 0 if step.state == Step.State.FAILED else step.attempts
    change(
        step,
        state=state,
        fence=max(proposal.fence, step.fence),
        epoch=holds.epoch(),
        authority=authority,
        attempts=before + 1,
        started_at=now,
        ended_at=None,
        error="",
    )
    return step


def facts_of(proposal: Proposal, task: Task) -> dict[str, Any]:
    """Return what a step is, whatever becomes of it."""
    return {
        "operation": task.operation,
        "parameters": task.parameters,
        "executor": task.hand.executor,
        "idempotent": task.hand.idempotent,
        "agent": task.hand.agent,
        "key": key_of(proposal, task.sequence, task.undoes is not None),
    }


def change(step: Step, **changes: Any) -> None:
    """Change the row of a step; its proposal is ours."""
    for name, value in changes.items():
        setattr(step, name, value)
    Step.objects.filter(pk=step.pk).update(**changes)


def skip_rest(proposal: Proposal, now: datetime) -> None:
    """Write down that what was still to come is not done any more."""
    known = set(
        Step.objects.filter(proposal=proposal, undoes=proposal.undoing).values_list(
            "sequence", flat=True
        )
    )
    rest: list[Task] = []
    with suppress(operations.Impossible):
        rest.extend(each for each in remaining(proposal) if each.sequence not in known)
    Step.objects.bulk_create(
        Step(
            proposal=proposal,
            sequence=each.sequence,
            undoes=each.undoes is not None,
            state=Step.State.SKIPPED,
            ended_at=now,
            error="A step before it failed.",
            **facts_of(proposal, each),
        )
        for each in rest
    )
