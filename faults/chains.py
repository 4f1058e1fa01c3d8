"""The ledger proved a second time: every digest and every hash is computed anew from its rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC

import rfc8785

from faults.facts import Event, Facts


def broken(facts: Facts) -> Iterator[str]:
    """Yield a sentence for each entry that is not what it says, and for each gap."""
    last: dict[str, Event] = {}
    for each in facts.events:
        before = last.get(each.stream)
        if each.seq != (before.seq if before else 0) + 1:
            yield f"{each.stream} has a gap before its entry {each.seq}."
        if each.previous != (before.hash if before else ""):
            yield f"{each.stream} entry {each.seq} does not follow the one before it."
        if each.payload_digest != digest(each.payload):
            yield f"{each.stream} entry {each.seq} has another payload than it was written with."
        if each.hash != hash_of(each):
            yield f"{each.stream} entry {each.seq} is not what was hashed."
        last[each.stream] = each
    for stream, (seq, head) in facts.heads.items():
        found = last.get(stream)
        if (seq, head) != ((found.seq, found.hash) if found else (0, "")):
            yield f"{stream} does not end where its head says."


def digest(value: object) -> str:
    """Return the SHA-256 of the canonical JSON of a value."""
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()  # type: ignore[arg-type]


def hash_of(event: Event) -> str:
    """Hash an entry as the architecture describes it."""
    at = event.at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return digest(
        {
            "id": event.id,
            "stream": event.stream,
            "seq": event.seq,
            "previous": event.previous,
            "at": at,
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
