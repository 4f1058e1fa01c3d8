"""`Idempotency-Key`: what creates something is done once, however often it is sent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from rest_framework.request import Request
from rest_framework.response import Response

from controllers import repeats
from controllers.api.reading import key_in
from resources.api.authentication import actor_of
from resources.api.problems import Refused
from resources.api.schema import header
from resources.canonical import digest

KEY = header(
    "Idempotency-Key", "A name of your request: repeated, it gets the same answer.", maxLength=200
)


def once(request: Request, say: Callable[[], repeats.Said], now: datetime) -> Response:
    """Answer a request, or repeat the answer that one of this name got."""
    key = key_in(request)
    asked = digest([request.method, request.path, request.data]) if key else ""
    try:
        said = repeats.once(repeats.Named(str(actor_of(request)), key, asked), say, now)
    except repeats.Mistaken as error:
        raise Refused(409, "conflict", str(error)) from None
    return Response(said.body, status=said.status)
