"""A real service on this machine that takes messages, refuses them, hangs and recovers."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson

from controllers.common import secrets
from controllers.models import Channel
from controllers.notifications.delivery import sender, services
from tests.conftest import Clock

PATIENCE = 20

# Apprise loads all of its services at the first address it reads; some use old modules.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    services.opened("json://127.0.0.1/")


class Service(ThreadingHTTPServer):
    """Keeps what arrived; `status` is what it answers, once `free` is set."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.arrived: list[dict[str, Any]] = []
        self.status = 200
        # Titles it answers with 400, however often they come.
        self.refuses: set[str] = set()
        self.free = threading.Event()
        self.free.set()

    @property
    def address(self) -> str:
        return f"json://127.0.0.1:{self.server_port}/hook-abcd"

    @property
    def titles(self) -> list[str]:
        return [each["title"] for each in self.arrived]

    def channel(self, clock: Clock, name: str = "ops", **given: Any) -> Channel:
        """Put this service behind a name."""
        row = {
            "name": name,
            "address": secrets.encrypt(self.address),
            "hint": "json://…abcd",
            "changed_at": clock.now,
            "changed_by": "person/admin",
        } | given
        return Channel.objects.create(**row)


class Handler(BaseHTTPRequestHandler):
    """Answers as its service says."""

    server: Service

    def do_POST(self) -> None:
        body = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = 400 if body["title"] in self.server.refuses else self.server.status
        self.server.free.wait(PATIENCE)
        if status == 200:
            self.server.arrived.append(body)
        self.send_response(status)
        # Where a service that asks to go elsewhere sends people.
        self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def running() -> Iterator[Service]:
    """Run a service."""
    with Service() as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.02], daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.free.set()
            server.shutdown()
            thread.join(PATIENCE)


def send(clock: Clock, **options: Any) -> int:
    """Send what is due and wait until every lane is empty."""
    sent = sender.send_due(clock.now, **options)
    drain()
    return sent


def drain() -> None:
    """Wait for the lanes."""
    for lane in sender.lanes.values():
        lane.join(PATIENCE)
        assert not lane.is_alive(), "A lane hangs."
