"""`/telemetry`: what agents tell, held against its contracts, and what is kept of it."""

from __future__ import annotations

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers import telemetry
from controllers.api.base.idempotency_key import key_in
from controllers.api.telemetry.serializers import (
    TelemetryBatchSerializer,
    TelemetryEventSerializer,
    TelemetryItemSerializer,
    TelemetryListSerializer,
    TelemetryTakenSerializer,
)
from controllers.models import TelemetryEvent
from resources.api import parameters
from resources.api.authentication import principal_of
from resources.api.base import View, read_body
from resources.api.schema import header, operation, query
from resources.documents.problems import forbidden
from resources.tables.models import AgentToken
from resources.usecases import access
from resources.usecases.access import domains
from resources.usecases.access_rules import agents, api


class Telemetry(View):
    """Events."""

    rights = api(POST=agents("telemetry:write"))
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
        answers={200: TelemetryListSerializer},
        errors=(400,),
    )
    def get(self, request: Request) -> Response:
        """Return one page of what the principal may read."""
        most, cursor = parameters.limit(request), parameters.Cursor(request, "telemetry")
        rows = narrowed(request, seen_by(request)).order_by("-pk")
        if after := cursor.after():
            rows = rows.filter(pk__lt=int(after))
        kept = list(rows.select_related("contract").defer("contract__spec")[: most + 1])
        return Response(TelemetryListSerializer.page(kept, most, cursor))

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
        request=TelemetryBatchSerializer,
        answers={200: TelemetryTakenSerializer},
        errors=(400, 403, 413, 415),
    )
    def post(self, request: Request) -> Response:
        """Take each event that can be taken."""
        if not isinstance(request.auth, AgentToken):
            raise forbidden("Only agents tell events: use an agent's token.")
        key, events = key_in(request), TelemetryBatchSerializer.events(read_body(request))
        read = [
            TelemetryEventSerializer.arrival(each, f"{key}/{place}" if key else "")
            for place, each in enumerate(events)
        ]
        arrivals = [each for each in read if isinstance(each, telemetry.Arrival)]
        taken = telemetry.take(arrivals, token=request.auth, now=timezone.now())
        told = iter(TelemetryItemSerializer.show_all(taken))
        items = [next(told) if isinstance(each, telemetry.Arrival) else each for each in read]
        return Response({"items": items})


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
