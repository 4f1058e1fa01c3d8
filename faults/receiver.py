"""A machine outside that carries operations out, in a good mood or a bad one."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from faults.history import History, moment

MODES = ("ok", "hang", "drip", "flood", "reset", "redirect", "error", "lost")
HANG_SECONDS = 14.0
FLOOD_BYTES = 64 * 1024 * 1024


class Receiver:
    """Hears calls on a port, writes each down, and does what its mood says.

    An effect happens once for each key: what is heard again under the same key is only answered.
    """

    def __init__(self, history: History) -> None:
        self.history, self.mode = history, "ok"
        self.seen: set[str] = set()
        self.lock = threading.Lock()
        self.server = Quiet(("127.0.0.1", 0), self)
        self.thread = threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True
        )
        self.thread.start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server.server_port}/"

    def hear(self, key: str, body: dict[str, Any]) -> str:
        """Write a call down before anything is answered, and say in which mood it is answered."""
        data, mode = body.get("data", {}), self.mode
        with self.lock:
            effect = key not in self.seen and mode not in ("redirect", "error")
            if effect:
                self.seen.add(key)
        self.history.add(
            at=moment(), wall=time.time(), key=key, fence=data.get("fence"),
            epoch=data.get("epoch"), proposal=data.get("proposal"),
            operation=data.get("operation"), effect=effect, mode=mode,
        )  # fmt: skip
        return mode

    def close(self) -> None:
        """Hear no more."""
        self.server.shutdown()
        self.server.server_close()


class Quiet(ThreadingHTTPServer):
    """Does not mind callers that went away."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], receiver: Receiver) -> None:
        super().__init__(address, Handler)
        self.receiver = receiver

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a worker that was killed hangs up."""


class Handler(BaseHTTPRequestHandler):
    """One caller."""

    server: Quiet

    def do_POST(self) -> None:
        """Hear a call, and answer in the mood of the moment."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        mode = self.server.receiver.hear(self.headers["webhook-id"], body)
        getattr(self, f"as_{mode}")()

    def as_ok(self) -> None:
        """Say yes."""
        self.answer(200)

    def as_error(self) -> None:
        """Say that something is broken."""
        self.answer(503)

    def as_redirect(self) -> None:
        """Send elsewhere: back here."""
        self.send_response(302)
        self.send_header("Location", self.server.receiver.url)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def as_hang(self) -> None:
        """Say nothing for longer than anybody waits."""
        time.sleep(HANG_SECONDS)

    def as_drip(self) -> None:
        """Never come to the end of the first lines."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(int(HANG_SECONDS / 0.2)):
            self.wfile.write(b"X-Drip-%d: 1\r\n" % number)
            time.sleep(0.2)

    def as_flood(self) -> None:
        """Answer with far more than anybody wants to read."""
        self.send_response(200)
        self.send_header("Content-Length", str(FLOOD_BYTES))
        self.end_headers()
        for _ in range(FLOOD_BYTES // 65_536):
            self.wfile.write(b"x" * 65_536)

    def as_reset(self) -> None:
        """Break the connection off."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def as_lost(self) -> None:
        """Do it, and hang up without an answer."""
        self.connection.shutdown(socket.SHUT_RDWR)

    def answer(self, status: int) -> None:
        """Answer without a body."""
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""
