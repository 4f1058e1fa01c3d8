"""The socket of an open page: it says where it is, and is told what is new there."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.http import parse_cookie
from django.http.request import split_domain_port, validate_host
from django.utils import timezone

from controllers.web.live import session_check
from controllers.web.live.hub import SIGNED_OUT, hub
from controllers.web.live.subscription import Seat, seat
from resources.documents.problems import Problem, invalid

PATH = "/live"
MOST_SOCKETS = 2_000
LONGEST_MESSAGE = 4_096
# A page that leaves so many messages unread is cut off; it comes back and catches up.
MOST_UNREAD = 16
NOT_UNDERSTOOD = 1008
TOO_LONG = 1009
COME_BACK_LATER = 1013


class LiveSocket(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One open page of somebody who is signed in."""

    # No layer: only the hub listens to other processes, once for all sockets.
    channel_layer_alias = ""

    seat: Seat
    session: str
    writer: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Let in who comes from our own pages and is signed in; tell everybody else why not."""
        headers = {name: value.decode("latin-1") for name, value in self.scope["headers"]}
        if self.scope["path"] != PATH or not is_same_origin(headers):
            await self.close()
            return
        await self.accept()
        refusal = await self.refusal(headers)
        if refusal is not None:
            await self.close(refusal)
            return
        self.unread: asyncio.Queue[str | int] = asyncio.Queue(MOST_UNREAD)
        self.writer = asyncio.create_task(self.write())
        hub.join(self)

    async def refusal(self, headers: Mapping[bytes, str]) -> int | None:
        """Read who this is and where they look; return the code that says why not, if so."""
        self.session = parse_cookie(headers.get(b"cookie", "")).get(
            settings.SESSION_COOKIE_NAME, ""
        )
        asked = parse_qs(self.scope["query_string"].decode("latin-1"))
        try:
            self.seat = seat(asked.get("page", [""])[0], asked.get("since", [None])[0])
        except Problem:
            return NOT_UNDERSTOOD
        if len(hub.members) >= MOST_SOCKETS:
            return COME_BACK_LATER
        known = await asyncio.to_thread(session_check.welcome, {self.session}, timezone.now())
        if self.session not in known:
            return SIGNED_OUT
        self.seat = self.seat.seen_with(known[self.session])
        return None

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Hear that the page has become another one, without a new socket."""
        if self.writer is None:
            return
        try:
            self.seat = moved(text_data or "")._replace(scope=self.seat.scope)
        except Problem:
            self.end(TOO_LONG if len(text_data or "") > LONGEST_MESSAGE else NOT_UNDERSTOOD)
        else:
            hub.woken.set()

    async def disconnect(self, code: int) -> None:
        """Forget the page."""
        hub.leave(self)
        if self.writer is not None:
            self.writer.cancel()

    def tell(self, text: str) -> None:
        """Say something to the page; one that does not listen is cut off."""
        try:
            self.unread.put_nowait(text)
        except asyncio.QueueFull:
            self.end(COME_BACK_LATER)

    def end(self, code: int) -> None:
        """Close the socket with a code, before anything that waits."""
        hub.leave(self)
        while not self.unread.empty():
            self.unread.get_nowait()
        self.unread.put_nowait(code)

    async def write(self) -> None:
        """Send what is to be said, as fast as the page takes it."""
        # The page may go away at any moment; `disconnect` follows.
        with contextlib.suppress(OSError):
            while True:
                said = await self.unread.get()
                if isinstance(said, int):
                    await self.close(said)
                    return
                await self.send(text_data=said)


def moved(text: str) -> Seat:
    """Read where a page has gone."""
    if len(text) > LONGEST_MESSAGE:
        raise invalid("That is too long.")
    try:
        said: Any = orjson.loads(text)
    except ValueError:
        raise invalid("That is not JSON.") from None
    if not isinstance(said, dict):
        raise invalid("That is not an object.")
    return seat(said.get("page"), said.get("since"))


def is_same_origin(headers: Mapping[bytes, str]) -> bool:
    """Tell whether a socket was opened by a page of this site: browsers send cookies to anybody.

    The port counts too: whatever else runs on this machine has the same cookies.
    """
    origin, host = headers.get(b"origin", ""), headers.get(b"host", "")
    if origin in getattr(settings, "CSRF_TRUSTED_ORIGINS", ()):
        return True
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        return False
    return urlsplit(origin).netloc.lower() == host.lower()
