"""Commands of the product as processes: some serve, some work, some ring."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.journeys.product import PATIENCE, Product, free_port


class Place:
    """One database, and as many processes on it as a test starts."""

    def __init__(self, folder: Path, given: Mapping[str, str], *, bare: bool = False) -> None:
        self.product = Product(folder / "data", given=given, bare=bare)
        self.folder = folder
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a command, and let it write into a file of its own."""
        log = self.folder / f"{arguments[0]}-{len(self.running)}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                self.product.command(*arguments),
                stdout=out,
                stderr=out,
                env=self.product.environment,
            )
        self.running.append(process)
        return process

    def web(self, port: int | None = None, *options: str) -> str:
        """Start a web process and return its address once it answers."""
        port = port or free_port()
        log = self.folder / f"web-{len(self.running)}.log"
        self.start("web", "--port", str(port), *options)
        until(lambda: "serves at" in log.read_text())
        return f"http://127.0.0.1:{port}"

    def said(self) -> str:
        """Return everything they printed."""
        return "\n".join(file.read_text() for file in sorted(self.folder.glob("*.log")))

    def end(self) -> list[int]:
        """Ask all to end and return their exit codes."""
        for process in self.running:
            process.send_signal(signal.SIGTERM)
        return [process.wait(PATIENCE) for process in self.running]


def until(true: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "It did not become so in time."
        time.sleep(0.05)


@contextmanager
def placed(folder: Path, given: Mapping[str, str]) -> Iterator[Place]:
    """Make a place with a database ready, and leave no process behind."""
    # A test that waits asks more often than a person may.
    place = Place(folder, {**given, "IOA_API_RATE": "1000"})
    try:
        yield place
    finally:
        for process in place.running:
            process.kill()
            process.wait()
