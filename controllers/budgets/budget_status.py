"""How budgets and agents stand: their counters written as their statuses, and what that means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Sum

from controllers.budgets.budget_alerts import EXCEEDED, OVERSPEND, THRESHOLD, Mark
from controllers.engine import allowances
from controllers.engine.admission import shown
from controllers.engine.allowances import MILLIONTHS, TOKENS, Span
from controllers.engine.document_values import budget_limits, section, text
from controllers.engine.terms import Resource as Read
from controllers.models import Consumption
from resources.documents.durations import period_text
from resources.tables.models import Resource

# By name and unit.
Amounts = Mapping[tuple[str, str], int]


class Stand(NamedTuple):
    """A budget as its counters show it."""

    budget: Resource
    read: Read
    span: Span
    currency: str
    amounts: dict[str, int]
    limits: dict[str, int]
    by_agent: Amounts

    @property
    def share(self) -> float | None:
        """The share of its limits that is used up, of the one that is used up most."""
        found = [
            self.amounts.get(unit, 0) / most for unit, most in self.limits.items() if most > 0
        ]
        return max(found, default=None)


def as_read(row: Resource) -> Read:
    """Return a row as the engine reads it."""
    labels = row.metadata.get("labels") or {}
    return Read(
        row.pk,
        str(row.uid),
        row.kind,
        row.name,
        row.domain,
        row.generation,
        row.resource_version,
        labels,
        row.spec,
        row.status,
    )


def totals(holder: str, names: Iterable[str], span: Span) -> dict[tuple[str, str], int]:
    """Return what each of some domains or agents has spent in a stretch of days, by unit."""
    rows = Consumption.objects.filter(holder=holder, name__in=list(names))
    if span.window:
        rows = rows.filter(window=span.window, starts_on=span.start)
    else:
        rows = rows.filter(window="daily", starts_on__gte=span.start, starts_on__lt=span.end)
    found = rows.order_by().values_list("name", "unit").annotate(all=Sum("consumed"))
    return {(name, unit): amount for name, unit, amount in found}


def stands(budgets: Sequence[Resource], now: datetime) -> list[Stand]:
    """Return how budgets stand, in two queries for each stretch of days, and one for agents."""
    read = [(row, as_read(row)) for row in budgets]
    spanned: dict[Span, list[tuple[Resource, Read]]] = {}
    for row, each in read:
        span = allowances.headline(each, now)
        if span is not None:
            spanned.setdefault(span, []).append((row, each))
    homes = dict(
        Resource.objects.filter(
            kind="Agent", domain__in={row.domain for row in budgets}, deleted_at=None
        ).values_list("name", "domain")
    )
    found = []
    for span, group in spanned.items():
        domains = totals("domain", {row.domain for row, _ in group}, span)
        declared = {name for row, _ in group for name in sharers(row)}
        agents = totals("agent", {*homes, *declared}, span)
        for row, each in group:
            near = {name for name, home in homes.items() if home == row.domain}
            own = {*near, *sharers(row)}
            spent = {key: amount for key, amount in agents.items() if key[0] in own}
            found.append(stand(row, each, span, domains, spent, now))
    return found


def sharers(budget: Resource) -> list[str]:
    """Return the agents that a budget names."""
    agents = budget.spec.get("agents")
    named = agents if isinstance(agents, list) else []
    return [text(each.get("name")) for each in named if isinstance(each, dict)]


def stand(
    row: Resource, read: Read, span: Span, domains: Amounts, agents: Amounts, now: datetime
) -> Stand:
    """Set a budget against its counters."""
    currency = text(section(section(row.spec, "limits"), "cost").get("currency")) or "USD"
    limits = {
        limit.unit if limit.of == "cost" else TOKENS: round(
            limit.most * (MILLIONTHS if limit.of == "cost" else 1)
        )
        for limit in budget_limits(read, now)
    }
    amounts = {unit: domains.get((row.domain, unit), 0) for unit in (TOKENS, currency)}
    return Stand(row, read, span, currency, amounts, limits, agents)


def status_of(found: Stand, told: int, now: datetime) -> dict[str, Any]:
    """Write how a budget stands as its status."""
    ahead = {
        unit: allowances.projected(amount, found.span, now)
        for unit, amount in found.amounts.items()
    }
    status: dict[str, Any] = {
        "consumed": spoken(found.amounts, found.currency),
        "alertsTriggered": told,
        "projectedEndOfPeriod": {
            "tokens": ahead[TOKENS],
            "cost": money(ahead[found.currency]),
        },
        "projectedOverrun": any(ahead.get(unit, 0) > most for unit, most in found.limits.items()),
        "byAgent": list(shares_of(found)),
    }
    if found.share is not None:
        status["utilizationRate"] = round(found.share, 6)
    return status


def shares_of(found: Stand) -> Iterator[dict[str, Any]]:
    """Write what each agent has spent of a budget."""
    for name in sorted({name for name, _ in found.by_agent} | set(sharers(found.budget))):
        amounts = {unit: found.by_agent.get((name, unit), 0) for unit in (TOKENS, found.currency)}
        if any(amounts.values()) or name in sharers(found.budget):
            yield {"name": name, **spoken(amounts, found.currency)}


def spoken(amounts: Mapping[str, int], currency: str) -> dict[str, Any]:
    """Write amounts as documents do."""
    return {
        "tokens": amounts.get(TOKENS, 0),
        "cost": money(amounts.get(currency, 0)),
        "currency": currency,
    }


def money(amount: int) -> float:
    """Write millionths as an amount of money."""
    return amount / MILLIONTHS


def marks(found: Stand, now: datetime) -> Iterator[Mark]:
    """Yield what people have to be told about a budget."""
    share = found.share
    if share is None:
        return
    alarms = allowances.alarms(found.read)
    for each in alarms:
        if each.threshold < 1 and share >= each.threshold:
            yield threshold(found, each, share)
    if share >= 1:
        yield exceeded(found, alarms[-1].channels, share)
    yield from overspending(found, now)


def threshold(found: Stand, alarm: allowances.Alarm, share: float) -> Mark:
    """Say that a threshold is reached."""
    message = (
        f"{share:.0%} of {found.budget} is used ({used(found)}); told at {alarm.threshold:.0%}."
    )
    payload = {
        "threshold": alarm.threshold,
        "utilizationRate": round(share, 6),
        "severity": alarm.severity,
    }
    mark = f"{alarm.threshold:g}"
    return Mark(
        THRESHOLD, mark, found.span, share, alarm.severity, message, alarm.channels, payload
    )


def exceeded(found: Stand, channels: tuple[str, ...], share: float) -> Mark:
    """Say that a budget is spent."""
    message = f"{found.budget} is spent: {used(found)}."
    payload = {
        "limit": dict(found.limits),
        "consumed": {unit: found.amounts.get(unit, 0) for unit in found.limits},
        "enforcement": text(found.budget.spec.get("enforcement")) or "warn",
    }
    return Mark(EXCEEDED, "1", found.span, share, "critical", message, channels, payload)


def used(found: Stand) -> str:
    """Say how much of each limit is used."""
    return ", ".join(
        f"{shown(found.amounts.get(unit, 0), unit)} of {shown(most, unit)}"
        for unit, most in found.limits.items()
    )


def overspending(found: Stand, now: datetime) -> Iterator[Mark]:
    """Yield the agents that have spent more than their shares."""
    channels = allowances.alarms(found.read)[-1].channels
    for name in sharers(found.budget):
        for each in allowances.shares(found.read, name, "warn", now):
            amount = found.by_agent.get((name, each.unit), 0)
            if amount <= each.most:
                continue
            said = f"{shown(amount, each.unit)} of its {shown(each.most, each.unit)}"
            message = f"agent/{name} has used {said} in {found.budget}."
            payload = {"agentName": name, "allocation": each.most, "consumed": amount}
            share = amount / each.most if each.most else 1.0
            yield Mark(OVERSPEND, name, found.span, share, "warning", message, channels, payload)


def agent_statuses(
    rows: Sequence[Resource], budgets: Mapping[str, Stand], now: datetime
) -> list[tuple[Resource, dict[str, Any]]]:
    """Write what agents have spent, each in the window that its own limit is for."""
    spanned: dict[Span, list[tuple[Resource, str]]] = {}
    for row in rows:
        span, currency = window_of(row, budgets, now)
        spanned.setdefault(span, []).append((row, currency))
    written = []
    for span, group in spanned.items():
        found = totals("agent", {row.name for row, _ in group}, span)
        period = period_text(span.start, span.end - timedelta(days=1))
        for row, usual in group:
            amounts = {unit: amount for (name, unit), amount in found.items() if name == row.name}
            currency = usual if usual in amounts else dearest(amounts) or usual
            spent = {**spoken(amounts, currency), "period": period}
            written.append((row, {"costConsumed": spent}))
    return written


def dearest(amounts: Mapping[str, int]) -> str:
    """Return the currency in which most was spent."""
    units = [each for each in amounts if each != TOKENS]
    return max(units, key=lambda unit: amounts[unit], default="")


def window_of(row: Resource, budgets: Mapping[str, Stand], now: datetime) -> tuple[Span, str]:
    """Return the stretch of days an agent is measured in, and in which currency."""
    own = [each.span for each in allowances.of_agent(row.name, row.spec, "warn", now)]
    stood = budgets.get(row.domain)
    month = next(each for each in allowances.spans(now.date()) if each.window == "monthly")
    span = own[0] if own else stood.span if stood else month
    return span, stood.currency if stood else "USD"
