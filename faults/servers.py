"""PostgreSQL and Redis as processes of our own: killed, stopped and started again in place."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import redis

from tests import services
from tests.journeys.product import free_port

START_SECONDS = 30


class Unavailable(RuntimeError):
    """A server cannot be started here; the text says why."""


class Server:
    """One server on one port and one folder; it keeps both, however often it is started."""

    name = "server"

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folder, self.options = folder, options
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str | Path]:
        """Return how it is started."""
        raise NotImplementedError

    def ping(self) -> None:
        """Ask whether it answers; raise when it does not."""
        raise NotImplementedError

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdout=log, stderr=log, cwd="/", start_new_session=True,
                **self.options,
            )  # fmt: skip
        wait_for(self.ping, START_SECONDS, f"{self.name} did not start")

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self.process is not None and self.process.poll() is None

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        if self.alive and self.process is not None:
            self.process.send_signal(number)

    def stop(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End it by a signal, and wait until it is gone."""
        if self.process is None:
            return
        self.send(number)
        try:
            self.process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def restart(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End it by a signal, and start it where it was."""
        self.stop(number)
        self.start()


class Postgres(Server):
    """A PostgreSQL; SIGQUIT ends it as `pg_ctl -m immediate` does, without writing anything."""

    name = "PostgreSQL"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, **services.unprivileged(folder))
        self.binaries = self.found(folder)
        self.data = folder / "data"
        initdb: list[str | Path] = [
            self.binaries / "initdb",
            "-D",
            self.data,
            "-U",
            "postgres",
            "-A",
            "trust",
        ]
        initdb += ["-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, cwd="/", **self.options)

    def found(self, folder: Path) -> Path:
        """Return the first installation that works."""
        for each in services.postgres_folders():
            try:
                return services.reachable(each, folder, self.options)
            except (OSError, subprocess.SubprocessError, services.ServiceUnavailable):
                continue
        raise Unavailable("No PostgreSQL works here: `./ioa setup --dev` brings one.")

    def command(self) -> list[str | Path]:
        """Return how it is started; what the machine has written survives our kills."""
        given: list[str | Path] = [
            "-h",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-k",
            self.folder,
            "-F",
        ]
        return [self.binaries / "postgres", "-D", self.data, *given, "-c", "max_connections=200"]

    def url(self, port: int | None = None) -> str:
        """Return its address, or that of somebody who passes everything on."""
        return f"postgres://postgres@127.0.0.1:{port or self.port}/postgres"

    def connect(self) -> psycopg.Connection[Any]:
        """Open a connection of the suite's own."""
        return psycopg.connect(self.url(), autocommit=True, connect_timeout=5)

    def ping(self) -> None:
        """Connect."""
        self.connect().close()

    def restart(self, number: signal.Signals = signal.SIGQUIT) -> None:
        """Restart it as `pg_ctl restart -m immediate` does."""
        super().restart(number)


class Redis(Server):
    """A Redis or Valkey that keeps nothing: it comes back empty."""

    name = "Redis"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.program = next(services.redis_programs(), None)
        if self.program is None:
            raise Unavailable("No Redis was found: `./ioa setup --dev` brings one.")

    def command(self) -> list[str | Path]:
        """Return how it is started."""
        assert self.program is not None
        where = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder)]
        return [self.program, *where, "--save", "", "--appendonly", "no"]

    @property
    def url(self) -> str:
        """Its address."""
        return f"redis://127.0.0.1:{self.port}/0"

    def client(self) -> redis.Redis:
        """Open a connection of the suite's own."""
        return redis.Redis.from_url(self.url, socket_timeout=2, socket_connect_timeout=2)

    def ping(self) -> None:
        """Ask for an answer."""
        with self.client() as client:
            client.ping()


def wait_for(check: Callable[[], object], seconds: float, failure: str) -> None:
    """Try until it works."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            check()
            return
        except (OSError, psycopg.OperationalError, redis.RedisError) as error:
            if time.monotonic() > deadline:
                raise Unavailable(f"{failure}: {error}") from None
            time.sleep(0.05)
