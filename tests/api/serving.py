"""The product as a process of its own, on the test's database, and a reader of its feed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx
import orjson
from django.conf import settings
from django.db import connection

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 20.0


@dataclass(frozen=True)
class Frame:
    """One server-sent event."""

    event: str
    id: str
    data: Any


@dataclass(frozen=True)
class Server:
    """A running server."""

    url: str
    process: subprocess.Popen[bytes]

    @contextmanager
    def watch(self, query: str = "", **headers: str) -> Iterator[Iterator[Frame]]:
        """Open the feed and yield its frames."""
        url = f"{self.url}/api/v1/watch?{query}"
        with httpx.stream("GET", url, headers=headers, timeout=PATIENCE) as answer:
            assert answer.status_code == 200, answer.read()
            assert answer.headers["content-type"] == "text/event-stream"
            yield frames(answer)

    def stop(self) -> float:
        """Ask the server to stop; return how many seconds it took."""
        begun = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        return time.monotonic() - begun


def frames(answer: httpx.Response) -> Iterator[Frame]:
    """Read server-sent events as they arrive."""
    fields: dict[str, str] = {}
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if line:
            fields[name] = value
        else:
            yield Frame(fields["event"], fields.get("id", ""), orjson.loads(fields["data"]))
            fields = {}


def until(feed: Iterator[Frame], event: str) -> Frame:
    """Read on to the first frame of an event."""
    return next(frame for frame in feed if frame.event == event)


@contextmanager
def serve(folder: Path) -> Iterator[Server]:
    """Run the product's web server on the database the test is connected to."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [sys.executable, "-m", "uvicorn", "ioa_site.asgi:application"]
        command += ["--fd", str(listener.fileno()), "--log-level", "warning"]
        command += ["--timeout-graceful-shutdown", "3", "--lifespan", "off"]
        environment = os.environ | {
            "DATABASE_URL": database_url(),
            "IOA_DATA_DIR": str(folder),
            "IOA_SECRET_KEY": settings.SECRET_KEY,
            # Clients that race call as fast as they can.
            "IOA_API_RATE": "1000000",
        }
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, pass_fds=[listener.fileno()]
        )
        port = listener.getsockname()[1]
    try:
        yield Server(f"http://127.0.0.1:{port}", process)
    finally:
        process.kill()
        process.wait()


def database_url() -> str:
    """Return the address of the database this test uses."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}"))
