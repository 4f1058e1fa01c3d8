"""What others say became of a step, and what becomes of its proposal then."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

from django.db import transaction
from django.db.models import F

from controllers.decisions import proposals
from controllers.execution import moves, steps
from controllers.models import Proposal, Step
from controllers.operations import Impossible
from resources.documents.actor import Actor
from resources.observability import metrics

# It was done; it never will be; it was not this time; it was not begun; nobody knows.
Word = Literal["done", "failed", "transient", "stopped", "unknown"]


class StepResult(NamedTuple):
    """What is known about a step that was in other hands."""

    word: Word
    detail: str = ""
    result: Mapping[str, Any] = {}


def mine(proposal: int, fence: int) -> Proposal | None:
    """Take an execution under its fence; whoever was replaced gets nothing, and writes nothing."""
    held = Proposal.objects.filter(pk=proposal, fence=fence)
    if not held.update(lock=F("lock") + 1):
        return None
    return Proposal.objects.select_related("controller", "resource").get(pk=proposal)


def settle(
    proposal: Proposal, step: Step, answer: StepResult, actor: Actor, now: datetime
) -> None:
    """Write down what became of a step; a later one begins only after it is done."""
    transaction.on_commit(metrics.DONE.labels(step.executor, answer.word).inc)
    if proposal.state != "executing":
        note(proposal, step, answer, actor, now)
        return
    again = step.idempotent and step.attempts < moves.MOST_ATTEMPTS
    told = {"ended_at": now, "error": answer.detail if answer.word != "done" else ""}
    if answer.word == "done":
        steps.change(step, state=Step.State.DONE, result=dict(answer.result), **told)
        proceed(proposal, step, actor, now)
    elif answer.word == "stopped":
        steps.change(step, state=Step.State.WAITING, **told)
        moves.move(proposal, "stop", now, {"reason": answer.detail}, run_at=now, **moves.FREE)
    elif answer.word == "transient" and again:
        steps.change(step, state=Step.State.WAITING, **told)
        moves.retry(proposal, answer.detail, moves.backoff(step.attempts), now)
    elif answer.word == "unknown" and again:
        # It keeps its state: the call may have been heard.
        steps.change(step, **told)
        moves.retry(proposal, answer.detail, moves.backoff(step.attempts), now)
    elif answer.word == "unknown":
        steps.change(step, **told)
        moves.lose(proposal, answer.detail, now)
    else:
        steps.change(step, state=Step.State.FAILED, **told)
        moves.fail(proposal, answer.detail, now)


def note(proposal: Proposal, step: Step, answer: StepResult, actor: Actor, now: datetime) -> None:
    """Keep what is told of a step whose proposal people have decided otherwise by now."""
    word: dict[Word, Step.State] = {"done": Step.State.DONE, "unknown": Step.State.UNKNOWN}
    state = word.get(answer.word, Step.State.FAILED)
    steps.change(step, state=state, ended_at=now, error=answer.detail[:2_000])
    told = {"word": answer.word, "detail": answer.detail[:500], "key": step.key}
    proposals.tell(proposal, "late_result", actor=actor, now=now, payload=told)


def proceed(proposal: Proposal, step: Step, actor: Actor, now: datetime) -> None:
    """Finish when all is done; otherwise let a worker go on, through the same section."""
    if step.undoes:
        undone = Step.objects.filter(proposal=proposal, sequence=step.sequence, undoes=False)
        undone.update(state=Step.State.UNDONE)
    payload = {"sequence": step.sequence, "key": step.key, "fence": step.fence}
    proposals.tell(proposal, "step_done", actor=actor, now=now, payload=payload)
    try:
        left = next(steps.remaining(proposal), None)
    except Impossible as error:
        moves.fail(proposal, str(error), now)
        return
    if left is None:
        moves.finish(proposal, now)
    else:
        moves.change(proposal, run_at=now, **moves.FREE)
