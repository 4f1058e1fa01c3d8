"""A machine that is called: a real server that behaves well, badly, or not at all."""

from __future__ import annotations

import socket
import socketserver
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any

from controllers.common import secrets
from controllers.models import Endpoint
from controllers.operations import webhooks
from controllers.operations.webhooks import Reply

OLD = "whsec_" + "b2xkIHNlY3JldCBvZiAzMiBieXRlcyBsb25nIG9rYXk="
NEW = "whsec_" + "bmV3IHNlY3JldCBvZiAzMiBieXRlcyBsb25nIG9rYXk="
BODY = {"operation": "restart", "target": "agent/robin", "parameters": {}}
KEY = "a" * 64
FLOOD = 64 * 1024 * 1024


class Receiver(socketserver.ThreadingTCPServer):
    """Remembers what it was sent, and answers as its mode says."""

    allow_reuse_address = True
    daemon_threads = True
    # Nobody waits for an answer that never ends.
    block_on_close = False

    def __init__(self, mode: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.mode = mode
        self.received: list[tuple[dict[str, str], bytes]] = []
        self.written = 0
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_address[1]}/hook"

    def handle_error(self, *_: Any) -> None:
        """Stay quiet: to be cut off is what many tests are about."""


class Handler(BaseHTTPRequestHandler):
    """One call."""

    server: Receiver

    def do_POST(self) -> None:
        """Take a message, then behave."""
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.received.append(({k.lower(): v for k, v in self.headers.items()}, body))
        getattr(self, f"answer_{self.server.mode}", self.answer_status)()

    def do_GET(self) -> None:
        """Note that somebody followed a redirect."""
        self.server.received.append(({"followed": "yes"}, b""))
        self.answer_status()

    def answer_status(self) -> None:
        """Answer with a status, `ok` being 200."""
        status = 200 if self.server.mode == "ok" else int(self.server.mode)
        self.send_response(status)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def answer_hang(self) -> None:
        """Never answer."""
        self.server.closing.wait(30)

    def answer_drip(self) -> None:
        """Answer a header that never ends, one letter at a time."""
        for letter in b"HTTP/1.1 200 " + b"O" * 1000:
            self.wfile.write(bytes([letter]))
            if self.server.closing.wait(0.05):
                return

    def answer_drip_body(self) -> None:
        """Answer well, with a body that comes one letter at a time."""
        self.send_response(200)
        self.send_header("content-length", "1000")
        self.end_headers()
        while not self.server.closing.wait(0.05):
            self.wfile.write(b"x")

    def answer_flood(self) -> None:
        """Answer well, with far more than anybody asked for."""
        self.send_response(200)
        self.end_headers()
        while self.server.written < FLOOD and not self.server.closing.is_set():
            self.server.written += self.wfile.write(b"x" * 65536)

    def answer_reset(self) -> None:
        """Take the message and cut the line."""
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()

    def answer_redirect(self) -> None:
        """Point elsewhere."""
        self.send_response(302)
        self.send_header("location", self.server.url)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Stay quiet."""


@contextmanager
def listening(mode: str) -> Iterator[Receiver]:
    """Run a receiver for the length of a test."""
    with Receiver(mode) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.closing.set()
            server.shutdown()
            thread.join()


def settle(server: Receiver) -> int:
    """Return how much a flood wrote, once it has stopped growing."""
    written = -1
    while written != server.written:
        written = server.written
        time.sleep(0.2)
    return written


def call(url: str, *, seconds: float = 5, keys: tuple[str, ...] = (NEW,), **body: Any) -> Reply:
    """Call an address, with all the time it may take."""
    now = datetime.now(UTC)
    endpoint = Endpoint(name="ops", url=url, secret=secrets.encrypt(" ".join(keys)))
    deadline = now + timedelta(seconds=seconds)
    return webhooks.call(endpoint, body or BODY, key=KEY, deadline=deadline, now=now)
