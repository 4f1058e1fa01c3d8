"""Forget events: by age as contracts say, then by count; the ledger counts them first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, QuerySet

from controllers.common import retention
from controllers.common.retention import Swept
from controllers.engine.document_values import section, text
from controllers.models import TelemetryCount, TelemetryEvent
from resources.documents.durations import CONTINUOUS, PERMANENT, parse_duration
from resources.tables.models import Resource

# So many are forgotten in one round; the rest waits for the next.
MOST = 50_000
# Beyond this no calendar reaches back.
FOREVER = timedelta(days=365_000)


def sweep(now: datetime) -> Swept:
    """Drop what is too old, then what is too much; returns what was dropped."""
    aged = retention.drop(TelemetryEvent, list(old(now)), "age", now)
    aged += retention.drop(TelemetryCount, old_counts(now), "age", now)
    counted = retention.drop(TelemetryEvent, surplus(settings.TELEMETRY_EVENTS), "count", now)
    return Swept(by_age=aged, by_count=counted)


def old(now: datetime) -> Iterator[int]:
    """Choose what its contract, or else its category, keeps no longer."""
    contracts = Resource.objects.filter(kind="Telemetry", deleted_at=None).order_by("pk")
    timed: list[int] = []
    for row in contracts.only("pk", "spec"):
        kept = kept_for(row)
        if kept is not None:
            timed.append(row.pk)
            if kept < PERMANENT:
                yield from before(TelemetryEvent.objects.filter(contract=row.pk), now - kept)
    # What has no contract, or one that says nothing, is kept as long as its category is.
    for category, kept in settings.TELEMETRY_HISTORY.items():
        rest = TelemetryEvent.objects.filter(category=category).exclude(contract__in=timed)
        yield from before(rest, now - kept)


def kept_for(row: Resource) -> timedelta | None:
    """Return how long a contract has its events kept; nothing when it does not say."""
    found = parse_duration(text(section(row.spec, "retention").get("duration")))
    if found is None or found <= CONTINUOUS:
        return None
    return found if found < FOREVER else PERMANENT


def before(rows: QuerySet[TelemetryEvent], limit: datetime) -> list[int]:
    """Choose what arrived before a limit, the oldest first."""
    chosen = rows.filter(received_at__lt=limit).order_by("received_at")
    return list(chosen.values_list("pk", flat=True)[:MOST])


def old_counts(now: datetime) -> list[int]:
    """Choose the counts of minutes and hours that nobody asks for any more."""
    chosen: list[int] = []
    for span, kept in settings.TELEMETRY_COUNTS.items():
        rows = TelemetryCount.objects.filter(span=span, at__lt=now - kept).order_by("at")
        chosen += rows.values_list("pk", flat=True)[:MOST]
    return chosen


def surplus(most: int) -> list[int]:
    """Choose what is beyond the newest `most` of each event."""
    counted = TelemetryEvent.objects.order_by().values("event").annotate(found=Count("pk"))
    chosen: list[int] = []
    for event in counted.filter(found__gt=most).values_list("event", flat=True):
        rows = TelemetryEvent.objects.filter(event=event).order_by("-pk")
        chosen += rows.values_list("pk", flat=True)[most : most + MOST]
    return chosen
