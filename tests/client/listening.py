"""A server that answers as it is told, and keeps what it was asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass
class Reply:
    """One answer; without a status the line breaks."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


BROKEN = Reply(0)


class Server(ThreadingHTTPServer):
    """Answers in the order of its replies, then with the last of them."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies = list(replies)
        self.asked: list[Asked] = []

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server_port}"

    def next(self) -> Reply:
        """Return the next answer."""
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


class Handler(BaseHTTPRequestHandler):
    """Reads a request and gives the next answer."""

    server: Server

    def answer(self) -> None:
        """Keep what was asked and say what comes next."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        read = json.loads(body) if body else None
        self.server.asked.append(Asked(self.command, self.path, dict(self.headers), read))
        reply = self.server.next()
        if not reply.status:
            self.connection.close()
            return
        text = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for name, value in {"Content-Length": str(len(text)), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_PATCH = answer  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def listening(*replies: Reply) -> Iterator[Server]:
    """Run such a server."""
    with Server(replies) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
