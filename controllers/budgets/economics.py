"""Economics: what was spent, by whom, on what, and where that leads; in a bounded read."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db.models import QuerySet, Sum

from controllers.budgets.budget_status import Stand, money, spoken, stands, status_of
from controllers.engine.allowances import TOKENS
from controllers.models import Consumption, Crossing
from resources.tables.ledger import instant
from resources.tables.models import Resource

# The longest lists that are given out.
MOST = 200
Units = dict[str, int]


@dataclass(frozen=True)
class View:
    """Which days, and which domains and agents somebody may see; nothing stands for all."""

    since: date
    until: date
    domains: tuple[str, ...] | None = None
    agents: tuple[str, ...] | None = None


def economics(view: View, budgets: QuerySet[Resource], now: datetime) -> dict[str, Any]:
    """Read everything about spending that somebody may see."""
    stood = stands(list(budgets.order_by("pk")[:MOST]), now)
    return {
        "since": view.since.isoformat(),
        "until": view.until.isoformat(),
        "spend": amounts(grouped(days(view, "agent"), ()).get((), {})),
        "byDomain": listed("domain", grouped(days(view, "domain"), ("name",))),
        "byAgent": listed("agent", grouped(days(view, "agent"), ("name",))),
        "byModel": listed("model", grouped(days(view, "model"), ("name",))),
        "byDecision": listed("decision", grouped(ever(view, "decision"), ("name",))),
        "byWorkflow": listed("workflow", grouped(ever(view, "workflow"), ("name",))),
        "overTime": timeline(view),
        "budgets": [described(each, now) for each in stood],
        "alerts": alerts([each.budget.pk for each in stood]),
    }


def days(view: View, holder: str) -> QuerySet[Consumption]:
    """Return the counters of days."""
    rows = Consumption.objects.filter(
        holder=holder, window="daily", starts_on__gte=view.since, starts_on__lt=view.until
    )
    return visible(rows, view, holder)


def ever(view: View, holder: str) -> QuerySet[Consumption]:
    """Return the counters of what has no window: decisions and workflows, as long as they go."""
    return visible(Consumption.objects.filter(holder=holder, window="ever"), view, holder)


def visible(rows: QuerySet[Consumption], view: View, holder: str) -> QuerySet[Consumption]:
    """Keep what somebody may see."""
    if holder == "agent":
        return rows if view.agents is None else rows.filter(name__in=view.agents)
    return rows if view.domains is None else rows.filter(domain__in=view.domains)


def grouped(rows: QuerySet[Consumption], by: tuple[str, ...]) -> dict[tuple[Any, ...], Units]:
    """Sum counters by some of their columns, and by unit."""
    found: dict[tuple[Any, ...], Units] = {}
    summed = rows.order_by().values_list(*by, "unit").annotate(all=Sum("consumed"))
    for *key, unit, amount in summed:
        found.setdefault(tuple(key), {})[unit] = amount
    return found


def listed(holder: str, found: dict[tuple[Any, ...], Units]) -> list[dict[str, Any]]:
    """List those who spent most, in money and then in tokens."""
    ranked = sorted(found.items(), key=lambda each: (-spent(each[1]), -each[1].get(TOKENS, 0)))
    return [{holder: name, **amounts(units)} for (name,), units in ranked[:MOST]]


def spent(units: Units) -> int:
    """Return the money in some units, whichever currency, to put them in an order."""
    return sum(amount for unit, amount in units.items() if unit != TOKENS)


def amounts(units: Units) -> dict[str, Any]:
    """Write tokens, and money by currency."""
    return {
        "tokens": units.get(TOKENS, 0),
        "cost": {
            unit: money(amount)
            for unit, amount in sorted(units.items())
            if unit != TOKENS and amount
        },
    }


def timeline(view: View) -> list[dict[str, Any]]:
    """List what was spent on each day."""
    found = grouped(days(view, "agent"), ("starts_on",))
    return [{"day": day.isoformat(), **amounts(units)} for (day,), units in sorted(found.items())]


def described(found: Stand, now: datetime) -> dict[str, Any]:
    """Write how a budget stands and where it leads."""
    status = status_of(found, 0, now)
    limits = spoken(found.limits, found.currency)
    return {
        "budget": found.budget.name,
        "domain": found.budget.domain,
        "period": str(found.budget.spec.get("period", "")),
        "enforcement": str(found.budget.spec.get("enforcement") or "warn"),
        "limits": {key: limits[key] for key in limits if key in named(found)},
        **{key: status[key] for key in status if key != "alertsTriggered"},
    }


def named(found: Stand) -> Collection[str]:
    """Return the fields of limits that a budget names."""
    units = {TOKENS: "tokens", found.currency: "cost"}
    return {"currency", *(units[each] for each in found.limits if each in units)}


def alerts(budgets: Iterable[int]) -> list[dict[str, Any]]:
    """List what people were told lately about budgets."""
    rows = Crossing.objects.filter(budget__in=list(budgets)).select_related("budget")
    return [
        {
            "budget": each.budget.name,
            "event": each.event,
            "mark": each.mark,
            "severity": each.severity,
            "share": round(each.share, 6),
            "message": each.message,
            "at": instant(each.at),
        }
        for each in rows.order_by("-at", "-pk")[:MOST]
    ]
