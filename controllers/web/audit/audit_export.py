"""The audit log as a file: rows for a spreadsheet, or an evidence pack with hashes and seals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse
from django.views.decorators.http import require_safe

from controllers.narrative import event_text
from controllers.web.audit import audit_filters
from controllers.web.audit.audit_filters import Filters
from controllers.web.base.spreadsheet import Piece, download, heading, rows
from resources.store import evidence
from resources.tables import ledger
from resources.tables.models import Checkpoint, LedgerEvent
from resources.usecases.access_rules import TAKEN, page, rights

CHUNK = 1_000
COLUMNS = (
    "number",
    "time",
    "event",
    "severity",
    "who",
    "actor",
    "subject",
    "what happened",
    "reason",
    "correlation id",
    "hash",
)


@rights(page(TAKEN))
@require_safe
def export(request: HttpRequest) -> StreamingHttpResponse:
    """Answer the filtered log as CSV, or with `format=json` as an evidence pack."""
    filters = audit_filters.read(request.GET)
    if request.GET.get("format") == "json":
        return download(request, pack(chunks(filters)), "audit-log.json", "application/json")
    return download(request, table(chunks(filters)), "audit-log.csv")


def chunks(filters: Filters) -> Iterator[list[LedgerEvent]]:
    """Return the entries up to now, newest first: without those about taking them out."""
    below, floor, _ = filters.ends()
    newest = LedgerEvent.objects.order_by("-id").values_list("id", flat=True).first() or 0
    return between(filters, min(below, newest + 1), floor)


def between(filters: Filters, below: int, floor: int) -> Iterator[list[LedgerEvent]]:
    """Yield entries, each time only as many as fit in the memory."""
    while found := list(
        filters.chosen().filter(id__lt=below, id__gte=floor).order_by("-id")[:CHUNK]
    ):
        yield found
        below = found[-1].pk


def table(found: Iterable[list[LedgerEvent]]) -> Iterator[Piece]:
    """Write entries as rows."""
    yield heading(COLUMNS)
    for chunk in found:
        told = zip(chunk, event_text.told(chunk), strict=True)
        yield rows(
            (
                str(entry.pk),
                ledger.instant(entry.at),
                entry.event,
                entry.severity,
                said.who,
                entry.actor,
                entry.subject,
                said.sentence,
                said.quote,
                entry.correlation_id,
                entry.hash,
            )
            for entry, said in told
        )


def pack(found: Iterable[list[LedgerEvent]]) -> Iterator[Piece]:
    """Write signed checkpoints and entries with their hashes as one JSON document."""
    seals = [
        evidence.statement(each) | {"signature": each.signature}
        for each in Checkpoint.objects.order_by("number")
    ]
    yield Piece(f'{{"checkpoints": {json.dumps(seals)}, "entries": [')
    separator = ""
    for chunk in found:
        told = ",\n".join(written(ledger.as_cloudevent(each)) for each in chunk)
        yield Piece(separator + told, len(chunk))
        separator = ",\n"
    yield Piece("]}\n")


def written(document: dict[str, Any]) -> str:
    """Write one entry."""
    return json.dumps(document, ensure_ascii=False)
