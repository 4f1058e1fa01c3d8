"""Tell what was counted: statuses of budgets and agents, and alerts, at most once a second."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.db.models import Count, DateField, F, QuerySet

from controllers.budgets import budget_alerts
from controllers.budgets.budget_status import Stand, agent_statuses, marks, stands, status_of
from controllers.common.rows import Prepared, Slot
from controllers.models import Consumption, Crossing
from resources.documents.actor import SYSTEM
from resources.tables.models import Resource
from resources.usecases import statuses

# Reports may come as late as this, and count for the day they are about.
LATEST = timedelta(days=8)
# As much as one round takes on.
MOST = 500
HOLDERS = ("domain", "agent")


def publish(now: datetime) -> int:
    """Tell what was counted since the last time; return of how many counters."""
    rows = untold(now)
    if not rows:
        return 0
    names = {holder: {each.name for each in rows if each.holder == holder} for holder in HOLDERS}
    write(names["domain"], names["agent"], now)
    done = [Consumption(pk=each.pk, published=each.records) for each in rows]
    Consumption.objects.bulk_update(done, ["published"])
    return len(rows)


def untold(now: datetime) -> list[Consumption]:
    """Return counters of days that moved since they were last told about."""
    keys = [row[0] for row in UNTOLD(since=(now - LATEST).date())]
    return list(Consumption.objects.filter(pk__in=keys).order_by("pk")) if keys else []


def moved() -> QuerySet[Consumption]:
    """Ask for counters of days that moved since they were last told about."""
    rows = Consumption.objects.filter(
        window="daily",
        starts_on__gte=Slot("since", output_field=DateField()),
        holder__in=HOLDERS,
        records__gt=F("published"),
    )
    return rows.order_by("pk")[:MOST]


# Asked in every round, and nearly always in vain.
UNTOLD = Prepared(lambda: moved().values_list("pk"))


def renew(now: datetime) -> int:
    """Tell of budgets that began anew or were declared since; return how many."""
    budgets = Resource.objects.filter(kind="Budget", deleted_at=None).order_by("pk")
    spent = set(
        Consumption.objects.filter(holder="domain").values_list("name", flat=True).distinct()
    )
    found = stands([each for each in budgets if each.domain in spent], now)
    changed = [each for each in found if differs(each)]
    tell(changed, (), now)
    budget_alerts.end_yesterdays(now)
    return len(changed)


def differs(found: Stand) -> bool:
    """Tell whether a budget's status says something else than its counters."""
    said = found.budget.status.get("consumed")
    told = said if isinstance(said, dict) else {}
    return told.get("tokens") != found.amounts["tokens"] or round(
        (told.get("cost") or 0) * 1_000_000
    ) != found.amounts.get(found.currency, 0)


def write(domains: Iterable[str], agents: Iterable[str], now: datetime) -> None:
    """Write the statuses of the budgets of domains, and of agents."""
    budgets = Resource.objects.filter(kind="Budget", domain__in=list(domains), deleted_at=None)
    rows = Resource.objects.filter(kind="Agent", name__in=list(agents), deleted_at=None)
    tell(stands(list(budgets.order_by("pk")), now), list(rows.order_by("pk")), now)


def tell(found: Sequence[Stand], agents: Sequence[Resource], now: datetime) -> None:
    """Alert people and write statuses."""
    quiet = []
    for each in found:
        marked = list(marks(each, now))
        budget_alerts.tell(each.budget, marked, now)
        quiet += [] if marked else [each.budget]
    budget_alerts.end(quiet, now)
    told = triggered(found)
    by_domain = {each.budget.domain: each for each in reversed(found)}
    said = [(each.budget, status_of(each, told.get(each.budget.pk, 0), now)) for each in found]
    said += agent_statuses(agents, by_domain, now)
    reports = [statuses.Report(row.kind, row.name, status) for row, status in said]
    if reports:
        statuses.observe(reports, actor=SYSTEM, now=now)


def triggered(found: Sequence[Stand]) -> dict[int, int]:
    """Return how often people were told about each budget in its present period."""
    counted: dict[int, int] = {}
    for span in {each.span for each in found}:
        keys = [each.budget.pk for each in found if each.span == span]
        rows = Crossing.objects.filter(budget__in=keys, starts_on=span.start, window=span.window)
        counted |= dict(rows.order_by().values_list("budget").annotate(told=Count("pk")))
    return counted
