"""People hear of a budget once for each mark in each of its periods, on the channels it names."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction

from controllers.engine.allowances import Span
from controllers.models import Alert, Crossing
from controllers.notifications import alerts
from controllers.workqueue.cycle_effects import Notice
from resources.documents.actor import SYSTEM
from resources.store import announcements
from resources.tables import ledger
from resources.tables.models import Resource

THRESHOLD, EXCEEDED = "budget_threshold_reached", "budget_exceeded"
OVERSPEND = "budget_agent_overspend"
# What an alert is filed under, for each event.
REASONS = {
    THRESHOLD: "BudgetThreshold",
    EXCEEDED: "BudgetExceeded",
    OVERSPEND: "AgentOverspend",
}


class Mark(NamedTuple):
    """What a budget has come to."""

    event: str
    mark: str
    span: Span
    share: float
    severity: str
    message: str
    channels: tuple[str, ...] = ()
    # What the ledger keeps of it.
    payload: dict[str, Any] = {}


def tell(budget: Resource, marks: Iterable[Mark], now: datetime) -> int:
    """Tell what nobody was told in this period; return how much that was."""
    told = 0
    for each in marks:
        with transaction.atomic():
            _, new = Crossing.objects.get_or_create(
                budget=budget,
                event=each.event,
                mark=each.mark[:260],
                window=each.span.window,
                starts_on=each.span.start,
                defaults={
                    "share": each.share,
                    "severity": each.severity,
                    "message": each.message,
                    "at": now,
                },
            )
            if new:
                announce(budget, each, now)
        told += new
    return told


def announce(budget: Resource, mark: Mark, now: datetime) -> None:
    """Write it into the budget's chain, and alert people on every channel."""
    entry = ledger.Entry(
        f"resource/{budget.uid}",
        f"{budget.domain or 'system'}.{mark.event}",
        str(budget),
        {"budgetName": budget.name, "message": mark.message, **mark.payload},
        "alert",
        mark.severity,
    )
    ledger.append([entry], actor=SYSTEM, now=now)
    story = ledger.correlation.get() or str(uuid.uuid4())
    # Nobody but the budget itself says so: the alert is its own.
    alerts.raise_all(budget.pk, notices(budget, mark), story, now)
    announcements.announce()


def notices(budget: Resource, mark: Mark) -> list[Notice]:
    """Write it for each channel; without one it stays in the product."""
    return [
        Notice(budget.pk, REASONS[mark.event], channel, mark.severity, mark.message)  # type: ignore[arg-type]
        for channel in dict.fromkeys(mark.channels or ("",))
    ]


def end(budgets: Iterable[Resource], now: datetime) -> None:
    """End the alerts about budgets that there is nothing to tell about any more."""
    keys = [each.pk for each in budgets]
    standing = Alert.objects.filter(
        controller__in=keys, reason__in=REASONS.values(), resolved_at=None
    )
    for key in sorted(set(standing.values_list("controller", flat=True))):
        alerts.resolve(key, [key], now, set(REASONS.values()))


def end_yesterdays(now: datetime) -> None:
    """End the alerts about agents' own limits: a new day has a new limit."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    rows = Alert.objects.filter(
        controller__kind="Agent",
        reason=REASONS[OVERSPEND],
        resolved_at=None,
        raised_at__lt=midnight,
    )
    for key in sorted(set(rows.values_list("controller", flat=True))):
        alerts.resolve(key, [key], now, {REASONS[OVERSPEND]})
