"""Domain: its KPIs, spending, rules, agents and incidents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from controllers.engine.document_values import (
    budget_spending,
    convert,
    duration,
    figure,
    items,
    later,
    moment,
    number,
    policy_compliance,
    soonest,
    text,
    texts,
)
from controllers.engine.drift import DIMENSIONS
from controllers.engine.explanation import explain
from controllers.engine.finding_text import listed, missed
from controllers.engine.target import Target
from controllers.engine.terms import (
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
    Word,
)
from resources.documents.kinds.domain import parse_target

HIGHEST_LOAD = 0.75
MOST_INCIDENTS = 2
_NO_TIME = timedelta(0)


class _Goal(NamedTuple):
    operator: str = ""
    value: float | None = None
    unit: str = ""


def _kpis(snapshot: Snapshot, now: datetime) -> Sequence[Reading]:
    target = snapshot.target
    declared = items(target.spec, "kpis")
    observed = _observed(target)
    return [_reading(kpi, observed.get(text(kpi.get("name"))), target, now) for kpi in declared]


def _observed(target: Resource) -> dict[str, Document]:
    """Return the last observation of each KPI."""
    return {text(each.get("name")): each for each in items(target.status, "kpis")}


def _reading(kpi: Document, seen: Document | None, target: Resource, now: datetime) -> Reading:
    name, goal = text(kpi.get("name")), _goal(kpi)
    measured = number(seen.get("value")) if seen else None
    if seen is None or measured is None:
        note = "Nobody has reported it."
        return Reading(name, goal.operator, goal.value, None, goal.unit, note=note)
    unit = text(seen.get("unit"))
    value = convert(measured, unit, goal.unit)
    note = "" if value is not None else f"Reported in {unit}, wanted in {goal.unit}."
    if goal.value is None:
        note = "Its target cannot be read as an operator and a figure."
    end = _stale_from(kpi, seen, target)
    if end and now >= end:
        value, note = None, f"The last figure is older than its window of {kpi.get('window')}."
    at, by = text(seen.get("observedAt")), text(seen.get("source"))
    return Reading(name, goal.operator, goal.value, value, goal.unit or unit, at, by, note)


def _goal(kpi: Document) -> _Goal:
    wanted: Any = kpi.get("target")
    if isinstance(wanted, str):
        wanted = parse_target(wanted)
    if not isinstance(wanted, dict):
        return _Goal()
    unit = text(wanted.get("unit")) or text(kpi.get("unit"))
    return _Goal(text(wanted.get("operator")), number(wanted.get("value")), unit)


def _stale_from(kpi: Document, seen: Document, target: Resource) -> datetime | None:
    """Return when an observation leaves its window; one without a time is as old as the report."""
    window = duration(kpi.get("window"))
    start = moment(seen.get("observedAt")) or target.reported_at
    return later(start, window) if start and window and window > _NO_TIME else None


def _spending(snapshot: Snapshot, now: datetime) -> Sequence[Spend]:
    target = snapshot.target
    budgets = _chosen(snapshot.of("Budget"), target.spec.get("budgetRef"), target.name)
    return [spend for budget in budgets for spend in budget_spending(budget, now)]


def _compliance(snapshot: Snapshot, _: datetime) -> Sequence[Compliance]:
    target = snapshot.target
    policies = snapshot.of("SecurityPolicy")
    own = _chosen(policies, target.spec.get("securityPolicyRef"), target.name)
    return policy_compliance(each for each in policies if each.domain == "*" or each in own)


def _chosen(resources: Iterable[Resource], reference: Any, domain: str) -> list[Resource]:
    """Return the resource that is referred to, or else all that belong to the domain."""
    referred = [each for each in resources if each.name == reference]
    return referred or [each for each in resources if each.domain == domain]


def _observations(snapshot: Snapshot, _: datetime) -> Sequence[Condition]:
    target = snapshot.target
    return [*_health(target.status), *_load(target.status), *_agents_available(target)]


def _health(status: Document) -> Iterator[Condition]:
    health = status.get("health")
    if health == "healthy":
        yield Condition("HealthReported", "True", "Healthy", "Reported healthy.")
    elif health in ("degraded", "critical"):
        yield Condition("HealthReported", "False", health.title(), f"Reported {health}.")


def _load(status: Document) -> Iterator[Condition]:
    load = number(status.get("cognitiveLoadScore"))
    if load is not None:
        message = f"Load {figure(load)}, limit {HIGHEST_LOAD}."
        yield _within("CognitiveLoadHealthy", load <= HIGHEST_LOAD, message)
    incidents = number(status.get("activeIncidents"))
    if incidents is not None:
        message = f"{figure(incidents)} open, limit {MOST_INCIDENTS}."
        yield _within("IncidentsWithinLimit", incidents <= MOST_INCIDENTS, message)


def _within(kind: str, good: bool, message: str) -> Condition:
    status: Word = "True" if good else "False"
    return Condition(kind, status, "WithinLimit" if good else "AboveLimit", message)


def _agents_available(target: Resource) -> Iterator[Condition]:
    bound, active = _strength(target)
    if bound and active is not None:
        good = active >= bound
        message = f"{figure(active)} of {bound} agents are active."
        reason = "AllActive" if good else "AgentsMissing"
        yield Condition("AgentsAvailable", "True" if good else "False", reason, message)


def _strength(target: Resource) -> tuple[int, float | None]:
    """Return how many agents are bound to a domain, and how many it reports as active."""
    return len(set(texts(target.spec, "agents"))), number(target.status.get("activeAgents"))


def _fields(snapshot: Snapshot, _: datetime) -> Sequence[Difference]:
    target = snapshot.target
    if "agents" not in target.spec:
        return ()
    return [*_head_count(target), *_roll(target)]


def _head_count(target: Resource) -> Iterator[Difference]:
    bound, active = _strength(target)
    if active is not None and active != bound:
        note = f"{figure(active)} agents are active, {bound} are bound to {target.name}."
        yield Difference(
            "spec.agents", bound, active, "drifted" if active < bound else "unmanaged", note
        )


def _roll(target: Resource) -> Iterator[Difference]:
    """Compare the agents by name, where the domain reports who is at work."""
    reported = target.status.get("agents")
    if not isinstance(reported, list):
        return
    bound = dict.fromkeys(texts(target.spec, "agents"))
    present = {_name(each): each for each in reported if _name(each)}
    for name in bound:
        if name not in present:
            note = f"{name} is bound to {target.name} and not at work."
            yield Difference(f"spec.agents.{name}", name, None, "missing", note)
    for name, item in present.items():
        if name not in bound:
            yield _stranger(target, name, item)


def _name(item: Any) -> str:
    return text(item.get("name")) if isinstance(item, dict) else text(item)


def _stranger(target: Resource, name: str, item: Any) -> Difference:
    path = f"spec.agents.{name}"
    if isinstance(item, dict) and item.get("managed") is True:
        note = f"{name} is at work in {target.name} and no longer bound to it."
        return Difference(path, None, name, "unwanted", note)
    note = f"{name} is at work in {target.name} and was never declared there."
    return Difference(path, None, name, "unmanaged", note)


def _steps(snapshot: Snapshot, drift: Drift, now: datetime) -> Sequence[Step]:
    return [*_scale(snapshot.target, drift), *_alert(snapshot, drift)]


def _scale(target: Resource, drift: Drift) -> Iterator[Step]:
    bound, active = _strength(target)
    if active is None or active >= bound:
        return
    behind = listed(list(missed(drift, "kpi")))
    ends = f" and keeps missing {behind}." if behind else "."
    yield Step(
        operation="scale-agents",
        parameters={"domain": target.name, "from": active, "to": bound},
        kind="change",
        risk="low",
        reversible=True,
        why=f"{figure(active)} of {bound} agents of {target.name} are active.",
        otherwise=f"{target.name} goes on with {figure(active)} of {bound} agents{ends}",
        touches=("status.activeAgents",),
        rollback={
            "operation": "scale-agents",
            "parameters": {"domain": target.name, "from": bound, "to": active},
        },
        preconditions=(f"domain.status.activeAgents == {active}",),
    )


def _alert(snapshot: Snapshot, drift: Drift) -> Iterator[Step]:
    faults = [name for dimension in DIMENSIONS for name in missed(drift, dimension)]
    if not faults:
        return
    name = snapshot.target.name
    yield Step(
        operation="alert-stakeholders",
        parameters={"domain": name, "about": faults},
        kind="notify",
        risk="low",
        reversible=True,
        why=explain(snapshot, drift),
        otherwise=f"Those who answer for {name} do not learn about {listed(faults)}.",
    )


def _recheck(snapshot: Snapshot, now: datetime) -> datetime | None:
    target = snapshot.target
    observed = _observed(target)
    pairs = ((kpi, observed.get(text(kpi.get("name")))) for kpi in items(target.spec, "kpis"))
    return soonest((_stale_from(kpi, seen, target) for kpi, seen in pairs if seen), now)


TARGET = Target(
    kind="Domain",
    reads=("Budget", "SecurityPolicy"),
    kpis=_kpis,
    spending=_spending,
    compliance=_compliance,
    observations=_observations,
    fields=_fields,
    steps=_steps,
    explain=explain,
    recheck=_recheck,
)
