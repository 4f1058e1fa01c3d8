"""`/admission`: agents ask before they act, and redeem the permits they get."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers import admission
from controllers.api import admission_documents as documents
from controllers.api import admission_examples as examples
from controllers.api.decisions import body_of, key_of
from controllers.api.reading import key_in
from controllers.api.repeating import KEY
from controllers.api.spending import COSTS, claim_in, text
from controllers.api.waiting import Answering
from controllers.models import Admission
from resources import access
from resources.access import visible
from resources.api import parameters
from resources.api.authentication import principal_of
from resources.api.base import View
from resources.api.problems import Refused, forbidden, invalid, not_found
from resources.api.schema import operation, path, query
from resources.durations import parse_duration
from resources.models import AgentToken, Resource

ID = path("id", "The admission's number.")
WAIT = query("wait", "Wait so long for a person's answer, up to `60s`.")
FIELDS = ("operation", "resource", "parameters", "text", "why", *COSTS)
LONGEST_WAIT = timedelta(seconds=60)
LONGEST_TEXT = 64 * 1024
OPERATION = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,99}")
REFERENCE = re.compile(r"[a-z]{1,32}/[A-Za-z0-9][A-Za-z0-9._-]{0,252}")


class Asking(View):
    """An endpoint whose writes are an agent's own."""

    tag = "Admission"
    scope = "admission:ask"
    write_scope = "admission:ask"
    refusal = "Only agents ask here: people simply act."


class Admissions(Asking):
    """All admissions."""

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
        answers={200: ("AdmissionList", examples.ADMISSIONS)},
        errors=(400,),
    )
    def get(self, request: Request) -> Response:
        """Return one page."""
        most, cursor = parameters.limit(request), parameters.Cursor(request, "admissions")
        rows = narrowed(request, seen_by(request))
        if after := cursor.after():
            rows = rows.filter(pk__lt=int(after))
        kept = list(rows.order_by("-pk")[: most + 1])
        page: dict[str, Any] = {"items": [documents.admission(each) for each in kept[:most]]}
        if len(kept) > most:
            page["nextCursor"] = cursor.following(str(kept[most - 1].pk))
        return Response(page)

    @operation(
        "askAdmission",
        "May I? Ask before an operation; the answer may be a permit, a no, or a person's",
        parameters=[KEY, WAIT],
        request=("Asking", examples.ASKING),
        answers={200: ("Admission", examples.ALLOWED)},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request) -> Response | StreamingHttpResponse:
        """Answer an agent."""
        token, wait = token_of(request), wait_in(request)
        wanted, now = asked(request, body_of(request, FIELDS)), timezone.now()
        with as_problems():
            found = admission.ask(wanted, token, now)
        return answered(request, found, wait)


class AdmissionRecord(Asking):
    """One admission."""

    parameters = {"GET": ("wait",)}

    @operation(
        "readAdmission",
        "Read what was answered; the agent itself also finds its permit here",
        parameters=[ID, WAIT],
        answers={200: ("Admission", examples.ALLOWED)},
        errors=(400, 404),
    )
    def get(self, request: Request, id: str) -> Response | StreamingHttpResponse:  # noqa: A002
        """Return it, at once or when a person has answered."""
        return answered(request, find(request, id), wait_in(request))


class Redeem(Asking):
    """The use of a permit."""

    @operation(
        "redeemPermit",
        "Use a permit, once, right before the operation it is for",
        parameters=[ID],
        request=("Redeeming", examples.REDEEMING),
        answers={200: ("Admission", examples.REDEEMED)},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request, id: str) -> Response:  # noqa: A002
        """Redeem it; whatever is wrong with it is recorded."""
        token, key, now = token_of(request), key_of(id, "admission"), timezone.now()
        body = body_of(request, (*FIELDS, "permit"))
        permit = text(body, "permit", 1_000)
        if not permit:
            raise invalid("Send the permit.", "/permit")
        with as_problems():
            row = admission.redeem(key, permit, asked(request, body), token, now)
        return Response(documents.admission(row))


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
        raise not_found(f"There is no admission/{key}.")
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


def asked(request: Request, body: dict[str, Any]) -> admission.Request:
    """Read a question."""
    name, resource = text(body, "operation", 100), text(body, "resource", 300)
    if not OPERATION.fullmatch(name):
        raise invalid("operation is a word such as read or summarise-feedback.", "/operation")
    if not REFERENCE.fullmatch(resource):
        detail = "resource is a reference such as agent/scribe or asset/customer-ledger."
        raise invalid(detail, "/resource")
    given = body.get("parameters", {})
    if not isinstance(given, dict):
        raise invalid("parameters is an object.", "/parameters")
    passed = body.get("text", "")
    if not isinstance(passed, str) or len(passed) > LONGEST_TEXT:
        raise invalid(f"text is a text of up to {LONGEST_TEXT:,} characters.", "/text")
    return admission.Request(
        name, resource, claim_in(body), given, passed, text(body, "why", 2_000), key_in(request)
    )


def answered(
    request: Request, row: Admission, wait: timedelta
) -> Response | StreamingHttpResponse:
    """Answer at once, or when a person has answered and no later than the wait."""
    own = isinstance(request.auth, AgentToken)
    if row.state != Admission.State.WAITING or not wait:
        return Response(documents.admission(row, permit=own))

    def look() -> dict[str, Any]:
        fresh = Admission.objects.select_related("agent", "target").get(pk=row.pk)
        return documents.admission(fresh, permit=own)

    stream = Answering(request, None, 0, 1, look=look, wait=wait.total_seconds())
    return StreamingHttpResponse(stream.frames(), content_type="application/json")


@contextmanager
def as_problems() -> Iterator[None]:
    """Answer what the use cases refuse."""
    try:
        yield
    except admission.Missing as error:
        raise not_found(str(error)) from None
    except admission.NotPermitted as error:
        raise Refused(403, "forbidden", str(error), code=error.code) from None
    except admission.Conflict as error:
        raise Refused(409, "conflict", str(error)) from None
