"""Agent: its objectives, tokens, state and schedule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from controllers.engine.cron import late_from
from controllers.engine.objectives import readings
from controllers.engine.reading import (
    beyond,
    budget_limits,
    items,
    moment,
    number,
    period,
    policy_compliance,
    section,
    soonest,
    text,
    throttling,
    used,
)
from controllers.engine.target import Target
from controllers.engine.types import (
    DIMENSIONS,
    Compliance,
    Condition,
    Difference,
    Document,
    Drift,
    Reading,
    Resource,
    Snapshot,
    Spend,
    Step,
)
from controllers.engine.wording import explain, listed, missed, shown, spending_of

_ALLOWANCES = {"daily": "maxDaily", "monthly": "maxMonthly"}
_MODEL = ("provider", "name", "version")
# States and objectives that a restart may mend.
_UNFIT = ("degraded", "failed")
_CURABLE = ("errorRate", "healthScore")


def _kpis(snapshot: Snapshot, _: datetime) -> Sequence[Reading]:
    return readings(snapshot.target)


def _spending(snapshot: Snapshot, now: datetime) -> Sequence[Spend]:
    agent = snapshot.target
    consumed = section(agent.status, "costConsumed")
    if not consumed:
        return ()
    shares = [spend for each in snapshot.of("Budget") for spend in _share(agent, each, now)]
    return [*_own_tokens(agent, consumed, now), *shares]


def _own_tokens(agent: Resource, consumed: Document, now: datetime) -> Iterator[Spend]:
    """Set the tokens of an agent against its own limit for the period it reports."""
    declared = section(agent.spec, "tokenBudget")
    span = period(consumed.get("period"), now)
    window = span.window if span else _only_window(declared)
    limit = number(declared.get(_ALLOWANCES.get(window, "")))
    tokens = number(consumed.get("tokens"))
    if tokens is not None and limit is not None:
        yield Spend(f"{window} tokens", tokens, limit, "tokens")


def _only_window(declared: Document) -> str:
    windows = [window for window, key in _ALLOWANCES.items() if key in declared]
    return windows[0] if len(windows) == 1 else ""


def _share(agent: Resource, budget: Resource, now: datetime) -> Iterator[Spend]:
    """Set what an agent used against its share of a budget, where both speak of one period."""
    named = (each for each in items(budget.spec, "agents") if each.get("name") == agent.name)
    share = next((number(each.get("allocation")) for each in named), None)
    if share is None:
        return
    consumed = section(agent.status, "costConsumed")
    span = period(consumed.get("period"), now)
    if span is None or span != period(budget.spec.get("period"), now):
        return
    # Tokens before money: the prices of models differ too much to keep a share of both.
    for limit in budget_limits(budget, now)[:1]:
        amount = used(consumed, limit)
        if amount is not None:
            yield Spend(f"share of {budget.name}", amount, share * limit.most, limit.unit)


def _compliance(snapshot: Snapshot, _: datetime) -> Sequence[Compliance]:
    return policy_compliance(snapshot.of("SecurityPolicy"))


def _observations(snapshot: Snapshot, now: datetime) -> Sequence[Condition]:
    return [*_ready(snapshot.target.status), *_on_schedule(snapshot.target, now)]


def _ready(status: Document) -> Iterator[Condition]:
    # A paused agent is neither: whether the pause is wanted only its spec can say.
    state = status.get("state")
    if state in ("running", "idle", "learning"):
        yield Condition("Ready", "True", state.title(), f"Reports that it is {state}.")
    elif state in _UNFIT:
        yield Condition("Ready", "False", state.title(), f"Reports that it is {state}.")


def _on_schedule(agent: Resource, now: datetime) -> Iterator[Condition]:
    late = _late_from(agent)
    if late is not None:
        last, cron = agent.status["lastExecution"], agent.spec["schedule"]["cron"]
        message = f"Last run at {last}, schedule {cron}."
        if now >= late:
            yield Condition("ExecutedOnSchedule", "False", "Late", message)
        else:
            yield Condition("ExecutedOnSchedule", "True", "OnTime", message)


def _late_from(agent: Resource) -> datetime | None:
    """Return when the run after the last one counts as late, for an agent with a cron schedule."""
    schedule = section(agent.spec, "schedule")
    if schedule.get("type") != "cron":
        return None
    last = moment(agent.status.get("lastExecution"))
    return late_from(text(schedule.get("cron")), last) if last is not None else None


def _fields(snapshot: Snapshot, _: datetime) -> Sequence[Difference]:
    spec, status = snapshot.target.spec, snapshot.target.status
    declared, running = section(spec, "model"), section(status, "model")
    pairs = [("spec.state", spec.get("state"), status.get("state"))]
    pairs += [(f"spec.model.{key}", declared.get(key), running.get(key)) for key in _MODEL]
    return [
        Difference(path, desired, observed)
        for path, desired, observed in pairs
        if desired is not None and observed is not None and desired != observed
    ]


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
    if not over:
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
    return soonest((_late_from(snapshot.target),), now)


TARGET = Target(
    kind="Agent",
    reads=("Budget", "SecurityPolicy"),
    kpis=_kpis,
    spending=_spending,
    compliance=_compliance,
    observations=_observations,
    fields=_fields,
    steps=_steps,
    explain=_explain,
    recheck=_recheck,
)
