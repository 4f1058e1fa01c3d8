"""The floor of live pages: a server that sends one text to every socket, and nothing else."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn

# About as long as what our own pages are told of one change.
TEXT = '{"number": 1, "html": "' + "x" * 2_000 + '"}'
sockets: set[asyncio.Queue[str]] = set()

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


async def application(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Hold sockets open; whoever posts makes all of them hear the text."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await hold(send)
        return
    for each in sockets:
        each.put_nowait(TEXT)
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def hold(send: Send) -> None:
    """Send whatever is put into the queue of one socket."""
    mine: asyncio.Queue[str] = asyncio.Queue()
    sockets.add(mine)
    while True:
        await send({"type": "websocket.send", "text": await mine.get()})


if __name__ == "__main__":
    uvicorn.run(
        application,
        port=int(sys.argv[1]),
        lifespan="off",
        log_level="warning",
        timeout_graceful_shutdown=1,
        ws="websockets-sansio",
        ws_per_message_deflate=False,
    )
