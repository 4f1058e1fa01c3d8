"""The product as a person starts it: a real process on a port and a data folder of its own."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.journeys import prepared

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 60


def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def until(look: Callable[[], Any], seconds: float = 20) -> Any:
    """Look until there is something, and return it."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, "It took too long."
        time.sleep(0.1)
    return found


def answers(base: str) -> bool:
    """Tell whether it answers; who asks again and again does not load certificates each time."""
    line = HTTPConnection(urlsplit(base).netloc, timeout=PATIENCE)
    try:
        line.request("GET", "/healthz")
        return line.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        line.close()


class Product:
    """One `ioa up` or `web`, on SQLite unless servers are given, and the commands beside it.

    On other servers the loop of `up` runs in a process of its own, as where there are many.
    Its tables are there already, unless it starts on a bare machine.
    """

    def __init__(
        self,
        data: Path,
        *options: str,
        given: Mapping[str, str] | None = None,
        command: str = "up",
        bare: bool = False,
    ) -> None:
        self.data = data
        self.verb = command
        self.given = dict(given or {})
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.log = data.parent / f"{data.name}.log"
        apart = command == "up" and "REDIS_URL" in self.given
        self.options = (*options, "--workers", "1") if apart else options
        self.process: subprocess.Popen[bytes] | None = None
        self.clients: list[httpx.Client] = []
        if not bare and "DATABASE_URL" not in self.given and not data.exists():
            prepared.lay(data)

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables of a machine that has none of ours set."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("IOA_") and name not in ("DATABASE_URL", "REDIS_URL")
        }
        own = {"IOA_DATA_DIR": str(self.data), "PYTHONPATH": str(ROOT)}
        return kept | own | self.given

    def command(self, *arguments: str) -> list[str]:
        """Return the command line of one `ioa` command."""
        return [sys.executable, "-P", "-m", "ioa_site.cli", *arguments]

    def start(self) -> Product:
        """Start it and wait until it answers."""
        arguments = self.command(self.verb, "--port", str(self.port), *self.options)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                arguments, stdout=log, stderr=log, env=self.environment
            )
        self.wait_until_it_answers()
        return self

    def wait_until_it_answers(self) -> None:
        """Wait for /healthz."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self.process is not None and self.process.poll() is not None:
                break
            if answers(self.base):
                return
            time.sleep(0.05)
        raise AssertionError(f"It did not start:\n{self.said()}")

    def said(self) -> str:
        """Return everything it has printed."""
        return self.log.read_text(encoding="utf-8")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(PATIENCE)

    def run(self, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run another command on the same data."""
        return subprocess.run(
            self.command(*arguments),
            env=self.environment,
            capture_output=True,
            text=True,
            input=text,
            timeout=PATIENCE,
            check=False,
        )

    def links(self) -> list[str]:
        """Return the sign-in links it printed."""
        return re.findall(r"http://\S+/sign-in/\S+", self.said())

    def link(self, who: str) -> str:
        """Return a new sign-in link, as `ioa sign-in` prints it."""
        done = self.run("sign-in", who)
        found = re.search(r"http://\S+", done.stdout)
        assert found, done.stdout + done.stderr
        return f"{self.base}{urlsplit(found[0]).path}"

    def sign_in(self, link: str) -> httpx.Client:
        """Use a sign-in link as a browser would, and return the signed-in client."""
        client = httpx.Client(base_url=self.base, follow_redirects=True, timeout=PATIENCE)
        self.clients.append(client)
        client.get(link)
        answer = client.post(link, data={"csrfmiddlewaretoken": client.cookies["csrftoken"]})
        assert answer.status_code == 200, answer.text
        return client

    def __enter__(self) -> Product:
        return self.start()

    def __exit__(self, *_: Any) -> None:
        self.stop(signal.SIGKILL)
        for client in self.clients:
            client.close()
