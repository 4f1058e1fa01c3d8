"""Our own processes, kept alive as systemd would: what dies is started again."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

READY_SECONDS = 60.0
LOOK_SECONDS = 0.1
# As systemd's RestartSec.
REST_SECONDS = 0.3


class Program:
    """One `ioa` command as a process; its log tells when it is ready."""

    def __init__(
        self, name: str, arguments: list[str], environment: Mapping[str, str], folder: Path
    ) -> None:
        self.name, self.arguments, self.environment = name, arguments, dict(environment)
        self.module = "ioa_site.cli"
        self.log = folder / f"{name}.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.starts = 0
        self.mark = 0
        self.lock = threading.Lock()

    def start(self, prefix: tuple[str, ...] = ()) -> None:
        """Start it; a prefix is a command that runs it under some limit."""
        with self.lock, self.log.open("ab") as log:
            self.mark = self.log.stat().st_size
            command = [*prefix, sys.executable, "-P", "-m", self.module, *self.arguments]
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env=self.environment, start_new_session=True
            )
            self.starts += 1

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self.process is not None and self.process.poll() is None

    @property
    def pid(self) -> int:
        """Its number, while it runs."""
        assert self.process is not None
        return self.process.pid

    @property
    def ready(self) -> bool:
        """Whether it has said that it is at work since it was last started."""
        with self.log.open("rb") as log:
            log.seek(self.mark)
            said = log.read()
        return b"serves at" in said or b"is at work" in said

    def wait_until_ready(self, seconds: float = READY_SECONDS) -> bool:
        """Wait until it is at work."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.alive and self.ready:
                return True
            time.sleep(0.05)
        return False

    def send(self, number: signal.Signals) -> None:
        """Send a signal, if it runs."""
        if self.alive and self.process is not None:
            self.process.send_signal(number)

    def wait(self, seconds: float) -> int | None:
        """Wait until it has ended, and return its code; nothing when it still runs."""
        assert self.process is not None
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def end(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End it for good."""
        if self.process is None:
            return
        self.send(number)
        if self.wait(15) is None:
            self.process.kill()
            self.process.wait()

    def said(self) -> str:
        """Return everything it has printed."""
        return self.log.read_text("utf-8", "replace") if self.log.exists() else ""


class Supervisor(threading.Thread):
    """Starts again whatever has ended, until it is told to leave it."""

    def __init__(self) -> None:
        super().__init__(name="faults-supervisor", daemon=True)
        self.kept: list[Program] = []
        self.stopping = threading.Event()

    def keep(self, program: Program) -> Program:
        """Start a program, and keep it alive."""
        program.start()
        self.kept.append(program)
        return program

    def leave(self, program: Program, number: signal.Signals = signal.SIGKILL) -> None:
        """Keep a program alive no longer, and end it."""
        if program in self.kept:
            self.kept.remove(program)
        program.send(signal.SIGCONT)
        program.end(number)

    def run(self) -> None:
        """Look after all of them."""
        while not self.stopping.wait(LOOK_SECONDS):
            for each in tuple(self.kept):
                if not each.alive and not self.stopping.wait(REST_SECONDS) and each in self.kept:
                    each.start()

    def end(self) -> None:
        """Start nothing again."""
        self.stopping.set()
        if self.ident is not None:
            self.join()
