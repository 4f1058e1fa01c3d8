"""Budget: its consumption, alerts, projection and the shares of its agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time
from typing import NamedTuple

from controllers.engine.document_values import (
    Limit,
    beyond,
    budget_limits,
    budget_spending,
    figure,
    items,
    number,
    period,
    section,
    soonest,
    text,
    texts,
    throttling,
    used,
)
from controllers.engine.explanation import explain
from controllers.engine.finding_text import spending_of
from controllers.engine.target import Target
from controllers.engine.terms import (
    Condition,
    Difference,
    Document,
    Drift,
    Resource,
    Snapshot,
    Spend,
    Step,
    Word,
)


class _Alert(NamedTuple):
    threshold: float
    severity: str
    channels: tuple[str, ...]


def _spending(snapshot: Snapshot, now: datetime) -> Sequence[Spend]:
    return budget_spending(snapshot.target, now)


def _observations(snapshot: Snapshot, now: datetime) -> Sequence[Condition]:
    budget, limits = snapshot.target, budget_limits(snapshot.target, now)
    shares = _shares(budget, limits, now)
    return [*_below_alerts(budget, now), *_projected(budget, limits), *_shares_kept(shares)]


def _below_alerts(budget: Resource, now: datetime) -> Iterator[Condition]:
    utilization = _utilization(budget, now)
    alerts = [each for each in _alerts(budget) if each.severity != "info"]
    if utilization is None or not alerts:
        return
    crossed = [each for each in alerts if each.threshold <= utilization]
    alert = crossed[-1] if crossed else alerts[0]
    message = f"{_percent(utilization)} used, {alert.severity} at {_percent(alert.threshold)}."
    reason = "ThresholdCrossed" if crossed else "BelowThreshold"
    yield Condition("BelowAlertThreshold", "False" if crossed else "True", reason, message)


def _utilization(budget: Resource, now: datetime) -> float | None:
    """Return the share of the limits that is used up, as reported or else as it follows."""
    reported = number(budget.status.get("utilizationRate"))
    if reported is not None:
        return reported
    spending = [each for each in budget_spending(budget, now) if each.allocated > 0]
    return max((each.consumed / each.allocated for each in spending), default=None)


def _percent(share: float) -> str:
    return f"{figure(round(share * 100, 1))}%"


def _alerts(budget: Resource) -> list[_Alert]:
    """Return the alerts, the lowest threshold first; one that names no severity is a warning."""
    return sorted(
        _Alert(threshold, text(each.get("severity")) or "warning", tuple(texts(each, "channels")))
        for each in items(budget.spec, "alerts")
        if (threshold := number(each.get("threshold"))) is not None
    )


def _projected(budget: Resource, limits: list[Limit]) -> Iterator[Condition]:
    overrun = budget.status.get("projectedOverrun")
    heading = _heading(budget, limits)
    if not isinstance(overrun, bool):
        if not heading:
            return
        overrun = any(each.consumed > each.allocated for each in heading)
    status: Word = "False" if overrun else "True"
    message = f"At the end of the period: {spending_of(heading)}." if heading else ""
    reason = "Overrun" if overrun else "WithinLimit"
    yield Condition("ProjectedWithinBudget", status, reason, message)


def _heading(budget: Resource, limits: list[Limit]) -> list[Spend]:
    """Set what the period is projected to end with against the limits."""
    projected = section(budget.status, "projectedEndOfPeriod")
    return [
        Spend(f"projected {limit.of}", amount, limit.most, limit.unit)
        for limit in limits
        if (amount := used(projected, limit)) is not None
    ]


def _shares_kept(shares: list[Spend]) -> Iterator[Condition]:
    if not shares:
        return
    over = beyond(shares)
    if over:
        message = f"Over its share: {spending_of(over)}."
        yield Condition("AllocationsRespected", "False", "AgentOverShare", message)
    else:
        message = f"All {len(shares)} agents are within their shares."
        yield Condition("AllocationsRespected", "True", "WithinShare", message)


def _shares(budget: Resource, limits: list[Limit], now: datetime) -> list[Spend]:
    """Set what each agent used in the budget's period against its share of the first limit."""
    reported = {text(each.get("name")): each for each in _by_agent(budget.status)}
    if not reported or not limits:
        return []
    declared, limit = budget.spec.get("period"), limits[0]
    shares = []
    for each in items(budget.spec, "agents"):
        name, share = text(each.get("name")), number(each.get("allocation"))
        consumption = reported.get(name, {})
        amount = used(consumption, limit)
        same = period(consumption.get("period", declared), now) == period(declared, now)
        if share is not None and amount is not None and same:
            shares.append(Spend(name, amount, share * limit.most, limit.unit))
    return shares


def _by_agent(status: Document) -> Sequence[Document]:
    return items(status, "byAgent") or items(status, "agents")


def _fields(snapshot: Snapshot, now: datetime) -> Sequence[Difference]:
    end = _end(snapshot.target, now)
    if end is None or end > now:
        return ()
    name, declared = snapshot.target.name, snapshot.target.spec.get("period")
    note = f"The period {declared} of {name} ended on {end.date()}."
    return (Difference("spec.period", declared, f"ended {end.date()}", "stale", note),)


def _end(budget: Resource, now: datetime) -> datetime | None:
    span = period(budget.spec.get("period"), now)
    return datetime.combine(span.end, time(), UTC) if span else None


def _steps(snapshot: Snapshot, drift: Drift, now: datetime) -> Sequence[Step]:
    budget = snapshot.target
    return [*_throttle(budget, now), *_block(budget, now), *_alert(snapshot, drift, now)]


def _throttle(budget: Resource, now: datetime) -> Iterator[Step]:
    limits = budget_limits(budget, now)
    greedy = beyond(_shares(budget, limits, now))
    over = [*beyond([*budget_spending(budget, now), *_heading(budget, limits)]), *greedy]
    if not over:
        return
    agents = [each.name for each in greedy] or [
        text(each.get("name")) for each in items(budget.spec, "agents")
    ]
    # Without names, all agents of the domain are meant.
    parameters = {"budget": budget.name, "domain": budget.domain, "agents": agents}
    yield Step(
        operation="throttle-agents",
        parameters={**parameters, "factor": throttling(over)},
        kind="change",
        risk="low",
        reversible=True,
        why=f"Beyond the limit: {spending_of(over)}.",
        otherwise=f"{budget.name} is overspent further, at the pace of today.",
        touches=("spec.tokenBudget.maxDaily",),
        rollback={"operation": "throttle-agents", "parameters": {**parameters, "factor": 1}},
    )


def _block(budget: Resource, now: datetime) -> Iterator[Step]:
    spending = budget_spending(budget, now)
    spent = [each for each in spending if each.consumed >= each.allocated >= 0 < each.consumed]
    if not spent or "spend" in texts(section(budget.spec, "blocked"), "operations"):
        return
    parameters = {"budget": budget.name, "domain": budget.domain}
    yield Step(
        operation="block-spend",
        parameters=parameters,
        kind="block",
        risk="medium",
        reversible=True,
        why=f"The limit is reached: {spending_of(spent)}.",
        otherwise=f"Agents of {budget.domain} go on spending beyond the limit.",
        rollback={"operation": "unblock-spend", "parameters": parameters},
    )


def _alert(snapshot: Snapshot, drift: Drift, now: datetime) -> Iterator[Step]:
    budget, utilization = snapshot.target, _utilization(snapshot.target, now)
    crossed = [each for each in _alerts(budget) if each.threshold <= (utilization or 0)]
    if crossed and utilization:
        threshold, severity, channels = crossed[-1]
        used_up = f"{_percent(utilization)} of {budget.name} is used"
        why = f"{used_up}, {severity} at {_percent(threshold)}."
        yield _notice(budget, why, {"threshold": threshold}, severity, channels)
    elif drift.causes or drift.differences:
        yield _notice(budget, explain(snapshot, drift), {}, "warning", ())


def _notice(
    budget: Resource, why: str, about: Document, severity: str, channels: tuple[str, ...]
) -> Step:
    return Step(
        operation="alert",
        parameters={
            "budget": budget.name,
            **about,
            "severity": severity,
            "channels": list(channels),
        },
        kind="notify",
        risk="low",
        reversible=True,
        why=why,
        otherwise=f"Those who answer for {budget.name} learn about it too late.",
    )


def _recheck(snapshot: Snapshot, now: datetime) -> datetime | None:
    return soonest((_end(snapshot.target, now),), now)


TARGET = Target(
    kind="Budget",
    spending=_spending,
    observations=_observations,
    fields=_fields,
    steps=_steps,
    explain=explain,
    recheck=_recheck,
)
