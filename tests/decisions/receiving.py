"""A machine outside that carries operations out: a real server that remembers what it heard."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson

from controllers.common import secrets
from controllers.models import Endpoint
from controllers.operations.endpoints import new_secret
from tests.conftest import Clock


class Receiver:
    """What arrived, by key; each key has one effect, however often it is sent."""

    def __init__(self) -> None:
        self.url = ""
        self.calls: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        # What it answers next; afterwards, and usually, it says yes.
        self.answers: list[int] = []
        # How long it thinks.
        self.seconds = 0.0
        self.lock = threading.Lock()

    @property
    def effects(self) -> set[str]:
        """The keys it did something for."""
        return set(self.calls)

    def hear(self, headers: dict[str, str], body: dict[str, Any]) -> int:
        """Remember a call, and say what to answer."""
        with self.lock:
            answer = self.answers.pop(0) if self.answers else 200
            self.headers.append(headers)
            self.bodies.append(body)
            if answer < 400 or answer >= 500:
                self.calls[headers["webhook-id"]] += 1
        time.sleep(self.seconds)
        return answer


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Run a receiver on this machine."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status = receiver.hear(headers, body)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def endpoint(clock: Clock, receiver: Receiver, *operations: str, name: str = "robot") -> Endpoint:
    """Let a receiver take some operations."""
    return Endpoint.objects.create(
        name=name,
        url=receiver.url,
        secret=secrets.encrypt(new_secret()),
        operations=list(operations),
        changed_at=clock.now,
        changed_by="system/ioa",
    )
