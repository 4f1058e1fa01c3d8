"""`/events` and `/audit/verify`: the ledger, entry by entry and as a whole."""

from __future__ import annotations

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from resources.api import parameters
from resources.api.authentication import principal_of
from resources.api.base import View
from resources.api.schema import operation, query
from resources.api.serializers import EventListSerializer, VerdictSerializer
from resources.store import evidence
from resources.tables import versions
from resources.tables.ledger import as_cloudevent
from resources.tables.models import LedgerEvent
from resources.usecases.access import visible_events
from resources.usecases.access_rules import WHOLE, api, rules

# Query parameter → column: a caller never names a column.
FILTERS = {"correlationId": "correlation_id", "subject": "subject", "event": "event"}


class Events(View):
    """What happened, as CloudEvents."""

    rights = api("events:read")
    tag = "Ledger"
    scope = "events:read"
    parameters = {"GET": (*FILTERS, "since", "limit")}

    @operation(
        "listEvents",
        "Read the ledger, oldest first",
        parameters=[
            query("correlationId", "Only one story, from trigger to screen."),
            query("subject", "Only one subject, such as `agent/growth-optimizer`."),
            query("event", "Only one kind of event, such as `resource.spec-changed`."),
            query("since", "`nextSince` of the page before.", type=int),
            query("limit", "How many to return.", type=int),
        ],
        answers={200: EventListSerializer},
        errors=(400, 403),
    )
    def get(self, request: Request) -> Response:
        """Return one page; nothing can later appear before its end."""
        since = parameters.number(request, "since") or 0
        most = parameters.limit(request)
        # The horizon comes first: what commits after it was read belongs to the next page.
        horizon = versions.horizon()
        entries = LedgerEvent.objects.filter(id__gt=since, id__lte=horizon)
        chosen = narrowed(visible_events(entries, principal_of(request)), request)
        found = list(chosen.order_by("id")[:most])
        upto = found[-1].id if len(found) == most else max(since, horizon)
        items = [as_cloudevent(each) for each in found]
        return Response({"items": items, "nextSince": str(upto)})


def narrowed(entries: QuerySet[LedgerEvent], request: Request) -> QuerySet[LedgerEvent]:
    """Keep the entries the parameters ask for."""
    for name, column in FILTERS.items():
        if name in request.query_params:
            entries = entries.filter(**{column: request.query_params[name]})
    return entries


class Verify(View):
    """Whether the ledger is as it was written."""

    rights = rules(GET=WHOLE)
    tag = "Ledger"
    scope = ""

    @operation(
        "verifyLedger",
        "Prove that the ledger is whole: chains, gaps and checkpoints",
        answers={200: VerdictSerializer},
        errors=(403, 404),
    )
    def get(self, request: Request) -> Response:
        """Check every entry."""
        return Response(VerdictSerializer.show(evidence.verify()))
