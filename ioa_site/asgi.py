"""The ASGI application: Django behind a cap on what a request may carry, and live sockets."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import orjson
from django.core.asgi import get_asgi_application
from django.utils.module_loading import import_string

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ioa_site.settings")
django_application = get_asgi_application()
# Named, not imported: models can be imported only now.
live_application = import_string("controllers.web.live.sockets.LiveSocket").as_asgi()

IMPORT_PATHS = (
    "/api/v1/apply",
    "/api/v1/observations",
    "/api/v1/telemetry",
    "/api/v1/usage",
    "/welcome/apply",
)
# How much more of a body is read, and for how long, before it is cut off.
MOST_DRAINED = 32 * 1024 * 1024
DRAIN_SECONDS = 5.0


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
        left = limit_for(scope["path"])
        started, more = False, True

        async def counted() -> Message:
            nonlocal left, more
            message = await receive()
            left, more = left - len(message.get("body", b"")), bool(message.get("more_body"))
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
            if more:
                await drain(receive)
            if not started:
                await refuse(send)

    return answer


async def drain(receive: Receive) -> None:
    """Read on and keep nothing: a connection closed on unread bytes takes the answer along."""
    left = MOST_DRAINED
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body"):
                    return


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


def routed(web: Application, live: Application) -> Application:
    """Hand sockets to one application and everything else to the other."""

    async def answer(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        await (live if scope["type"] == "websocket" else web)(scope, receive, send)

    return answer


application = routed(limited(django_application), live_application)
