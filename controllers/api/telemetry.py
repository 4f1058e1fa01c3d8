"""`/telemetry`: what agents tell, held against its contracts, and what is kept of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers import telemetry
from controllers.api import telemetry_examples as examples
from controllers.api.reading import key_in
from controllers.models import TelemetryEvent
from controllers.telemetry.judging import CATEGORIES, SEVERITIES
from resources import access, ledger
from resources.access import domains
from resources.api import parameters
from resources.api.authentication import principal_of
from resources.api.base import View, read_body
from resources.api.parameters import read_instant
from resources.api.problems import as_error, forbidden, invalid
from resources.api.schema import header, operation, query
from resources.kind import Document, Problem
from resources.models import AgentToken
from resources.reader import escape

FIELDS = {
    "id": "uid",
    "event": "event",
    "category": "category",
    "severity": "severity",
    "correlationId": "correlation_id",
    "causationId": "causation_id",
}
KNOWN = (*FIELDS, "payload", "time", "source")
LONGEST = {"id": 200, "event": 253, "correlationId": 64, "causationId": 64}
WORDS = {"category": CATEGORIES, "severity": SEVERITIES}


class Telemetry(View):
    """Events."""

    tag = "Telemetry"
    write_scope = "telemetry:write"
    parameters = {
        "GET": ("event", "source", "correlationId", "since", "limit", "cursor"),
    }

    @property
    def body_limit(self) -> int:
        """Return how many bytes a body may have."""
        limit: int = settings.IMPORT_LIMIT
        return limit

    @operation(
        "listTelemetry",
        "List events, newest first",
        parameters=[
            query("event", "Only those of this name, in either spelling."),
            query("source", "Only those of this agent."),
            query("correlationId", "Only those of this story."),
            query("since", "Only those that arrived at this time or later."),
            query("limit", "How many to return.", type=int),
            query("cursor", "`nextCursor` of the page before, with the same filters."),
        ],
        answers={200: ("TelemetryList", examples.LIST)},
        errors=(400,),
    )
    def get(self, request: Request) -> Response:
        """Return one page of what the principal may read."""
        most, cursor = parameters.limit(request), parameters.Cursor(request, "telemetry")
        rows = narrowed(request, seen_by(request)).order_by("-pk")
        if after := cursor.after():
            rows = rows.filter(pk__lt=int(after))
        kept = list(rows.select_related("contract").defer("contract__spec")[: most + 1])
        page: Document = {"items": [document(each) for each in kept[:most]]}
        if len(kept) > most:
            page["nextCursor"] = cursor.following(str(kept[most - 1].pk))
        return Response(page)

    @operation(
        "tellEvents",
        "Tell one event or many; each has its own verdict, and a repeat counts once",
        parameters=[
            header(
                "Idempotency-Key",
                "A name of your request: events without an id are named by it and their place.",
                maxLength=200,
            )
        ],
        request=("TelemetryBatch", examples.BATCH),
        answers={200: ("TelemetryTaken", examples.TAKEN)},
        errors=(400, 403, 413, 415),
    )
    def post(self, request: Request) -> Response:
        """Take each event that can be taken."""
        if not isinstance(request.auth, AgentToken):
            raise forbidden("Only agents tell events: use an agent's token.")
        key, items = key_in(request), items_of(read_body(request))
        read = [read_item(each, place, key) for place, each in enumerate(items)]
        arrivals = [each for each in read if isinstance(each, telemetry.Arrival)]
        taken = iter(telemetry.take(arrivals, token=request.auth, now=timezone.now()))
        return Response(
            {
                "items": [
                    described(next(taken)) if isinstance(each, telemetry.Arrival) else each
                    for each in read
                ]
            }
        )


def items_of(body: Any) -> list[Any]:
    """Return the events of a body: one alone, or those under `items`."""
    if isinstance(body, dict) and "event" in body:
        return [body]
    items = body.get("items") if isinstance(body, dict) else None
    if not isinstance(items, list) or not items or set(body) != {"items"}:
        raise invalid('Send an event, or {"items": […]} with at least one.', pointer="/items")
    if len(items) > telemetry.MOST:
        raise invalid(f"Send at most {telemetry.MOST} events at once.", pointer="/items")
    return items


def read_item(item: Any, place: int, key: str) -> telemetry.Arrival | Document:
    """Read one event; what is wrong with it is its own verdict."""
    if not isinstance(item, dict):
        raise invalid("An event is an object.", pointer=f"/items/{place}")
    problems = list(faults(item))
    if problems:
        named = item.get("id")
        told = {"id": named} if isinstance(named, str) and len(named) <= LONGEST["id"] else {}
        found = [as_error(each) for each in problems]
        return {**told, "event": str(item.get("event"))[:100], "verdict": "refused"} | {
            "problems": found
        }
    source = item.get("source") or {}
    said = {name: item[field] for field, name in FIELDS.items() if field in item}
    said.setdefault("uid", f"{key}/{place}" if key else "")
    return telemetry.Arrival(
        **said,
        payload=item.get("payload", {}),
        at=read_instant(item["time"]) if "time" in item else None,
        agent=source.get("agent", ""),
        domain=source.get("domain", ""),
    )


def faults(item: dict[str, Any]) -> Iterator[Problem]:
    """Yield what keeps an item from being an event."""
    for name in FIELDS:
        if (name in item or name == "event") and not fits(item.get(name), LONGEST.get(name, 64)):
            yield Problem(f"/{name}", f"must be a text of 1 to {LONGEST.get(name, 64)} characters")
        elif name in item and name in WORDS and item[name] not in WORDS[name]:
            yield Problem(f"/{name}", f"must be one of {', '.join(WORDS[name])}")
    if not isinstance(item.get("payload", {}), dict):
        yield Problem("/payload", "must be an object")
    at = item.get("time")
    if "time" in item and (not isinstance(at, str) or read_instant(at) is None):
        yield Problem("/time", "must be a time with a zone, such as 2026-02-25T10:00:00Z")
    yield from source_faults(item.get("source", {}))
    for name in item.keys() - set(KNOWN):
        yield Problem(f"/{escape(name[:80])}", "is not a known field")


def source_faults(source: Any) -> Iterator[Problem]:
    """Yield what keeps a source from being one."""
    if not isinstance(source, dict):
        yield Problem("/source", "must be an object")
        return
    for name, value in source.items():
        if name not in ("agent", "domain") or not fits(value, 253):
            yield Problem(f"/source/{escape(name[:80])}", "must be the name of an agent or domain")


def fits(value: Any, most: int) -> bool:
    """Tell whether a value is a text that can be kept."""
    return isinstance(value, str) and 0 < len(value) <= most and value.isprintable()


def described(taken: telemetry.Taken) -> Document:
    """Write what became of one event."""
    body: Document = {"id": taken.uid, "event": taken.judged.event, "verdict": taken.verdict}
    if taken.judged.contract is not None:
        body["contract"] = taken.judged.contract.name
    if taken.findings:
        body["problems"] = [
            as_error(Problem(each.pointer, each.message)) for each in taken.findings
        ]
        body["flags"] = list(dict.fromkeys(each.code for each in taken.findings))
    return body


def seen_by(request: Request) -> QuerySet[TelemetryEvent]:
    """Return what a principal may read: people all, an agent its domain's, the shared, its own."""
    principal = principal_of(request)
    rows = access.rows(TelemetryEvent, principal)
    if not isinstance(principal, AgentToken):
        return rows
    return rows.filter(Q(domain__in=domains(principal)) | Q(agent=principal.agent.name))


def narrowed(request: Request, rows: QuerySet[TelemetryEvent]) -> QuerySet[TelemetryEvent]:
    """Apply the filters of a list."""
    given = request.query_params
    if event := given.get("event"):
        rows = rows.filter(event=telemetry.canonical(event))
    if source := given.get("source"):
        rows = rows.filter(agent=source.removeprefix("agent/"))
    if story := given.get("correlationId"):
        rows = rows.filter(correlation_id=story)
    since = parameters.instant(request, "since")
    return rows.filter(received_at__gte=since) if since is not None else rows


def document(row: TelemetryEvent) -> Document:
    """Write an event as it is kept."""
    body: Document = {
        "id": row.uid,
        "event": row.event,
        "category": row.category,
        "severity": row.severity,
        "time": ledger.instant(row.at),
        "receivedAt": ledger.instant(row.received_at),
        "source": {"agent": row.agent, "domain": row.domain},
        "payload": row.payload,
        "batch": str(row.batch),
        "flags": row.flags.split(",") if row.flags else [],
    }
    named = {"correlationId": row.correlation_id, "causationId": row.causation_id}
    body |= {name: value for name, value in named.items() if value}
    if row.contract is not None:
        body["contract"] = row.contract.name
    return body
