"""A step that failed: tried again where its policy says so, or what the failure policy says."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from controllers.models import RunStep, WorkflowRun
from controllers.workflows.runs import next_steps, run_end, run_moves
from controllers.workflows.runs.run_plan import ErrorClass, delay, may_retry, steps_of
from resources.documents.actor import SYSTEM, Actor


class Failure(NamedTuple):
    """Why a step failed."""

    error_class: ErrorClass
    error: str

    @property
    def sentence(self) -> str:
        """What to tell of it."""
        return self.error[: run_moves.LONGEST] or f"It failed: {self.error_class}."


def fail(run: WorkflowRun, step: RunStep, failure: Failure, actor: Actor, now: datetime) -> None:
    """Write down that an attempt failed, and let follow what follows."""
    plan = steps_of(run.plan)[step.name]
    # The way back is gone once: what fails there needs people, not another attempt.
    if not step.undoes and may_retry(plan, step.attempts, failure.error_class):
        again(run, step, failure, actor, now)
        return
    on_failure = "stop" if step.undoes else plan.on_failure
    said = {"error_class": failure.error_class, "error": failure.sentence, "ended_at": now}
    # Whoever is at it while its time ends comes too late.
    fence = step.fence + (actor == SYSTEM)
    run_moves.move_step(
        step, "skip" if on_failure == "skip" else "fail", deadline=None, fence=fence, **said
    )
    payload = told(step, failure) | {"onFailure": on_failure}
    run_moves.tell(run, "step_failed", actor=actor, now=now, payload=payload)
    if on_failure == "abort":
        next_steps.resume(run, now)
        run_end.fail(run, "failed", f"{step.name}: {failure.sentence}", actor, now)
    else:
        next_steps.advance(run, now)


def again(run: WorkflowRun, step: RunStep, failure: Failure, actor: Actor, now: datetime) -> None:
    """Let a step be begun again after a while; whoever had it no longer may."""
    rests = delay(steps_of(run.plan)[step.name], step.attempts)
    run_moves.move_step(
        step,
        "retry",
        fence=step.fence + 1,
        not_before=now + rests,
        deadline=None,
        error_class=failure.error_class,
        error=failure.sentence,
    )
    run_moves.change(run, retries=run.retries + 1)
    payload = told(step, failure) | {"attempt": step.attempts, "after": rests.total_seconds()}
    run_moves.tell(run, "step_retried", actor=actor, now=now, payload=payload)


def told(step: RunStep, failure: Failure) -> dict[str, str]:
    """Write what the ledger keeps of a failure."""
    return {
        "stepName": step.name,
        "agent": step.agent,
        "error": failure.sentence,
        "errorClass": failure.error_class,
    }
