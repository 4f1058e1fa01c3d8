"""`/admission`: agents ask before they act, and redeem the permits they get."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers import admission
from controllers.api.admission.serializers import (
    REDEEMED,
    AdmissionListSerializer,
    AdmissionSerializer,
    AskingSerializer,
    RedeemingSerializer,
)
from controllers.api.base.idempotency_key import KEY, key_in
from controllers.api.base.long_poll import Answering
from controllers.api.proposals.decisions import key_of
from controllers.models import Admission
from resources.api import parameters
from resources.api.authentication import principal_of
from resources.api.base import View
from resources.api.schema import operation, path, query
from resources.api.serializer_base import Body
from resources.documents.durations import parse_duration
from resources.documents.problems import forbidden, invalid, missing
from resources.tables.models import AgentToken, Resource
from resources.usecases import access
from resources.usecases.access import visible
from resources.usecases.access_rules import agents, api, rules

ID = path("id", "The admission's number.")
WAIT = query("wait", "Wait so long for a person's answer, up to `60s`.")
LONGEST_WAIT = timedelta(seconds=60)


class Asking(View):
    """An endpoint whose writes are an agent's own."""

    tag = "Admission"
    scope = "admission:ask"
    write_scope = "admission:ask"
    refusal = "Only agents ask here: people simply act."


class Admissions(Asking):
    """All admissions."""

    rights = api("admission:ask", POST=agents("admission:ask"))
    parameters = {
        "GET": ("agent", "state", "limit", "cursor"),
        "POST": ("wait",),
    }

    @operation(
        "listAdmissions",
        "List what agents asked, newest first",
        parameters=[
            query("agent", "Only what this agent asked."),
            query("state", "Only those in this state."),
            query("limit", "How many to return.", type=int),
            query("cursor", "`nextCursor` of the page before, with the same filters."),
        ],
        answers={200: AdmissionListSerializer},
        errors=(400,),
    )
    def get(self, request: Request) -> Response:
        """Return one page."""
        most, cursor = parameters.limit(request), parameters.Cursor(request, "admissions")
        rows = narrowed(request, seen_by(request))
        if after := cursor.after():
            rows = rows.filter(pk__lt=int(after))
        kept = list(rows.order_by("-pk")[: most + 1])
        return Response(AdmissionListSerializer.page(kept, most, cursor))

    @operation(
        "askAdmission",
        "May I? Ask before an operation; the answer may be a permit, a no, or a person's",
        parameters=[KEY, WAIT],
        request=AskingSerializer,
        answers={200: AdmissionSerializer},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request) -> Response | StreamingHttpResponse:
        """Answer an agent."""
        token, wait = token_of(request), wait_in(request)
        wanted, now = asked(request, AskingSerializer.read_body(request)), timezone.now()
        found = admission.ask(wanted, token, now)
        return answered(request, found, wait)


class AdmissionRecord(Asking):
    """One admission."""

    rights = api("admission:ask")
    parameters = {"GET": ("wait",)}

    @operation(
        "readAdmission",
        "Read what was answered; the agent itself also finds its permit here",
        parameters=[ID, WAIT],
        answers={200: AdmissionSerializer},
        errors=(400, 404),
    )
    def get(self, request: Request, id: str) -> Response | StreamingHttpResponse:  # noqa: A002
        """Return it, at once or when a person has answered."""
        return answered(request, find(request, id), wait_in(request))


class Redeem(Asking):
    """The use of a permit."""

    rights = rules(POST=agents("admission:ask"))

    @operation(
        "redeemPermit",
        "Use a permit, once, right before the operation it is for",
        parameters=[ID],
        request=RedeemingSerializer,
        answers={200: (AdmissionSerializer, REDEEMED)},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request, id: str) -> Response:  # noqa: A002
        """Redeem it; whatever is wrong with it is recorded."""
        token, key, now = token_of(request), key_of(id, "admission"), timezone.now()
        body = RedeemingSerializer.read_body(request)
        row = admission.redeem(key, body["permit"], asked(request, body), token, now)
        return Response(AdmissionSerializer.show(row))


def seen_by(request: Request) -> QuerySet[Admission]:
    """Return the admissions that a principal may read: people all, an agent its own."""
    principal = principal_of(request)
    rows = access.rows(Admission, principal).select_related("agent", "target")
    if isinstance(principal, AgentToken):
        return rows.filter(agent=principal.agent_id)
    about = visible(Resource.objects.all(), principal)
    return rows.filter(agent__in=about.values("pk"))


def narrowed(request: Request, rows: QuerySet[Admission]) -> QuerySet[Admission]:
    """Apply the filters of a list."""
    if agent := request.query_params.get("agent"):
        rows = rows.filter(agent__name=agent.removeprefix("agent/"))
    if state := request.query_params.get("state"):
        if state not in Admission.State.values:
            raise invalid("There is no such state.", allowed=list(Admission.State.values))
        rows = rows.filter(state=state)
    return rows


def find(request: Request, text: str) -> Admission:
    """Return an admission that the principal may read, or answer 404."""
    key = key_of(text, "admission")
    row = seen_by(request).filter(pk=key).first()
    if row is None:
        raise missing(f"There is no admission/{key}.")
    return row


def token_of(request: Request) -> AgentToken:
    """Return the agent's token; anybody else is refused."""
    if not isinstance(request.auth, AgentToken):
        raise forbidden(Asking.refusal)
    return request.auth


def wait_in(request: Request) -> timedelta:
    """Read how long somebody waits for an answer."""
    given = request.query_params.get("wait")
    if given is None:
        return timedelta(0)
    wait = parse_duration(given)
    if wait is None or wait > LONGEST_WAIT:
        raise invalid("wait is a duration such as 30s, and at most 60s.")
    return wait


def asked(request: Request, body: Body) -> admission.Request:
    """Return a question."""
    return admission.Request(
        body["operation"],
        body["resource"],
        body["claim"],
        body["parameters"],
        body["text"],
        body["why"],
        key_in(request),
    )


def answered(
    request: Request, row: Admission, wait: timedelta
) -> Response | StreamingHttpResponse:
    """Answer at once, or when a person has answered and no later than the wait."""
    own = isinstance(request.auth, AgentToken)
    if row.state != Admission.State.WAITING or not wait:
        return Response(AdmissionSerializer.show(row, permit=own))

    def look() -> dict[str, Any]:
        fresh = Admission.objects.select_related("agent", "target").get(pk=row.pk)
        return AdmissionSerializer.show(fresh, permit=own)

    stream = Answering(request, None, 0, 1, look=look, wait=wait.total_seconds())
    return StreamingHttpResponse(stream.frames(), content_type="application/json")
