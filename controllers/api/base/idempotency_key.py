"""`Idempotency-Key`: what creates something is done once, however often it is sent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from rest_framework.request import Request
from rest_framework.response import Response

from controllers.common import idempotency
from resources.api.authentication import actor_of
from resources.api.schema import header
from resources.documents.canonical import digest
from resources.documents.problems import invalid

LONGEST_KEY = 200
KEY = header(
    "Idempotency-Key", "A name of your request: repeated, it gets the same answer.", maxLength=200
)


def key_in(request: Request) -> str:
    """Read what a caller names its request by; repeated, it does nothing new."""
    key = request.headers.get("Idempotency-Key", "")
    if len(key) > LONGEST_KEY or not key.isprintable():
        raise invalid(f"Idempotency-Key has up to {LONGEST_KEY} printable characters.")
    return key


def once(
    request: Request, say: Callable[[], idempotency.IdempotentResponse], now: datetime
) -> Response:
    """Answer a request, or repeat the answer that one of this name got."""
    key = key_in(request)
    asked = digest([request.method, request.path, request.data]) if key else ""
    said = idempotency.once(idempotency.Named(str(actor_of(request)), key, asked), say, now)
    return Response(said.body, status=said.status)
