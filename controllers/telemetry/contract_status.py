"""What a contract's status says of its events: written by a chore, once for all that arrived."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import F

from controllers.models import TelemetryPulse
from controllers.telemetry import event_counts
from controllers.telemetry.event_counts import Figures
from resources.documents.actor import SYSTEM
from resources.tables import ledger
from resources.usecases import statuses

DAY = timedelta(days=1)
# So many contracts are written at once.
SOME = 500


def publish(now: datetime) -> int:
    """Report the rates of the contracts whose events arrived since; return how many."""
    fresh = TelemetryPulse.objects.exclude(arrivals=F("published"))
    found = list(
        fresh.filter(contract__deleted_at=None)
        .order_by("pk")
        .values_list("pk", "contract__name", "last_at", "arrivals")[:SOME]
    )
    if not found:
        return 0
    figures = event_counts.within(DAY, now, [key for key, *_ in found])
    reports = [
        statuses.Report("Telemetry", name, said(figures.get(key, Figures()), last))
        for key, name, last, _ in found
    ]
    statuses.observe(reports, actor=SYSTEM, now=now)
    for key, _, __, arrivals in found:
        # What arrived meanwhile is published the next time.
        TelemetryPulse.objects.filter(pk=key).update(published=arrivals)
    return len(found)


def said(figures: Figures, last: datetime) -> dict[str, Any]:
    """Write what is known of a day's events."""
    size = round(figures.size / figures.stored, 1) if figures.stored else 0
    return {
        "eventRate": figures.received,
        "lastEmitted": ledger.instant(last),
        "errorRate": round(figures.error_rate, 6),
        "avgPayloadSize": size,
    }
