"""An open page, as its socket sees it, and something that every page shows."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlencode

import orjson
from django.db import transaction
from django.utils import timezone
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from controllers.models import Judgement
from resources.tables.models import Resource
from tests.api.conftest import apply, domain

# A busy machine is not a slow program.
PATIENCE = 30.0
Message = dict[str, Any]


class Tab:
    """A socket of a page, and what it was told."""

    def __init__(self, socket: ClientConnection) -> None:
        self.stack = ExitStack()
        self.socket = self.stack.enter_context(socket)

    def hear(self, patience: float = PATIENCE) -> Message:
        """Return the next thing the page is told, which is more than that we are still here."""
        until = time.monotonic() + patience
        while True:
            text = self.socket.recv(timeout=max(0.0, until - time.monotonic()))
            message: Message = orjson.loads(text)
            if "html" in message:
                return message

    def hear_until(self, html: str, patience: float = PATIENCE) -> list[Message]:
        """Listen until something that contains a text arrives, and return all that was told."""
        heard = [self.hear(patience)]
        while html not in heard[-1]["html"]:
            heard.append(self.hear(patience))
        return heard

    def goes(self, page: str, since: int | None = None) -> None:
        """Say that the page has become another one."""
        self.socket.send(orjson.dumps({"page": page, "since": since}).decode())

    def ending(self, patience: float = PATIENCE) -> int:
        """Wait for the end and return its code."""
        try:
            while True:
                self.socket.recv(timeout=patience)
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else 1006

    def close(self) -> None:
        """Leave."""
        self.stack.close()


def opened(
    url: str,
    session: str,
    page: str = "/shortcuts",
    *,
    since: object = None,
    origin: str | None = "",
    path: str = "/live",
) -> Tab:
    """Open the socket of a page; the origin is the site itself unless told."""
    asked = {"page": page} | ({} if since is None else {"since": since})
    address = f"{url.replace('http', 'ws')}{path}?{urlencode(asked)}"
    headers = {"Cookie": f"sessionid={session}"} if session else {}
    start = url if origin == "" else origin
    socket = connect(
        address,
        origin=start,  # type: ignore[arg-type]
        additional_headers=headers,
        proxy=None,
        open_timeout=60,
    )
    return Tab(socket)


def measure(name: str) -> None:
    """Add a domain that is measured: the navigation of every page shows it."""
    now = timezone.now()
    with transaction.atomic():
        (row,) = apply(domain(name))
        Judgement.objects.create(
            controller=Resource.objects.get(kind="Domain", name="finance"),
            resource=row,
            generation=1,
            version=row.resource_version,
            score=0.5,
            drifted=False,
            status="True",
            since=now,
            evaluated_at=now,
        )
