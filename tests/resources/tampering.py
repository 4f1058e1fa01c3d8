"""What somebody could do to the ledger who owns the database but not the signing key."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.db import connection, transaction

from resources.documents.canonical import digest
from resources.store import evidence
from resources.tables import ledger
from resources.tables.models import LedgerEvent, LedgerStream

LAST = 6


def entry(seq: int, stream: str = "a") -> LedgerEvent:
    return LedgerEvent.objects.get(stream=stream, seq=seq)


def found() -> bool:
    verdict = evidence.verify()
    assert verdict.ok == (not verdict.findings)
    return not verdict.ok


def undetected(
    ledger_unprotected: Any, tampering: Iterable[list[tuple[str, Any, Any]]]
) -> list[Any]:
    """Return what was done without being found; each attempt is undone."""
    missed = []
    for statements in tampering:
        with ledger_unprotected(), transaction.atomic():
            with connection.cursor() as cursor:
                for statement, *values in statements:
                    cursor.execute(statement, values)
            if evidence.verify().ok:
                missed.append(statements)
            transaction.set_rollback(True)
    return missed


def forge(event: LedgerEvent, **changes: Any) -> LedgerEvent:
    """Store an entry made by hand, with a right hash."""
    for name, value in changes.items():
        setattr(event, name, value)
    event.payload_digest = digest(event.payload)
    event.hash = ledger.hash_of(event)
    LedgerEvent.objects.bulk_create([event])
    return event


def set_head(stream: str, seq: int, hash_: str) -> None:
    LedgerStream.objects.filter(name=stream).update(seq=seq, head=hash_)


def cut_tail(tamper: Callable[..., None]) -> None:
    """Cut off the newest entry of a stream and make its head fit."""
    tamper("DELETE FROM resources_ledgerevent WHERE stream = 'a' AND seq = %s", LAST)
    before = entry(LAST - 1)
    set_head("a", before.seq, before.hash)


def rewrite_history(tamper: Callable[..., None]) -> None:
    """Change an entry and every hash after it, so that the chain is whole again."""
    events = list(LedgerEvent.objects.filter(stream="a").order_by("seq"))
    tamper("DELETE FROM resources_ledgerevent WHERE stream = 'a'")
    previous = ""
    for event in events:
        actor = "person/mallory" if event.seq == 2 else event.actor
        previous = forge(event, previous=previous, actor=actor).hash
    set_head("a", LAST, previous)
