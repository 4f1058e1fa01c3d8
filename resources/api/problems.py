"""Problems as the API writes them (RFC 9457): what is wrong, where, and what would be right."""

from __future__ import annotations

import logging
from typing import Any

import orjson
from django.core.exceptions import RequestDataTooBig
from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpResponse
from django.http.request import UnreadablePostError
from rest_framework import exceptions

from resources.documents.problems import (
    BUSY,
    ERROR,
    FORBIDDEN,
    INVALID,
    METHOD_NOT_ALLOWED,
    NOT_ACCEPTABLE,
    NOT_FOUND,
    NOT_SIGNED_IN,
    TOO_LARGE,
    TOO_OFTEN,
    UNAVAILABLE,
    UNREADABLE,
    UNSUPPORTED_MEDIA_TYPE,
    Problem,
    invalid,
    missing,
    wrong,
)
from resources.documents.reader import Unreadable
from resources.observability import metrics
from resources.store.store import Stale
from resources.tables import database_errors

logger = logging.getLogger("ioa.api")

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = "1"
BY_STATUS = {
    400: INVALID,
    401: NOT_SIGNED_IN,
    403: FORBIDDEN,
    404: NOT_FOUND,
    405: METHOD_NOT_ALLOWED,
    406: NOT_ACCEPTABLE,
    415: UNSUPPORTED_MEDIA_TYPE,
    429: TOO_OFTEN,
}


def answer(error: Exception, context: dict[str, Any]) -> HttpResponse:
    """Turn any exception of a view into a problem; this is REST framework's handler."""
    problem = explained(error, context)
    if problem is None:
        logger.error("A request failed", exc_info=error)
        got_request_exception.send(sender=None, request=context["request"])
        problem = Problem(ERROR, "Nothing was written. The log says more.")
    response = respond(problem)
    if problem.code in (BUSY, UNAVAILABLE):
        response["Retry-After"] = RETRY_SECONDS
    if isinstance(error, exceptions.Throttled):
        response["Retry-After"] = str(pause(error))
    if header := getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = header
    return response


def respond(problem: Problem) -> HttpResponse:
    """Write a problem document."""
    body = document(problem)
    return HttpResponse(orjson.dumps(body), status=problem.status, content_type=MEDIA_TYPE)


def document(problem: Problem) -> dict[str, Any]:
    """Return a problem as plain values."""
    place = {"pointer": problem.pointer} if problem.pointer is not None else {}
    return {
        "type": f"/problems/{problem.code}",
        "title": problem.title,
        "status": problem.status,
        "detail": problem.message,
        **place,
        **problem.facts,
    }


def explained(error: Exception, context: dict[str, Any]) -> Problem | None:
    """Return what to say about an exception; nothing when it is a fault of ours."""
    match error:
        case Problem():
            return error
        case Unreadable(problems=faults):
            return wrong(faults, code=UNREADABLE)
        case Stale():
            return Problem(BUSY, str(error))
        case exceptions.APIException():
            return framework(error, context)
        case _:
            return unforeseen(error)


def unforeseen(error: Exception) -> Problem | None:
    """Return what to say when the request or the database breaks off before a use case is done."""
    match error:
        case RequestDataTooBig():
            return Problem(TOO_LARGE, "Send less at once.")
        case UnreadablePostError():
            return invalid(str(error))
        case Http404():
            return missing("There is nothing here.")
        case InterfaceError() | OperationalError():
            logger.warning("The database refused: %s", error)
            metrics.OUTAGES.inc()
            return Problem(UNAVAILABLE, database_errors.sentence(error))
        case _:
            return None


def framework(error: exceptions.APIException, context: dict[str, Any]) -> Problem:
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
    return Problem(BY_STATUS[error.status_code], detail, **members)


def pause(error: exceptions.Throttled) -> int:
    """Return for how many seconds a caller should rest."""
    return max(1, int(getattr(error, "wait", None) or 0))
