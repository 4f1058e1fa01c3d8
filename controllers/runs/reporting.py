"""What agents say about their steps: taken under a fence, told once, never against a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from controllers import flow, holds
from controllers.clocks import current
from controllers.engine import precedence
from controllers.models import RunStep, WorkflowRun
from controllers.runs import advancing, failing, holding, moves, publishing, tending
from controllers.runs.moves import Forbidden, Missing, Refused, Stop, Taken
from controllers.runs.plan import ErrorClass, steps_of
from resources import store
from resources.actor import Actor
from resources.models import Resource

MOST_TOKENS = 10**18

Word = Literal["start", "progress", "complete", "fail"]


@dataclass(frozen=True)
class Cost:
    """What an attempt has used."""

    tokens: int = 0
    cost: float = 0
    currency: str = ""


@dataclass(frozen=True)
class Said:
    """What an agent says about a step."""

    word: Word
    # The one that came with the start; nothing only at the start.
    fence: int | None = None
    message: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    error_class: ErrorClass = "agent"
    error: str = ""
    cost: Cost = Cost()


def report(run_key: int, step_key: str, said: Said, *, agent: Resource, now: datetime) -> RunStep:
    """Take what an agent says about a step of its own; of two who begin it one succeeds."""
    tending.tend_if_due(run_key, now)
    late = False
    with entered(run_key, agent) as run:
        step = find(run, step_key)
        if step.agent != agent.name or step.gate:
            raise Forbidden(f"{step.name} is for {'people' if step.gate else step.agent}.")
        if said.word == "start":
            begin(run, step, agent, now)
        elif step.fence != said.fence:
            late = True
            told = {"stepName": step.name, "word": said.word, "fence": said.fence}
            moves.tell(run, "late_result", actor=who(agent), now=now, payload=told)
        else:
            hear(run, step, said, agent, now)
    publishing.publish_of(run.workflow_id, now)
    if late:
        raise Taken("It came too late: somebody else has it by now, or the run went on.")
    return step


@contextmanager
def entered(run_key: int, agent: Resource) -> Iterator[WorkflowRun]:
    """Open the section for a run: the locks that keep holds out, then the run itself."""
    found = WorkflowRun.objects.select_related("workflow").filter(pk=run_key).first()
    if found is None:
        raise Missing(f"There is no run/{run_key}.")
    with store.all_or_stale():
        holding.share(holding.places(found, agent))
        yield moves.take(run_key)


def find(run: WorkflowRun, key: str) -> RunStep:
    """Return a step by its number, or by its name."""
    steps = RunStep.objects.filter(run=run)
    if key.isascii() and key.isdecimal() and len(key) <= 5:
        found = steps.filter(number=int(key)).first()
    else:
        found = steps.filter(name=key, undoes=False).first()
    if found is None:
        raise Missing(f"There is no step {key[:80]} in run/{run.pk}.")
    found.run = run
    return found


def who(agent: Resource) -> Actor:
    """Return an agent as the ledger names it."""
    return Actor("agent", agent.name)


def begin(run: WorkflowRun, step: RunStep, agent: Resource, now: datetime) -> None:
    """Let an agent begin a step that is ready, unless a person stands in the way."""
    state: Any = step.state
    flow.step_after(state, "start")
    hold = holding.in_the_way(holding.places(run, agent), now)
    if hold is not None:
        raise Stop(precedence.sentence(hold), holds.epoch())
    if run.state not in ("executing", "compensating"):
        raise Refused(f"The run is {run.state}: no step of it begins.")
    check_ready(run, step, now)
    lasts = steps_of(run.plan)[step.name].timeout
    moves.move_step(
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
    moves.tell(run, "step_started", actor=who(agent), now=now, payload=payload)


def check_ready(run: WorkflowRun, step: RunStep, now: datetime) -> None:
    """Refuse a step whose turn has not come."""
    if not step.ready:
        before = () if step.undoes else steps_of(run.plan)[step.name].waits_for
        said = f"It waits for {', '.join(before)}." if before else "Its turn has not come."
        raise Refused(said)
    rests = RunStep.objects.filter(pk=step.pk, not_before__gt=current(now))
    if step.not_before is not None and rests.exists():
        raise Refused(f"It is tried again from {step.not_before:%H:%M:%S} UTC.")


def hear(run: WorkflowRun, step: RunStep, said: Said, agent: Resource, now: datetime) -> None:
    """Write down what became of a step, or how far it is."""
    state: Any = step.state
    flow.step_after(state, said.word)
    if said.word == "progress":
        stop = holding.in_the_way(holding.places(run, agent), now)
        if stop is not None and stop.in_flight == "stop":
            raise Stop(precedence.sentence(stop), holds.epoch())
    spend(run, said.cost)
    if said.word == "progress":
        moves.move_step(step, "progress", message=said.message[: moves.LONGEST])
        payload = {"stepName": step.name, "fence": step.fence}
        moves.tell(run, "step_progressed", actor=who(agent), now=now, payload=payload)
    elif said.word == "complete":
        done = {"ended_at": now, "result": dict(said.result), "deadline": None}
        moves.move_step(step, "complete", message=said.message[: moves.LONGEST], **done)
        moves.tell(run, "step_completed", actor=who(agent), now=now, payload=passed(step, now))
        advancing.advance(run, now)
    else:
        failure = failing.Failure(said.error_class, said.error)
        failing.fail(run, step, failure, who(agent), now)


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
        raise Refused(f"The costs of this run are counted in {run.currency}.")
    if run.tokens + cost.tokens > MOST_TOKENS:
        raise Refused("No run uses so many tokens.")
    if cost.tokens or cost.cost:
        moves.change(
            run,
            tokens=run.tokens + cost.tokens,
            cost=run.cost + cost.cost,
            currency=run.currency or cost.currency,
        )
