"""The state of the organisation in numbers: what there is, what is bad, what is proven."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, QuerySet

from ioa_site.work.health import bad_conditions
from resources.documents import kinds
from resources.store.references import TYPE as REFERENCES_RESOLVED
from resources.tables.models import Checkpoint, Condition, LedgerEvent, LedgerStream, Resource

MOST = 20


@dataclass(frozen=True)
class BadCondition:
    """One condition that is in its bad state."""

    resource: str
    condition: str
    message: str


@dataclass(frozen=True)
class Listing:
    """The first of many findings, and how many there are."""

    total: int
    first: tuple[BadCondition, ...]


@dataclass(frozen=True)
class Ledger:
    """How far the ledger goes, and how far it is signed."""

    events: int
    streams: int
    last_event: datetime | None
    checkpoint: int
    checkpoint_at: datetime | None
    unsigned: int


@dataclass(frozen=True)
class Overview:
    """Everything `ioa status` says."""

    counts: dict[str, int]
    bad: Listing
    dangling: Listing
    ledger: Ledger


def look(*, everything: bool = False) -> Overview:
    """Ask the store; a handful of queries, however large the organisation is."""
    bad = bad_conditions()
    most = None if everything else MOST
    return Overview(
        counts=counts(),
        bad=listing(bad.exclude(type=REFERENCES_RESOLVED), most),
        dangling=listing(bad.filter(type=REFERENCES_RESOLVED), most),
        ledger=ledger(),
    )


def counts() -> dict[str, int]:
    """Return how many resources of each kind live."""
    living = Resource.objects.filter(deleted_at=None)
    found = dict(living.values_list("kind").annotate(count=Count("pk")).order_by())
    return {kind.name: found.get(kind.name, 0) for kind in kinds.ALL}


def listing(conditions: QuerySet[Condition], most: int | None) -> Listing:
    """Return the first of these conditions and their number."""
    first = tuple(
        BadCondition(str(each.resource), f"{each.type}={each.status}", each.message or each.reason)
        for each in conditions[:most]
    )
    return Listing(conditions.count(), first)


def ledger() -> Ledger:
    """Return how far the ledger goes."""
    signed = Checkpoint.objects.order_by("-number").first()
    entries = LedgerEvent.objects.order_by("-id")
    newest = entries.first()
    return Ledger(
        events=entries.count(),
        streams=LedgerStream.objects.count(),
        last_event=newest.at if newest else None,
        checkpoint=signed.number if signed else 0,
        checkpoint_at=signed.at if signed else None,
        unsigned=entries.filter(id__gt=signed.upto if signed else 0).count(),
    )
