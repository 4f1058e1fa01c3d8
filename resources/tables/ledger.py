"""The append-only ledger: each stream is a chain of hashes, written with what it describes."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from django.db import connection, transaction

from resources.documents.actor import Actor
from resources.documents.canonical import digest
from resources.observability import metrics
from resources.observability.correlation import correlation as correlation
from resources.observability.correlation import current
from resources.tables import batches, versions
from resources.tables.bulk_tables import table_of, whole_table
from resources.tables.models import LedgerEvent, LedgerStream

# Makes streams that are missing, and locks and reads all, in one order for every writer: of two
# that need the same ones, one waits at the first.
LOCK = """
    INSERT INTO resources_ledgerstream (name, seq, head) SELECT given.name, 0, '' FROM ({names})
      AS given WHERE true ORDER BY given.name
    ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING name, seq, head
"""
NAMES = {
    "sqlite": "SELECT value AS name FROM json_each(%s)",
    "postgresql": "SELECT json_array_elements_text(%s::json) AS name",
}
HEADS = table_of(LedgerStream, unique=("name",))
EVENTS = whole_table(LedgerEvent)


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


class AttributedEntry(NamedTuple):
    """An entry with who tells it, when, and in which story."""

    entry: Entry
    actor: str
    at: datetime
    story: str


class Head(NamedTuple):
    """The end of a stream: the number and the hash of its last event."""

    seq: int
    hash: str


gathered: ContextVar[list[AttributedEntry] | None] = ContextVar("gathered", default=None)


def append(entries: Sequence[Entry], *, actor: Actor, now: datetime) -> list[LedgerEvent]:
    """Chain entries onto their streams; the caller's transaction makes them true together.

    Inside `together` they are chained later, and there are no events yet.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("The ledger is written in the transaction of what it describes.")
    story = current() or str(uuid.uuid4())
    told = [AttributedEntry(entry, str(actor), now, story) for entry in entries]
    waiting = gathered.get()
    if waiting is None:
        return chain(told)
    waiting.extend(told)
    return []


@contextmanager
def together() -> Iterator[None]:
    """Chain all that is appended inside at its end, so that each stream is taken only once."""
    told: list[AttributedEntry] = []
    outside = gathered.set(told)
    try:
        yield
    finally:
        gathered.reset(outside)
    chain(told)


def chain(told: Sequence[AttributedEntry]) -> list[LedgerEvent]:
    """Make the events of what was told, in that order."""
    if not told:
        return []
    heads = lock({each.entry.stream for each in told})
    events = []
    for each, number in zip(told, versions.take(len(told)), strict=True):
        event = link(each, heads[each.entry.stream], number)
        heads[event.stream] = Head(event.seq, event.hash)
        events.append(event)
    names = EVENTS.names
    rows = [[getattr(event, name) for name in names] for event in events]
    batches.upsert(connection, EVENTS, rows)
    advance(heads)
    transaction.on_commit(partial(metrics.LEDGER_EVENTS.inc, len(events)))
    return events


def lock(names: set[str]) -> dict[str, Head]:
    """Return the heads of the named streams, locked until commit."""
    statement = LOCK.format(names=NAMES[connection.vendor])
    with connection.cursor() as cursor:
        cursor.execute(statement, [batches.as_text(sorted(names))])
        return {name: Head(seq, head) for name, seq, head in cursor.fetchall()}


def link(told: AttributedEntry, head: Head, number: int) -> LedgerEvent:
    """Make the next event of a stream."""
    entry, payload = told.entry, dict(told.entry.payload)
    event = LedgerEvent(
        id=number,
        stream=entry.stream,
        seq=head.seq + 1,
        previous=head.hash,
        at=told.at,
        event=entry.event,
        category=entry.category,
        severity=entry.severity,
        actor=told.actor,
        subject=entry.subject,
        correlation_id=told.story,
        causation_id=entry.causation_id,
        payload_digest=digest(payload),
        payload=payload,
    )
    event.hash = hash_of(event)
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


def advance(heads: Mapping[str, Head]) -> None:
    """Store the moved heads."""
    batches.update(connection, HEADS, [(name, *head) for name, head in heads.items()])


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
