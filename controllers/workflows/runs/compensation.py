"""Undo a run: its completed steps only, strictly in reverse order, each once, never again."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from controllers.models import RunStep, WorkflowRun
from controllers.workflows.runs import run_end, run_moves
from controllers.workflows.runs.run_plan import compensation_of
from resources.documents.actor import SYSTEM, Actor
from resources.documents.canonical import digest


def key_of(run: WorkflowRun, name: str, *, undoes: bool) -> str:
    """Name a step: the same for every attempt, so that whoever receives it twice does it once."""
    return digest([str(run.uid), name, undoes])


def undoable(run: WorkflowRun) -> list[RunStep]:
    """Return the completed steps that have a way back, the last one first."""
    known = compensation_of(run.plan)
    done = run.steps.filter(undoes=False, state="completed").order_by("-ended_at", "-number")
    return [each for each in done if each.name in known]


def begin(run: WorkflowRun, actor: Actor, now: datetime, payload: dict[str, Any]) -> None:
    """Let a run turn back; what is under way is left where it is."""
    known, back = compensation_of(run.plan), undoable(run)
    first = run.steps.count() + 1
    run_end.skip(run, "The run is undone.", now)
    RunStep.objects.bulk_create(
        RunStep(
            run=run,
            number=first + place,
            name=each.name,
            undoes=True,
            agent=known[each.name].agent[:253],
            action=known[each.name].action,
            state="pending",
            key=key_of(run, each.name, undoes=True),
        )
        for place, each in enumerate(back)
    )
    failed = run.steps.filter(state="failed").order_by("ended_at").first()
    said = {
        "failedStep": failed.name if failed else "",
        "compensationSteps": [each.name for each in back],
        **payload,
    }
    run_moves.move(run, "compensate", actor=actor, now=now, told="compensating", payload=said)
    advance(run, now)


def advance(run: WorkflowRun, now: datetime) -> None:
    """Make the next way back ready once the one before it has been gone; end at the last."""
    steps = list(run.steps.filter(undoes=True).order_by("number"))
    failed = [each for each in steps if each.state == "failed"]
    if failed:
        # What fails while it undoes is not undone a second time.
        reason = f"Undoing {failed[0].name} failed: {failed[0].error or failed[0].error_class}"
        run_end.fail(run, "partial", reason, SYSTEM, now)
        return
    left = [each for each in steps if each.state != "completed"]
    if not left:
        run_end.complete(run, "compensated", SYSTEM, now)
    elif left[0].state == "pending" and not left[0].ready:
        run_moves.make_ready(left[:1])
