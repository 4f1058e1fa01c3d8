"""`/usage`: what agents spent, one record or many, each counted once."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers import admission
from controllers.admission.reporting import MOST
from controllers.api import admission_documents as documents
from controllers.api import admission_examples as examples
from controllers.api.decisions import body_of, time_in
from controllers.api.reading import key_in
from controllers.api.repeating import KEY
from controllers.api.spending import COSTS, claim_in, text
from controllers.models import Usage
from resources import access
from resources.api import parameters
from resources.api.authentication import principal_of
from resources.api.base import View
from resources.api.problems import Refused, forbidden, invalid
from resources.api.schema import operation, query
from resources.models import AgentToken

RECORD = ("id", "permit", "at", "workflow", "step", "decision", "correlationId", *COSTS)
LONGEST = {"workflow": 253, "step": 253, "decision": 253, "correlationId": 64}
LONGEST_ID = 200


class Usages(View):
    """All usage."""

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
        answers={200: ("UsageList", examples.USAGES)},
        errors=(400,),
    )
    def get(self, request: Request) -> Response:
        """Return one page."""
        most, cursor = parameters.limit(request), parameters.Cursor(request, "usage")
        rows = narrowed(request, seen_by(request))
        if after := cursor.after():
            rows = rows.filter(pk__lt=int(after))
        kept = list(rows.order_by("-pk")[: most + 1])
        page: dict[str, Any] = {"items": [documents.usage(each) for each in kept[:most]]}
        if len(kept) > most:
            page["nextCursor"] = cursor.following(str(kept[most - 1].pk))
        return Response(page)

    @operation(
        "reportUsage",
        "Report what was spent: one record, or many with `items`",
        parameters=[KEY],
        request=("UsageReport", examples.REPORT),
        answers={200: ("UsageReported", examples.REPORTED)},
        errors=(400, 403, 409, 413),
    )
    def post(self, request: Request) -> Response:
        """Record it; a repeated one is counted once."""
        if not isinstance(request.auth, AgentToken):
            raise forbidden(self.refusal)
        body, key = body_of(request, ("items", *RECORD)), key_in(request)
        given = items_in(body)
        items = [read(each, place, key) for place, each in enumerate(given)]
        if "items" not in body and items[0].faults:
            pointer, detail = items[0].faults[0]
            raise invalid(detail, pointer)
        found = admission.report(items, request.auth, timezone.now())
        return Response({"items": [documents.result(each) for each in found]})


def items_in(body: dict[str, Any]) -> list[Any]:
    """Return the records of a body: its items, or the body itself."""
    if "items" not in body:
        return [body]
    items = body["items"]
    if not isinstance(items, list) or not 0 < len(items) <= MOST or len(body) > 1:
        raise invalid(
            f'Send {{"items": […]}} with one to {MOST} records, and nothing else.', "/items"
        )
    return items


def read(given: Any, place: int, key: str) -> admission.Item:
    """Read one record; what is wrong with it is its own verdict."""
    try:
        return record(given, f"{key}/{place}" if key else "")
    except Refused as error:
        pointer = str(error.members.get("pointer", ""))
        return admission.Item(claim=EMPTY, faults=((pointer, error.detail),))


EMPTY = claim_in({})


def record(given: Any, usual: str) -> admission.Item:
    """Read one record, strictly."""
    if not isinstance(given, dict):
        raise invalid("A record is an object.", "")
    if unknown := sorted(set(given) - set(RECORD)):
        raise invalid(f"There is no field {unknown[0][:80]!r} here.", f"/{unknown[0][:80]}")
    if not {"tokens", "cost", "permit"} & set(given):
        raise invalid("Say what was spent: tokens, cost, or the permit of what took nothing.", "")
    named = {name: text(given, name, most) for name, most in LONGEST.items()}
    return admission.Item(
        claim_in(given),
        text(given, "id", LONGEST_ID) or usual,
        text(given, "permit", 1_000),
        time_in(given, "at"),
        named["workflow"],
        named["step"],
        named["decision"],
        named["correlationId"],
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
