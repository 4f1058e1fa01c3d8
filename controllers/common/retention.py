"""Forget what the loop recorded, by age and then by count; it is counted in the ledger first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef

from controllers.models import (
    Admission,
    Alert,
    Cycle,
    DriftSample,
    TelemetryCount,
    TelemetryEvent,
    Usage,
    Violation,
    WorkflowRun,
)
from resources.tables import ledger
from resources.tables.batches import batches
from resources.usecases.retention import BATCH, log

Table = (
    type[DriftSample]
    | type[Cycle]
    | type[Alert]
    | type[TelemetryEvent]
    | type[TelemetryCount]
    | type[WorkflowRun]
    | type[Admission]
    | type[Usage]
    | type[Violation]
)
# What each is called in the ledger, and the time it is as old as.
NAMES: dict[Table, str] = {
    DriftSample: "drift samples",
    Cycle: "cycles",
    Alert: "alerts",
    TelemetryEvent: "events",
    TelemetryCount: "counts of events",
    WorkflowRun: "runs",
    Admission: "admissions",
    Usage: "usage records",
    Violation: "violations",
}
TIMES: dict[Table, str] = {
    DriftSample: "at",
    Cycle: "started_at",
    Alert: "resolved_at",
    TelemetryEvent: "received_at",
    TelemetryCount: "at",
    WorkflowRun: "ended_at",
    Admission: "changed_at",
    Usage: "received_at",
    Violation: "closed_at",
}
# Questions whose permit may still be used or settled stay.
ENDED = (Admission.State.DENIED, Admission.State.LAPSED, Admission.State.SETTLED)


@dataclass(frozen=True)
class Swept:
    """How much was dropped, and why."""

    by_age: int = 0
    by_count: int = 0


def sweep(now: datetime) -> Swept:
    """Drop what is too old, then what is too much; returns what was dropped."""
    aged = drop(DriftSample, old_samples(now - settings.DRIFT_HISTORY), "age", now)
    aged += drop(Cycle, old_cycles(now - settings.CYCLE_HISTORY), "age", now)
    aged += drop(Alert, old_alerts(now - settings.ALERT_HISTORY), "age", now)
    aged += drop(WorkflowRun, old(WorkflowRun, now - settings.RUN_HISTORY), "age", now)
    aged += drop(Admission, old_admissions(now - settings.ADMISSION_HISTORY), "age", now)
    aged += drop(Usage, old(Usage, now - settings.USAGE_HISTORY), "age", now)
    aged += drop(Violation, old(Violation, now - settings.USAGE_HISTORY), "age", now)
    pair = ("controller", "resource")
    counted = drop(DriftSample, surplus(DriftSample, pair, settings.DRIFT_SAMPLES), "count", now)
    counted += drop(Cycle, surplus(Cycle, ("controller",), settings.CYCLE_RECORDS), "count", now)
    return Swept(by_age=aged, by_count=counted)


def old_samples(before: datetime) -> list[int]:
    """Choose what was superseded before the limit: what was so at the limit stays."""
    later = DriftSample.objects.filter(
        controller=OuterRef("controller"),
        resource=OuterRef("resource"),
        pk__gt=OuterRef("pk"),
        at__lt=before,
    )
    found = DriftSample.objects.filter(Exists(later), at__lt=before)
    return list(found.values_list("pk", flat=True))


def old_cycles(before: datetime) -> list[int]:
    """Choose what ended long ago; a controller's last cycle stays."""
    later = Cycle.objects.filter(controller=OuterRef("controller"), number__gt=OuterRef("number"))
    found = Cycle.objects.filter(Exists(later), started_at__lt=before, finished_at__isnull=False)
    return list(found.values_list("pk", flat=True))


def old_alerts(before: datetime) -> list[int]:
    """Choose what was over long ago."""
    return list(Alert.objects.filter(resolved_at__lt=before).values_list("pk", flat=True))


def old_admissions(before: datetime) -> list[int]:
    """Choose questions that were answered and done with long ago."""
    found = Admission.objects.filter(changed_at__lt=before, state__in=ENDED)
    return list(found.values_list("pk", flat=True))


def old(table: Table, before: datetime) -> list[int]:
    """Choose what is older than a time; counters keep what it came to."""
    found = table.objects.filter(**{f"{TIMES[table]}__lt": before})
    return list(found.values_list("pk", flat=True))


def surplus(table: Table, per: tuple[str, ...], most: int) -> list[int]:
    """Choose what is beyond the newest `most` of each."""
    counted = table.objects.order_by().values(*per).annotate(found=Count("pk"))
    chosen: list[int] = []
    for each in counted.filter(found__gt=most).values(*per):
        rows = table.objects.filter(**each).order_by(f"-{TIMES[table]}", "-pk")
        chosen += rows.values_list("pk", flat=True)[most:]
    return chosen


def drop(table: Table, chosen: list[int], reason: str, now: datetime) -> int:
    """Say what goes, then delete it."""
    for batch in batches(chosen, BATCH):
        with transaction.atomic():
            going = table.objects.filter(pk__in=batch)
            upto = going.aggregate(upto=Max(TIMES[table]))["upto"]
            payload = {"reason": reason, "count": len(batch), "upto": ledger.instant(upto)}
            log(NAMES[table], payload, now)
            going.delete()
    return len(chosen)
