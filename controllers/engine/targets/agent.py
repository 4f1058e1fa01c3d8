"""Agent: its objectives, tokens, state and schedule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial

from controllers.engine.document_values import (
    beyond,
    moment,
    number,
    policy_compliance,
    section,
    text,
    throttling,
    within_limits,
    without_violation,
)
from controllers.engine.drift import DIMENSIONS
from controllers.engine.due_times import late_from
from controllers.engine.explanation import explain
from controllers.engine.finding_text import listed, missed, shown, spending_of
from controllers.engine.objectives import all_met, readings, spent, unmet
from controllers.engine.target import Target
from controllers.engine.terms import (
    Compliance,
    Condition,
    Difference,
    Document,
    Drift,
    Glance,
    Reading,
    Related,
    Resource,
    Snapshot,
    Spend,
    Step,
    Word,
)

# As the type itself would, without a detour.
_found = partial(tuple.__new__, Glance)
_MODEL = ("provider", "name", "version")
# States and objectives that a restart may mend.
_UNFIT = ("degraded", "failed")
_CURABLE = ("errorRate", "healthScore")
# A paused agent is neither: whether the pause is wanted only its spec can say.
_READY = {
    state: Condition("Ready", "True", state.title(), f"Reports that it is {state}.")
    for state in ("running", "idle", "learning")
} | {
    state: Condition("Ready", "False", state.title(), f"Reports that it is {state}.")
    for state in _UNFIT
}
# What is worked out from each state at a glance: nothing that is amiss, nothing unheard of.
_SEEN = {state: (each.type,) for state, each in _READY.items() if each.status == "True"}


def _glance(
    name: str, spec: Document, status: Document, related: Related, now: datetime
) -> Glance | None:
    """Look at an agent that no schedule binds to the clock, and find nothing amiss."""
    schedule, state = spec.get("schedule"), status.get("state")
    if schedule is not None and schedule.get("type") == "cron":
        return None
    observed = _SEEN.get(state) if state is not None else ()
    if observed is None or (("state" in spec or "model" in status) and _differences(spec, status)):
        return None
    met, within, clean = all_met(spec, status), None, related.once(_clean)
    if met is not None and clean is not None:
        within = within_limits(spent(name, spec, status, related, now))
    return _found((met, observed, within, clean, ())) if within is not None else None


def _kpis(snapshot: Snapshot, _: datetime) -> Sequence[Reading]:
    return readings(snapshot.target)


def _unmet(snapshot: Snapshot, _: datetime) -> tuple[int, Sequence[Reading]]:
    return unmet(snapshot.target)


def _spending(snapshot: Snapshot, now: datetime) -> Sequence[Spend]:
    agent = snapshot.target
    return spent(agent.name, agent.spec, agent.status, snapshot.related, now)


def _compliance(snapshot: Snapshot, _: datetime) -> Sequence[Compliance]:
    return snapshot.related.once(_policies)


def _clean(related: Related) -> int | None:
    return without_violation(related.once(_policies))


def _policies(related: Related) -> Sequence[Compliance]:
    return policy_compliance(related.get("SecurityPolicy", ()))


def _observations(snapshot: Snapshot, now: datetime) -> Sequence[Condition]:
    state = snapshot.target.status.get("state")
    found = [_READY[state]] if type(state) is str and state in _READY else []
    late = _late_from(snapshot.target)
    if late is not None:
        found.append(_on_schedule(snapshot.target, late, now))
    return found


def _on_schedule(agent: Resource, late: datetime, now: datetime) -> Condition:
    last, cron = agent.status["lastExecution"], agent.spec["schedule"]["cron"]
    word: tuple[Word, str] = ("False", "Late") if now >= late else ("True", "OnTime")
    return Condition("ExecutedOnSchedule", *word, f"Last run at {last}, schedule {cron}.")


def _late_from(agent: Resource) -> datetime | None:
    """Return when the run after the last one counts as late, for an agent with a cron schedule."""
    schedule = agent.spec.get("schedule")
    if not isinstance(schedule, dict) or schedule.get("type") != "cron":
        return None
    last = moment(agent.status.get("lastExecution"))
    return late_from(text(schedule.get("cron")), last) if last is not None else None


def _fields(snapshot: Snapshot, _: datetime) -> Sequence[Difference]:
    spec, status = snapshot.target.spec, snapshot.target.status
    return _differences(spec, status) if "state" in spec or "model" in status else []


def _differences(spec: Document, status: Document) -> Sequence[Difference]:
    found = []
    desired, observed = spec.get("state"), status.get("state")
    if desired is not None and observed is not None and desired != observed:
        found.append(Difference("spec.state", desired, observed))
    running = section(status, "model")
    if running:
        found += _models(section(spec, "model"), running)
    return found


def _models(declared: Document, running: Document) -> Iterator[Difference]:
    for key in _MODEL:
        desired, observed = declared.get(key), running.get(key)
        if desired is not None and observed is not None and desired != observed:
            yield Difference(f"spec.model.{key}", desired, observed)


def _steps(snapshot: Snapshot, drift: Drift, now: datetime) -> Sequence[Step]:
    agent = snapshot.target
    steps = [*_change_state(agent), *_restart(agent, drift), *_throttle(snapshot, now)]
    return [*steps, *_escalate(snapshot, drift)]


def _change_state(agent: Resource) -> Iterator[Step]:
    desired, observed = agent.spec.get("state"), agent.status.get("state")
    if desired is None or observed is None or "paused" not in (desired, observed):
        return
    if desired != observed:
        verb, back = ("pause", "resume") if desired == "paused" else ("resume", "pause")
        yield Step(
            operation=verb,
            parameters={"agent": agent.name},
            kind="change",
            risk="low",
            reversible=True,
            why=f"{agent.name} is declared {desired} and is {observed}.",
            otherwise=f"{agent.name} stays {observed}.",
            touches=("status.state",),
            rollback={"operation": back, "parameters": {"agent": agent.name}},
        )


def _restart(agent: Resource, drift: Drift) -> Iterator[Step]:
    causes = [*_reasons_to_restart(agent, drift)]
    if causes:
        yield Step(
            operation="restart",
            parameters={"agent": agent.name},
            kind="change",
            risk="low",
            reversible=True,
            why=f"{agent.name} {listed(causes)}.",
            otherwise=f"{agent.name} goes on as it is, faults included.",
            touches=("status.state",),
        )


def _reasons_to_restart(agent: Resource, drift: Drift) -> Iterator[str]:
    state = agent.status.get("state")
    if state in _UNFIT:
        yield f"is {state}"
    for name, each in missed(drift, "kpi").items():
        if name in _CURABLE:
            yield f"has {name} {shown(each.observed)} (wanted {shown(each.desired)})"
    for path, desired, observed, *_ in drift.differences:
        if path.startswith("spec.model."):
            yield f"runs with {path[5:]} {shown(observed)} (declared {shown(desired)})"


def _throttle(snapshot: Snapshot, now: datetime) -> Iterator[Step]:
    name, over = snapshot.target.name, _excesses(snapshot, now)
    if not over or _slowed(snapshot.target) <= throttling(over):
        return
    yield Step(
        operation="throttle",
        parameters={"agent": name, "factor": throttling(over)},
        kind="change",
        risk="low",
        reversible=True,
        why=f"{name} is beyond its limits: {spending_of(over)}.",
        otherwise=f"{name} goes on at full speed, beyond its limits.",
        touches=("spec.tokenBudget.maxDaily",),
        rollback={"operation": "throttle", "parameters": {"agent": name, "factor": 1}},
    )


def _slowed(agent: Resource) -> float:
    """Return the factor an agent is throttled to already; 1 is full speed."""
    factor = number(section(section(agent.spec, "tokenBudget"), "throttled").get("factor"))
    return 1.0 if factor is None else factor


def _excesses(snapshot: Snapshot, now: datetime) -> list[Spend]:
    """Return what less speed would mend: too many tokens, too much money, too much time."""
    slow = [
        Spend(each.name, each.value, each.target, each.unit)
        for each in _kpis(snapshot, now)
        if each.name == "avgLatency" and each.value is not None and each.target is not None
    ]
    return beyond([*_spending(snapshot, now), *slow])


def _escalate(snapshot: Snapshot, drift: Drift) -> Iterator[Step]:
    agent = snapshot.target
    if not any(missed(drift, dimension) for dimension in DIMENSIONS):
        return
    to = text(section(agent.spec, "governance").get("escalatesTo")) or f"domain/{agent.domain}"
    yield Step(
        operation="escalate",
        parameters={"agent": agent.name, "to": to},
        kind="notify",
        risk="low",
        reversible=True,
        why=_explain(snapshot, drift),
        otherwise=f"{to} does not learn about {agent.name}.",
    )


def _explain(snapshot: Snapshot, drift: Drift) -> str:
    return explain(snapshot, drift, "objectives")


def _recheck(snapshot: Snapshot, now: datetime) -> datetime | None:
    late = _late_from(snapshot.target)
    return late if late is not None and late > now else None


TARGET = Target(
    kind="Agent",
    reads=("Budget", "SecurityPolicy"),
    kpis=_kpis,
    unmet=_unmet,
    glance=_glance,
    spending=_spending,
    compliance=_compliance,
    observations=_observations,
    fields=_fields,
    steps=_steps,
    explain=_explain,
    recheck=_recheck,
)
