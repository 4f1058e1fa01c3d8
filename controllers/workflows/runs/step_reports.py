"""What agents say about their steps: taken under a fence, told once, never against a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from controllers.common.clocks import current
from controllers.decisions import holds
from controllers.engine import precedence, run_lifecycle
from controllers.models import RunStep, WorkflowRun
from controllers.workflows.runs import (
    deadlines,
    hold_check,
    next_steps,
    run_moves,
    step_failure,
    workflow_status,
)
from controllers.workflows.runs.run_plan import ErrorClass, steps_of
from resources.documents.actor import Actor
from resources.documents.problems import TAKEN, Problem, forbidden, held, missing, refused
from resources.store import store
from resources.tables.models import Resource

MOST_TOKENS = 10**18

Word = Literal["start", "progress", "complete", "fail"]


@dataclass(frozen=True)
class Cost:
    """What an attempt has used."""

    tokens: int = 0
    cost: float = 0
    currency: str = ""


@dataclass(frozen=True)
class AgentStepReport:
    """What an agent says about a step."""

    word: Word
    # The one that came with the start; nothing only at the start.
    fence: int | None = None
    message: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    error_class: ErrorClass = "agent"
    error: str = ""
    cost: Cost = Cost()


def report(
    run_key: int, step_key: str, said: AgentStepReport, *, agent: Resource, now: datetime
) -> RunStep:
    """Take what an agent says about a step of its own; of two who begin it one succeeds."""
    deadlines.tend_if_due(run_key, now)
    late = False
    with entered(run_key, agent) as run:
        step = find(run, step_key)
        if step.agent != agent.name or step.gate:
            raise forbidden(f"{step.name} is for {'people' if step.gate else step.agent}.")
        if said.word == "start":
            begin(run, step, agent, now)
        elif step.fence != said.fence:
            late = True
            told = {"stepName": step.name, "word": said.word, "fence": said.fence}
            run_moves.tell(run, "late_result", actor=who(agent), now=now, payload=told)
        else:
            hear(run, step, said, agent, now)
    workflow_status.publish_of(run.workflow_id, now)
    if late:
        raise Problem(TAKEN, "It came too late: somebody else has it by now, or the run went on.")
    return step


@contextmanager
def entered(run_key: int, agent: Resource) -> Iterator[WorkflowRun]:
    """Open the section for a run: the locks that keep holds out, then the run itself."""
    found = WorkflowRun.objects.select_related("workflow").filter(pk=run_key).first()
    if found is None:
        raise missing(f"There is no run/{run_key}.")
    with store.all_or_stale():
        hold_check.share(hold_check.places(found, agent))
        yield run_moves.take(run_key)


def find(run: WorkflowRun, key: str) -> RunStep:
    """Return a step by its number, or by its name."""
    steps = RunStep.objects.filter(run=run)
    if key.isascii() and key.isdecimal() and len(key) <= 5:
        found = steps.filter(number=int(key)).first()
    else:
        found = steps.filter(name=key, undoes=False).first()
    if found is None:
        raise missing(f"There is no step {key[:80]} in run/{run.pk}.")
    found.run = run
    return found


def who(agent: Resource) -> Actor:
    """Return an agent as the ledger names it."""
    return Actor("agent", agent.name)


def begin(run: WorkflowRun, step: RunStep, agent: Resource, now: datetime) -> None:
    """Let an agent begin a step that is ready, unless a person stands in the way."""
    state: Any = step.state
    run_lifecycle.step_after(state, "start")
    hold = hold_check.in_the_way(hold_check.places(run, agent), now)
    if hold is not None:
        raise held(precedence.sentence(hold), holds.epoch())
    if run.state not in ("executing", "compensating"):
        raise refused(f"The run is {run.state}: no step of it begins.")
    check_ready(run, step, now)
    lasts = steps_of(run.plan)[step.name].timeout
    run_moves.move_step(
        step,
        "start",
        fence=step.fence + 1,
        attempts=step.attempts + 1,
        started_at=now,
        deadline=now + lasts,
        not_before=None,
        error="",
        error_class="",
        message="",
    )
    payload = {
        "stepName": step.name,
        "undoes": step.undoes,
        "attempt": step.attempts,
        "fence": step.fence,
        "key": step.key,
    }
    run_moves.tell(run, "step_started", actor=who(agent), now=now, payload=payload)


def check_ready(run: WorkflowRun, step: RunStep, now: datetime) -> None:
    """Refuse a step whose turn has not come."""
    if not step.ready:
        before = () if step.undoes else steps_of(run.plan)[step.name].waits_for
        said = f"It waits for {', '.join(before)}." if before else "Its turn has not come."
        raise refused(said)
    rests = RunStep.objects.filter(pk=step.pk, not_before__gt=current(now))
    if step.not_before is not None and rests.exists():
        raise refused(f"It is tried again from {step.not_before:%H:%M:%S} UTC.")


def hear(
    run: WorkflowRun, step: RunStep, said: AgentStepReport, agent: Resource, now: datetime
) -> None:
    """Write down what became of a step, or how far it is."""
    state: Any = step.state
    run_lifecycle.step_after(state, said.word)
    if said.word == "progress":
        stop = hold_check.in_the_way(hold_check.places(run, agent), now)
        if stop is not None and stop.in_flight == "stop":
            raise held(precedence.sentence(stop), holds.epoch())
    spend(run, said.cost)
    if said.word == "progress":
        run_moves.move_step(step, "progress", message=said.message[: run_moves.LONGEST])
        payload = {"stepName": step.name, "fence": step.fence}
        run_moves.tell(run, "step_progressed", actor=who(agent), now=now, payload=payload)
    elif said.word == "complete":
        done = {"ended_at": now, "result": dict(said.result), "deadline": None}
        run_moves.move_step(step, "complete", message=said.message[: run_moves.LONGEST], **done)
        run_moves.tell(run, "step_completed", actor=who(agent), now=now, payload=passed(step, now))
        next_steps.advance(run, now)
    else:
        failure = step_failure.Failure(said.error_class, said.error)
        step_failure.fail(run, step, failure, who(agent), now)


def passed(step: RunStep, now: datetime) -> dict[str, Any]:
    """Write what the ledger keeps of a step that was done."""
    lasted = (now - step.started_at).total_seconds() * 1000 if step.started_at else 0
    return {
        "stepName": step.name,
        "undoes": step.undoes,
        "agent": step.agent,
        "durationMs": round(lasted),
        "fence": step.fence,
    }


def spend(run: WorkflowRun, cost: Cost) -> None:
    """Add what an attempt has used; one run is counted in one currency."""
    if cost.currency and run.currency and cost.currency != run.currency:
        raise refused(f"The costs of this run are counted in {run.currency}.")
    if run.tokens + cost.tokens > MOST_TOKENS:
        raise refused("No run uses so many tokens.")
    if cost.tokens or cost.cost:
        run_moves.change(
            run,
            tokens=run.tokens + cost.tokens,
            cost=run.cost + cost.cost,
            currency=run.currency or cost.currency,
        )
