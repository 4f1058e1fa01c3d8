"""A small web server for browser tests: given pages and our static files under the real CSP."""

from __future__ import annotations

import json
import mimetypes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Self
from urllib.parse import parse_qs

STATIC = Path(__file__).resolve().parents[2] / "static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)


class Server(ThreadingHTTPServer):
    """Lets a browser open many connections at once: five, the default, are reset under load."""

    request_queue_size = 128


class Site:
    """Serves `pages` by path, answers every POST with `answer` and keeps what was posted."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.answer: Any = []
        self.status = 200
        self.posts: list[dict[str, list[str]]] = []
        self._server = Server(("127.0.0.1", 0), _handler_for(self))
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def find(self, path: str) -> tuple[bytes, str] | None:
        """The body and content type of a page or a static file."""
        if path in self.pages:
            return self.pages[path].encode(), "text/html; charset=utf-8"
        file = STATIC / path.removeprefix("/static/")
        if path.startswith("/static/") and file.is_file():
            return file.read_bytes(), mimetypes.guess_type(file.name)[0] or "font/woff2"
        return None


def _handler_for(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = site.find(self.path.partition("?")[0])
            if found:
                self._send(200, *found)
            else:
                self._send(204 if self.path == "/favicon.ico" else 404, b"", "text/plain")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            site.posts.append(parse_qs(body, keep_blank_values=True))
            self._send(site.status, json.dumps(site.answer).encode(), "application/json")

        def _send(self, status: int, body: bytes, content_type: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Security-Policy", POLICY)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *_: object) -> None:  # noqa: A002
            """Stay silent: the tests read `posts` instead."""

    return Handler
