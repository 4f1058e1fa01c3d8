"""`/usage`: what agents spent, one record or many, each counted once."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers import admission
from controllers.api.admission.serializers import (
    UsageListSerializer,
    UsageRecordSerializer,
    UsageReportedSerializer,
    UsageReportSerializer,
    UsageResultSerializer,
)
from controllers.api.base.idempotency_key import KEY, key_in
from controllers.budgets import Claim
from controllers.models import Usage
from resources.api import parameters
from resources.api.authentication import principal_of
from resources.api.base import View
from resources.api.schema import operation, query
from resources.api.serializer_base import Body, reader
from resources.documents.problems import Problem, forbidden
from resources.tables.models import AgentToken
from resources.usecases import access
from resources.usecases.access_rules import agents, api


class Usages(View):
    """All usage."""

    rights = api(POST=agents("usage:write"))
    tag = "Economics"
    write_scope = "usage:write"
    refusal = "Only agents report what they spent."
    parameters = {"GET": ("agent", "decision", "limit", "cursor")}

    @property
    def body_limit(self) -> int:
        """Return how many bytes a body may have."""
        limit: int = settings.IMPORT_LIMIT
        return limit

    @operation(
        "listUsage",
        "List records of usage, newest first",
        parameters=[
            query("agent", "Only those of this agent."),
            query("decision", "Only those that name this decision."),
            query("limit", "How many to return.", type=int),
            query("cursor", "`nextCursor` of the page before, with the same filters."),
        ],
        answers={200: UsageListSerializer},
        errors=(400,),
    )
    def get(self, request: Request) -> Response:
        """Return one page."""
        most, cursor = parameters.limit(request), parameters.Cursor(request, "usage")
        rows = narrowed(request, seen_by(request))
        if after := cursor.after():
            rows = rows.filter(pk__lt=int(after))
        kept = list(rows.order_by("-pk")[: most + 1])
        return Response(UsageListSerializer.page(kept, most, cursor))

    @operation(
        "reportUsage",
        "Report what was spent: one record, or many with `items`",
        parameters=[KEY],
        request=UsageReportSerializer,
        answers={200: UsageReportedSerializer},
        errors=(400, 403, 409, 413),
    )
    def post(self, request: Request) -> Response:
        """Record it; a repeated one is counted once."""
        if not isinstance(request.auth, AgentToken):
            raise forbidden(self.refusal)
        body, key = request.data if request.stream is not None else {}, key_in(request)
        if isinstance(body, dict) and "items" in body:
            records = UsageReportSerializer.records(body)
            items = [read(each, place, key) for place, each in enumerate(records)]
        else:
            items = [item(UsageRecordSerializer.read(body), 0, key)]
        found = admission.report(items, request.auth, timezone.now())
        return Response({"items": UsageResultSerializer.show_all(found)})


def read(given: Any, place: int, key: str) -> admission.UsageEntry:
    """Read one record of many; what is wrong with it is its own verdict."""
    try:
        return item(reader(UsageRecordSerializer).run_validation(given), place, key)
    except Problem as problem:
        return admission.UsageEntry(
            claim=EMPTY, faults=((problem.pointer or "", problem.message),)
        )


EMPTY = Claim(0, 0, None, "", "", "", "")


def item(body: Body, place: int, key: str) -> admission.UsageEntry:
    """Return one record; without a name of its own it has its request's, and its place in it."""
    usual = f"{key}/{place}" if key else ""
    return admission.UsageEntry(
        body["claim"],
        body["id"] or usual,
        body["permit"],
        body["at"],
        body["workflow"],
        body["step"],
        body["decision"],
        body["correlation_id"],
    )


def seen_by(request: Request) -> QuerySet[Usage]:
    """Return the usage that a principal may read: people all, an agent its own."""
    principal = principal_of(request)
    rows = access.rows(Usage, principal).select_related("agent")
    if isinstance(principal, AgentToken):
        return rows.filter(agent=principal.agent_id)
    return rows


def narrowed(request: Request, rows: QuerySet[Usage]) -> QuerySet[Usage]:
    """Apply the filters of a list."""
    if agent := request.query_params.get("agent"):
        rows = rows.filter(agent__name=agent.removeprefix("agent/"))
    if decision := request.query_params.get("decision"):
        rows = rows.filter(decision=decision.removeprefix("decision/"))
    return rows
