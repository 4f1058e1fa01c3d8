"""The ASGI application: Django behind a cap on what a request may carry."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson
from django.core.asgi import get_asgi_application

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ioa_site.settings")
django_application = get_asgi_application()

IMPORT_PATHS = ("/api/v1/apply", "/api/v1/observations")


class TooLarge(Exception):
    """The body passes its limit."""


def limit_for(path: str) -> int:
    """Return how many bytes a request to this path may carry."""
    from django.conf import settings

    limit: int = settings.IMPORT_LIMIT if path in IMPORT_PATHS else settings.BODY_LIMIT
    return limit


def limited(application: Application) -> Application:
    """Cut off a body that passes its limit while it arrives: Django would spool it all first."""

    async def answer(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        left = limit_for(scope["path"])
        started = False

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise TooLarge
            return message

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await application(scope, counted, watched)
        except TooLarge:
            if not started:
                await refuse(send)

    return answer


async def refuse(send: Send) -> None:
    """Answer 413 as a problem."""
    body = orjson.dumps(
        {
            "type": "/problems/too-large",
            "title": "The body is too large",
            "status": 413,
            "detail": "Send less at once.",
        }
    )
    headers = [(b"content-type", b"application/problem+json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})


application = limited(django_application)
