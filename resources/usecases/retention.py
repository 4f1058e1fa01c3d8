"""Forget in two phases, by age and then by count; what is dropped is counted and logged first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet, Subquery, Window
from django.db.models.functions import RowNumber

from resources.documents.actor import SYSTEM
from resources.store.history import FEED
from resources.tables import ledger
from resources.tables.batches import batches
from resources.tables.models import Compaction, Resource, ResourceRevision

BATCH = 2_000


@dataclass(frozen=True)
class Swept:
    """How much was dropped, and why."""

    by_age: int = 0
    by_count: int = 0
    tombstones: int = 0


def sweep(now: datetime) -> Swept:
    """Drop what is too old, then what is too much; returns what was dropped."""
    tombstones = bury(now)
    spec, status = settings.SPEC_HISTORY, settings.STATUS_HISTORY
    aged = drop(old(declaring(), now - spec), "age", now)
    aged += drop(old(observing(), now - status), "age", now)
    counted = drop(surplus(declaring(), settings.SPEC_REVISIONS), "count", now)
    counted += drop(surplus(observing(), settings.STATUS_REVISIONS), "count", now)
    return Swept(by_age=aged, by_count=counted, tombstones=tombstones)


def droppable() -> QuerySet[ResourceRevision]:
    """Revisions nothing leans on: no resource shows them now, no kept revision refers to them."""
    shown = Resource.objects.filter(pk=OuterRef("resource")).filter(
        Q(declared_version=OuterRef("resource_version"))
        | Q(observed_version=OuterRef("resource_version"))
        | Q(resource_version=OuterRef("resource_version"))
    )
    leaning = following().filter(
        Q(declared_version=OuterRef("resource_version"))
        | Q(observed_version=OuterRef("resource_version"))
    )
    return ResourceRevision.objects.exclude(Exists(shown)).exclude(Exists(leaning))


def declaring() -> QuerySet[ResourceRevision]:
    """Revisions that hold a declaration."""
    return droppable().filter(spec__isnull=False)


def observing() -> QuerySet[ResourceRevision]:
    """Revisions that hold an observation only."""
    return droppable().filter(spec__isnull=True)


def old(revisions: QuerySet[ResourceRevision], before: datetime) -> list[int]:
    """Choose what was superseded before the limit: what was in force at the limit stays."""
    superseded = Exists(following().filter(at__lt=before))
    return list(revisions.filter(superseded).values_list("pk", flat=True))


def following() -> QuerySet[ResourceRevision]:
    """Return the later revisions of the same resource, the next one first."""
    return ResourceRevision.objects.filter(
        resource=OuterRef("resource"), resource_version__gt=OuterRef("resource_version")
    ).order_by("resource_version")


def surplus(revisions: QuerySet[ResourceRevision], most: int) -> list[int]:
    """Choose what is beyond the newest `most` of each resource."""
    ranked = revisions.annotate(
        rank=Window(RowNumber(), partition_by=F("resource"), order_by=F("resource_version").desc())
    )
    return list(ranked.filter(rank__gt=most).values_list("pk", flat=True))


def drop(chosen: list[int], reason: str, now: datetime) -> int:
    """Say what goes, move the marks readers are held to, then delete."""
    for batch in batches(chosen, BATCH):
        with transaction.atomic():
            going = ResourceRevision.objects.filter(pk__in=batch)
            newest = going.order_by("-resource_version")[0]
            payload = {"reason": reason, "count": len(batch), "upto": newest.resource_version}
            log("revisions", payload, now)
            # Thinning by count leaves newer changes of the same resource in the feed.
            raise_floor(newest.resource_version if reason == "age" else 0, in_force_until(going))
            going.delete()
    return len(chosen)


def in_force_until(going: QuerySet[ResourceRevision]) -> datetime | None:
    """Return when the last of these declarations was superseded; nothing when none is one."""
    ended = Subquery(following().values("at")[:1])
    declarations = going.filter(spec__isnull=False).annotate(ended=ended)
    until: datetime | None = declarations.aggregate(until=Max("ended"))["until"]
    return until


def raise_floor(version: int, at: datetime | None) -> None:
    """Make sure that nobody reads across the gap, in the feed or (with `at`) back in time."""
    mark, _ = Compaction.objects.get_or_create(name=FEED)
    Compaction.objects.filter(pk=mark.pk, floor__lt=version).update(floor=version)
    if at is not None:
        later = Q(before=None) | Q(before__lt=at)
        Compaction.objects.filter(later, pk=mark.pk).update(before=at)


def bury(now: datetime) -> int:
    """Remove tombstones, with their history, once their time has passed."""
    gone = Resource.objects.filter(deleted_at__lt=now - settings.SPEC_HISTORY)
    # `updated_at` of a tombstone is when it was deleted.
    chosen = list(gone.values_list("pk", "resource_version", "updated_at"))
    for batch in batches(chosen, BATCH):
        with transaction.atomic():
            newest = max(version for _, version, _ in batch)
            log("tombstones", {"reason": "age", "count": len(batch), "upto": newest}, now)
            raise_floor(newest, max(at for _, _, at in batch))
            Resource.objects.filter(pk__in=[pk for pk, _, _ in batch]).delete()
    return len(chosen)


def log(what: str, payload: dict[str, object], now: datetime) -> None:
    """Count what is about to be dropped in the ledger."""
    entry = ledger.Entry(
        stream="system/retention", event="retention.dropped", subject=what, payload=payload
    )
    ledger.append([entry], actor=SYSTEM, now=now)
