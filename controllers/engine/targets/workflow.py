"""Workflow: how long its run lasts, how often it retried, which of its steps failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from controllers.engine.document_values import (
    budget_spending,
    duration,
    figure,
    items,
    later,
    moment,
    number,
    section,
    soonest,
    text,
    texts,
)
from controllers.engine.explanation import explain
from controllers.engine.finding_text import listed, missed, shown
from controllers.engine.target import Target
from controllers.engine.terms import (
    Condition,
    Document,
    Drift,
    Evidence,
    Resource,
    Snapshot,
    Spend,
    Step,
)

# A run that waits for a person is still running: its time counts.
_RUNNING = ("executing", "blocked", "compensating")
_OWN = ("WithinTimeout", "RetriesWithinPolicy", "StepsHealthy")


class _Clock(NamedTuple):
    subject: str
    since: str
    limit: str
    end: datetime


def _spending(snapshot: Snapshot, now: datetime) -> Sequence[Spend]:
    involved = texts(snapshot.target.spec, "domainsInvolved")
    budgets = [each for each in snapshot.of("Budget") if each.domain in involved]
    return [spend for budget in budgets for spend in budget_spending(budget, now)]


def _observations(snapshot: Snapshot, now: datetime) -> Sequence[Condition]:
    target = snapshot.target
    return [*_within_timeout(target, now), *_within_policy(target), *_steps_healthy(target)]


def _within_timeout(target: Resource, now: datetime) -> Iterator[Condition]:
    clocks = _clocks(target)
    late = [each for each in clocks if each.end <= now]
    if late:
        yield Condition("WithinTimeout", "False", "TooLong", _said(late[0]))
    elif clocks:
        yield Condition("WithinTimeout", "True", "InTime", _said(clocks[0]))
    elif _lacks_start(target):
        limit = text(target.spec.get("timeout"))
        message = f"The run may take {limit} and does not say when it started."
        yield Condition("WithinTimeout", "Unknown", "StartUnknown", message)


def _clocks(target: Resource) -> list[_Clock]:
    """Return the limits that run: that of the run first, then those of its running steps."""
    spec, status = target.spec, target.status
    if status.get("state") not in _RUNNING:
        return []
    clocks = [*_clock("The run", status, spec)]
    running = [each for each in items(status, "steps") if each.get("state") == "running"]
    if running:
        declared = {text(each.get("name")): each for each in items(spec, "steps")}
        for step in running:
            name = text(step.get("name"))
            clocks += _clock(f"Step {name}", step, declared.get(name, {}))
    return clocks


def _clock(subject: str, run: Document, declared: Document) -> Iterator[_Clock]:
    start, limit = moment(run.get("startedAt")), duration(declared.get("timeout"))
    end = later(start, limit) if start and limit else None
    if end:
        yield _Clock(subject, text(run["startedAt"]), text(declared["timeout"]), end)


def _said(clock: _Clock) -> str:
    return f"{clock.subject} started at {clock.since} and may take {clock.limit}."


def _lacks_start(target: Resource) -> bool:
    spec, status = target.spec, target.status
    running = status.get("state") in _RUNNING
    return running and bool(duration(spec.get("timeout"))) and not moment(status.get("startedAt"))


def _within_policy(target: Resource) -> Iterator[Condition]:
    retries, allowed = number(target.status.get("retries")), _allowed_retries(target)
    if retries is None or allowed is None:
        return
    message = f"{figure(retries)} retries, its steps allow {figure(allowed)}."
    if retries > allowed:
        yield Condition("RetriesWithinPolicy", "False", "TooMany", message)
    else:
        yield Condition("RetriesWithinPolicy", "True", "WithinPolicy", message)


def _allowed_retries(target: Resource) -> float | None:
    """Add up the retries of all steps; None where no step says how many it may have."""
    policies = [section(step, "retryPolicy") for step in items(target.spec, "steps")]
    limits = [number(policy.get("maxRetries")) for policy in policies]
    known = [max(0, limit) for limit in limits if limit is not None]
    return sum(known) if known else None


def _steps_healthy(target: Resource) -> Iterator[Condition]:
    state, failed = text(target.status.get("state")), texts(target.status, "failedSteps")
    if not state and "failedSteps" not in target.status:
        return
    completed = len(texts(target.status, "completedSteps"))
    done = f"{completed} of {len(items(target.spec, 'steps'))} steps are completed"
    if failed:
        yield Condition("StepsHealthy", "False", "StepFailed", f"{done}, {listed(failed)} failed.")
    elif state == "failed":
        yield Condition("StepsHealthy", "False", "RunFailed", f"{done}, the run failed.")
    else:
        yield Condition("StepsHealthy", "True", "NoneFailed", f"{done}, none failed.")


def _steps(snapshot: Snapshot, drift: Drift, _: datetime) -> Sequence[Step]:
    # The ways out exclude each other, so there is never more than one.
    wrong = missed(drift, "health")
    found = {name: wrong[name] for name in _OWN if name in wrong}
    # A run that has put its question before people by itself is not asked about twice.
    if not found or text(snapshot.target.status.get("waitingFor")):
        return ()
    target = snapshot.target
    return (_way_out(target)(target, _why(target, found)),)


def _why(target: Resource, found: dict[str, Evidence]) -> str:
    notes = " ".join(shown(each.note) for each in found.values())
    policy = text(target.spec.get("failurePolicy"))
    return f"{notes} On failure it is declared to {policy}." if policy else notes


def _way_out(target: Resource) -> Callable[[Resource, str], Step]:
    """Follow the failure policy, as far as the state of the run lets it be followed."""
    state, policy = target.status.get("state"), target.spec.get("failurePolicy")
    # What fails while it undoes is neither undone a second time nor resumed.
    undoing = state == "compensating"
    again = policy == "retry" and not undoing and _may_retry(target)
    if state not in _RUNNING:
        return _retry if again and state == "failed" else _escalate
    if policy == "compensate" and not undoing:
        return _compensate
    return _retry if again else _abort


def _may_retry(target: Resource) -> bool:
    retries, allowed = number(target.status.get("retries")), _allowed_retries(target)
    return retries is None or allowed is None or retries < allowed


def _parameters(target: Resource) -> dict[str, object]:
    run = text(target.status.get("runId"))
    return {"workflow": target.name, **({"run": run} if run else {})}


def _unchanged(target: Resource) -> tuple[str, ...]:
    return (f"workflow.status.state == '{text(target.status.get('state'))}'",)


def _compensate(target: Resource, why: str) -> Step:
    undoable = {text(each.get("step")) for each in items(target.spec, "compensation")}
    completed = texts(target.status, "completedSteps")
    undo = [name for name in reversed(completed) if name in undoable]
    left = f"What {listed(undo)} did" if undo else "What the run holds"
    return Step(
        operation="compensate",
        parameters={**_parameters(target), "steps": undo},
        kind="change",
        risk="medium",
        # Nothing half done is left, so the same work can be started again.
        reversible=True,
        why=why,
        otherwise=f"{left} stays as it is, and {target.name} stays unfinished.",
        touches=("status.state", "status.completedSteps"),
        rollback={"operation": "start", "parameters": {"workflow": target.name}},
        preconditions=_unchanged(target),
    )


def _retry(target: Resource, why: str) -> Step:
    current = text(target.status.get("currentStep"))
    again = texts(target.status, "failedSteps") or ([current] if current else [])
    return Step(
        operation="retry",
        parameters={**_parameters(target), "steps": [*again]},
        kind="change",
        risk="low",
        reversible=True,
        why=why,
        otherwise=f"{listed(again) or 'The run'} of {target.name} stays undone.",
        touches=("status.state", "status.retries"),
        rollback={"operation": "abort", "parameters": _parameters(target)},
        preconditions=_unchanged(target),
    )


def _abort(target: Resource, why: str) -> Step:
    return Step(
        operation="abort",
        parameters=_parameters(target),
        kind="change",
        risk="high",
        reversible=False,
        why=why,
        otherwise=f"The run of {target.name} goes on beyond what is declared.",
        touches=("status.state",),
        preconditions=_unchanged(target),
    )


def _escalate(target: Resource, why: str) -> Step:
    domains = texts(target.spec, "domainsInvolved")
    return Step(
        operation="escalate",
        parameters={**_parameters(target), "domains": [*domains]},
        kind="notify",
        risk="low",
        reversible=True,
        why=why,
        otherwise=f"Nobody in {listed(domains)} learns how {target.name} ended.",
    )


def _recheck(snapshot: Snapshot, now: datetime) -> datetime | None:
    return soonest((each.end for each in _clocks(snapshot.target)), now)


TARGET = Target(
    kind="Workflow",
    reads=("Budget",),
    spending=_spending,
    observations=_observations,
    steps=_steps,
    explain=explain,
    recheck=_recheck,
)
