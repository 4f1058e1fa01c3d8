"""Every error as a problem document (RFC 9457): what is wrong, where, and what would be right."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import orjson
from django.core.exceptions import RequestDataTooBig
from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpResponse
from django.http.request import UnreadablePostError
from rest_framework import exceptions

from resources import history, metrics, outages, selectors, watching
from resources.deletion import Blocked, Conflict, NotFound, NotYours
from resources.kind import Problem
from resources.reader import Unreadable
from resources.store import Stale

logger = logging.getLogger("ioa.api")

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = "1"
TITLES = {
    "invalid": "The request is not valid",
    "unreadable": "The body cannot be read",
    "not-signed-in": "Nobody is signed in",
    "forbidden": "This is not allowed",
    "confirm": "Confirm first that it is you",
    "not-found": "This does not exist",
    "method-not-allowed": "This method is not allowed here",
    "not-acceptable": "No such format",
    "conflict": "Somebody else changed this first",
    "changed": "It is no longer what you saw",
    "decided": "It has been decided",
    "expired": "It is too late",
    "blocked": "Other resources stand in the way",
    "refused": "This cannot be done as things are",
    "stopped": "A person said no",
    "stale-epoch": "The holds have changed",
    "taken": "It is not, or no longer, yours",
    "fenced": "Another process has taken over",
    "busy": "Too much is changing at once",
    "gone": "This is no longer kept",
    "too-large": "The body is too large",
    "unsupported-media-type": "This media type is not understood",
    "precondition-required": "Say which version you have seen",
    "too-often": "You call too often",
    "error": "Something went wrong here",
    "unavailable": "The database does not answer in time",
}
BY_STATUS = {
    400: "invalid",
    401: "not-signed-in",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    415: "unsupported-media-type",
    429: "too-often",
}


class Refused(Exception):
    """The request is answered with a problem; `members` are its further fields."""

    def __init__(self, status: int, slug: str, detail: str, **members: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.slug = slug
        self.detail = detail
        self.members = members


def invalid(detail: str, pointer: str | None = None, **members: Any) -> Refused:
    """Say that a request is not valid, and where."""
    place = {"pointer": pointer} if pointer is not None else {}
    return Refused(400, "invalid", detail, **place, **members)


def forbidden(detail: str) -> Refused:
    """Say that a principal may not do this."""
    return Refused(403, "forbidden", detail)


def not_found(detail: str, **members: Any) -> Refused:
    """Say that something does not exist, or is not to be seen."""
    return Refused(404, "not-found", detail, **members)


def conflict(detail: str, current: int | None) -> Refused:
    """Say that the version does not fit, and which one would."""
    members = {"currentVersion": str(current)} if current is not None else {}
    return Refused(409, "conflict", detail, **members)


def wrong(problems: Iterable[Problem], *, slug: str = "invalid", within: str = "") -> Refused:
    """Refuse a document with everything that is wrong in it."""
    errors = [as_error(each, within) for each in problems]
    first = errors[0]
    detail = f"{first['pointer']}: {first['detail']}" if first["pointer"] else first["detail"]
    return Refused(400, slug, detail, pointer=first["pointer"], errors=errors)


def as_error(problem: Problem, within: str = "") -> dict[str, str]:
    """Write one problem; `within` is the part of the document that the body is."""
    return {"pointer": problem.pointer.removeprefix(within), "detail": problem.message}


def answer(error: Exception, context: dict[str, Any]) -> HttpResponse:
    """Turn any exception of a view into a problem; this is REST framework's handler."""
    refused = explained(error, context)
    if refused is None:
        logger.error("A request failed", exc_info=error)
        got_request_exception.send(sender=None, request=context["request"])
        refused = Refused(500, "error", "Nothing was written. The log says more.")
    response = respond(refused)
    if refused.slug in ("busy", "unavailable"):
        response["Retry-After"] = RETRY_SECONDS
    if isinstance(error, exceptions.Throttled):
        response["Retry-After"] = str(pause(error))
    if header := getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = header
    return response


def respond(refused: Refused) -> HttpResponse:
    """Write a problem document."""
    body = document(refused)
    return HttpResponse(orjson.dumps(body), status=refused.status, content_type=MEDIA_TYPE)


def document(refused: Refused) -> dict[str, Any]:
    """Return a problem as plain values."""
    return {
        "type": f"/problems/{refused.slug}",
        "title": TITLES[refused.slug],
        "status": refused.status,
        "detail": refused.detail,
        **refused.members,
    }


def explained(error: Exception, context: dict[str, Any]) -> Refused | None:
    """Return what to say about an exception; nothing when it is a fault of ours."""
    match error:
        case Refused():
            return error
        case Unreadable(problems=problems):
            return wrong(problems, slug="unreadable")
        case exceptions.APIException():
            return framework(error, context)
        case RequestDataTooBig():
            return Refused(413, "too-large", "Send less at once.")
        case selectors.Invalid() | UnreadablePostError():
            return invalid(str(error))
        case Http404():
            return not_found("There is nothing here.")
        case InterfaceError() | OperationalError():
            logger.warning("The database refused: %s", error)
            metrics.OUTAGES.inc()
            return Refused(503, "unavailable", outages.sentence(error))
        case _:
            return stored(error)


def stored(error: Exception) -> Refused | None:
    """Return what to say about an answer of the store."""
    match error:
        case NotFound():
            return not_found(str(error))
        case NotYours():
            return forbidden(str(error))
        case Conflict(current=current):
            return conflict(str(error), current)
        case Blocked(dependents=dependents):
            return Refused(409, "blocked", str(error), dependents=dependents)
        case Stale():
            return Refused(409, "busy", str(error))
        case history.Dropped() | watching.Compacted():
            return Refused(410, "gone", str(error))
        case _:
            return None


def framework(error: exceptions.APIException, context: dict[str, Any]) -> Refused:
    """Say in our words what REST framework found."""
    view = context["view"]
    members: dict[str, Any] = {}
    detail = str(error.detail)
    if isinstance(error, exceptions.NotAuthenticated):
        detail = "Sign in, or send an agent's token as Authorization: Bearer ioa_…"
    elif isinstance(error, exceptions.MethodNotAllowed):
        members["allowed"] = view.allowed_methods
        detail = f"Use {' or '.join(view.allowed_methods)}."
    elif isinstance(error, exceptions.UnsupportedMediaType):
        members["allowed"] = [parser.media_type for parser in view.get_parsers()]
        detail = f"Send {' or '.join(members['allowed'])}."
    elif isinstance(error, exceptions.NotAcceptable):
        members["allowed"] = [renderer.media_type for renderer in view.get_renderers()]
        detail = f"Accept {' or '.join(members['allowed'])}."
    elif isinstance(error, exceptions.Throttled):
        detail = f"Nothing was done. Try again in {pause(error)} s, and send more at once."
    return Refused(error.status_code, BY_STATUS[error.status_code], detail, **members)


def pause(error: exceptions.Throttled) -> int:
    """Return for how many seconds a caller should rest."""
    return max(1, int(getattr(error, "wait", None) or 0))
