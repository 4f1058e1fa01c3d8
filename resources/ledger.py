"""The append-only ledger: each stream is a chain of hashes, written with what it describes."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet

from resources import versions
from resources.actor import Actor
from resources.batches import SIZE, batches
from resources.canonical import digest
from resources.models import LedgerEvent, LedgerStream

# The story being told: one id from the trigger to the screen.
correlation: ContextVar[str] = ContextVar("correlation", default="")


@dataclass(frozen=True)
class Entry:
    """Something that happened, before it is chained."""

    stream: str
    event: str
    subject: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    category: str = "audit"
    severity: str = "info"
    causation_id: str = ""


def append(entries: Sequence[Entry], *, actor: Actor, now: datetime) -> list[LedgerEvent]:
    """Chain entries onto their streams; the caller's transaction makes them true together."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("The ledger is written in the transaction of what it describes.")
    heads = lock({entry.stream for entry in entries})
    story = correlation.get() or str(uuid.uuid4())
    events = [
        link(entry, heads[entry.stream], number=number, actor=str(actor), at=now, story=story)
        for entry, number in zip(entries, versions.take(len(entries)), strict=True)
    ]
    LedgerEvent.objects.bulk_create(events, batch_size=SIZE)
    advance(heads.values())
    return events


def lock(names: set[str]) -> dict[str, LedgerStream]:
    """Return the heads of the named streams, locked in one order until commit."""
    # Missing ones are made before any is locked, or two writers could wait for each other.
    known = {head.name for head in heads_of(names, LedgerStream.objects.all())}
    fresh = [LedgerStream(name=name) for name in sorted(names - known)]
    LedgerStream.objects.bulk_create(fresh, ignore_conflicts=True, batch_size=SIZE)
    waiting = LedgerStream.objects.select_for_update().order_by("name")
    return {head.name: head for head in heads_of(names, waiting)}


def heads_of(names: set[str], streams: QuerySet[LedgerStream]) -> Iterator[LedgerStream]:
    """Yield the streams of these names."""
    for batch in batches(sorted(names)):
        yield from streams.filter(name__in=batch)


def link(
    entry: Entry, head: LedgerStream, *, number: int, actor: str, at: datetime, story: str
) -> LedgerEvent:
    """Make the next event of a stream and move its head."""
    payload = dict(entry.payload)
    event = LedgerEvent(
        id=number,
        stream=entry.stream,
        seq=head.seq + 1,
        previous=head.head,
        at=at,
        event=entry.event,
        category=entry.category,
        severity=entry.severity,
        actor=actor,
        subject=entry.subject,
        correlation_id=story,
        causation_id=entry.causation_id,
        payload_digest=digest(payload),
        payload=payload,
    )
    event.hash = hash_of(event)
    head.seq, head.head = event.seq, event.hash
    return event


def hash_of(event: LedgerEvent) -> str:
    """Hash everything an event says; its payload counts through its digest."""
    return digest(
        {
            "id": event.id,
            "stream": event.stream,
            "seq": event.seq,
            "previous": event.previous,
            "at": instant(event.at),
            "event": event.event,
            "category": event.category,
            "severity": event.severity,
            "actor": event.actor,
            "subject": event.subject,
            "correlationId": event.correlation_id,
            "causationId": event.causation_id,
            "payloadDigest": event.payload_digest,
        }
    )


def advance(heads: Iterable[LedgerStream]) -> None:
    """Store the moved heads."""
    rows = [(head.seq, head.head, head.pk) for head in heads]
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE resources_ledgerstream SET seq = %s, head = %s WHERE id = %s", rows
        )


def instant(at: datetime) -> str:
    """Spell a time in UTC, to the microsecond where it has one."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def as_cloudevent(event: LedgerEvent) -> dict[str, Any]:
    """Write an event in the CloudEvents 1.0 JSON form."""
    document = {
        "specversion": "1.0",
        "id": str(event.id),
        "source": f"/ioa/{event.stream}",
        "type": event.event,
        "subject": event.subject,
        "time": instant(event.at),
        "datacontenttype": "application/json",
        "data": event.payload,
        "category": event.category,
        "severity": event.severity,
        "actor": event.actor,
        "correlationid": event.correlation_id,
        "sequence": str(event.seq),
        "previous": event.previous,
        "hash": event.hash,
        "datadigest": event.payload_digest,
    }
    return document | ({"causationid": event.causation_id} if event.causation_id else {})
