"""What comes next in a run: steps become ready, gates ask, and the run waits, goes on or ends."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from controllers.models import RunStep, WorkflowRun
from controllers.workflows.runs import compensation, run_end, run_moves, run_questions
from controllers.workflows.runs.run_plan import StepPlan, steps_of, timeout_of
from resources.documents.actor import SYSTEM
from resources.documents.problems import Problem

DONE = ("completed", "skipped")


def begin(run: WorkflowRun, now: datetime) -> None:
    """Let a queued run begin: its clock runs from here."""
    lasts = timeout_of(run.plan)
    payload = {
        "trigger": run.trigger,
        "domainsInvolved": run.plan.get("domainsInvolved", []),
        "generation": run.generation,
    }
    run_moves.move(
        run,
        "begin",
        actor=SYSTEM,
        now=now,
        told="started",
        payload=payload,
        started_at=now,
        ends_at=now + lasts if lasts else None,
    )
    advance(run, now)


def advance(run: WorkflowRun, now: datetime) -> None:
    """Bring a taken run as far as it goes by itself."""
    if run.state == "compensating":
        compensation.advance(run, now)
        return
    if run.state not in ("executing", "blocked"):
        return
    steps = list(run.steps.filter(undoes=False).order_by("number"))
    failed = [each for each in steps if each.state == "failed"]
    if failed:
        come_down(run, steps, failed, now)
        return
    release(run, steps, now)
    if run.state in ("executing", "blocked"):
        rest(run, steps, now)


def release(run: WorkflowRun, steps: Sequence[RunStep], now: datetime) -> None:
    """Make ready what waits for nothing any more; a gate asks people at once."""
    plans = steps_of(run.plan)
    over = {each.name for each in steps if each.state in DONE}
    freed = [
        each
        for each in steps
        if each.state == "pending"
        and not each.ready
        and over.issuperset(plans[each.name].waits_for)
    ]
    run_moves.make_ready(freed)
    for step in freed:
        if step.gate and not ask(run, step, plans[step.name], now):
            return


def ask(run: WorkflowRun, step: RunStep, plan: StepPlan, now: datetime) -> bool:
    """Put a gate before people; one that cannot be asked about stays shut."""
    try:
        proposal = run_questions.to_pass(run, step, now + plan.timeout, now)
    except Problem as problem:
        run_moves.move_step(step, "start", started_at=now, attempts=1)
        run_moves.move_step(
            step, "fail", error_class="governance", error=problem.message, ended_at=now
        )
        run_end.fail(run, "governance", problem.message, SYSTEM, now)
        return False
    opened = {"started_at": now, "attempts": 1, "fence": step.fence + 1, "proposal": proposal}
    run_moves.move_step(step, "start", **opened)
    payload = {"stepName": step.name, "proposal": proposal.pk}
    run_moves.tell(run, "gate_opened", actor=SYSTEM, now=now, payload=payload)
    return True


def rest(run: WorkflowRun, steps: Sequence[RunStep], now: datetime) -> None:
    """End a run that is through; let one wait that only waits for people, and no other."""
    if all(each.state in DONE for each in steps):
        resume(run, now)
        run_end.complete(run, "completed", SYSTEM, now)
        return
    gates = [each for each in steps if each.gate and each.state == "running"]
    moving = [
        each
        for each in steps
        if not each.gate and (each.state == "running" or (each.state == "pending" and each.ready))
    ]
    if gates and not moving:
        block(run, gates[0], now)
    else:
        resume(run, now)


def block(run: WorkflowRun, step: RunStep, now: datetime) -> None:
    """Let a run wait for people."""
    if run.state == "executing":
        payload = {"stepName": step.name, "proposal": step.proposal_id}
        run_moves.move(run, "block", actor=SYSTEM, now=now, told="blocked", payload=payload)


def resume(run: WorkflowRun, now: datetime) -> None:
    """Let a run go on that has its answer."""
    if run.state == "blocked":
        run_moves.move(run, "resume", actor=SYSTEM, now=now, told="resumed")


def come_down(
    run: WorkflowRun, steps: Sequence[RunStep], failed: Sequence[RunStep], now: datetime
) -> None:
    """Begin nothing more after a failure, let what runs end, then ask whether to undo."""
    if any(each.proposal_id for each in failed):
        return
    waiting = [each.pk for each in steps if each.state == "pending" or is_open_gate(each)]
    run_moves.skip_all(RunStep.objects.filter(pk__in=waiting), "A step before it failed.", now)
    if any(each.state == "running" and not each.gate for each in steps):
        resume(run, now)
        return
    first = failed[0]
    names = [each.name for each in compensation.undoable(run)]
    resume(run, now)
    if not names:
        run_end.fail(run, "failed", f"{first.name}: {first.error}", SYSTEM, now)
        return
    try:
        proposal = run_questions.to_undo(run, first, names, now)
    except Problem as problem:
        run_end.fail(run, "governance", problem.message, SYSTEM, now)
        return
    RunStep.objects.filter(pk=first.pk).update(proposal=proposal)
    first.proposal = proposal
    block(run, first, now)


def is_open_gate(step: RunStep) -> bool:
    """Tell whether people are asked to let a step pass."""
    return step.gate and step.state == "running"
