"""The numbers of a process without pages: a small server of its own, for whoever scrapes it."""

from __future__ import annotations

import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from ioa_site.server import web_server

PATH = "/metrics"
# Who says nothing for so long is hung up on: the next one waits.
PATIENCE_SECONDS = 5.0


def expose(host: str, port: int) -> str:
    """Serve the metrics of this process until it ends; return where."""
    listener = web_server.listen(host, port, option="--metrics-port")
    listener.listen()
    server = Server(listener)
    threading.Thread(target=server.serve_forever, name="ioa-metrics", daemon=True).start()
    return web_server.address_of(listener, host) + PATH


class Server(HTTPServer):
    """Answers one scrape after the other, on a port that is taken already."""

    def __init__(self, listener: socket.socket) -> None:
        super().__init__(listener.getsockname()[:2], Scrape, bind_and_activate=False)
        self.socket.close()
        self.socket = listener

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of callers that went away."""


class Scrape(BaseHTTPRequestHandler):
    """One scrape; everything else is not found."""

    timeout = PATIENCE_SECONDS
    server_version, sys_version = "IOA-Control", ""

    def do_GET(self) -> None:
        """Give the numbers to whoever may have them."""
        from django.utils.datastructures import CaseInsensitiveMapping

        from controllers.worker import metrics_export

        asked = self.path.partition("?")[0] == PATH
        headers = CaseInsensitiveMapping(dict(self.headers.items()))
        if asked and metrics_export.permitted(headers, self.client_address[0]):
            self.answer(200, page(), metrics_export.MEDIA_TYPE)
        else:
            self.answer(404, b"There is nothing here.\n", "text/plain")

    def answer(self, status: int, body: bytes, media_type: str) -> None:
        """Write an answer."""
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's word
        """Keep scrapes out of the log."""


def page() -> bytes:
    """Write the numbers, and leave no connection behind."""
    from django.db import connection

    from controllers.worker import metrics_export

    try:
        return metrics_export.page()
    finally:
        connection.close()
