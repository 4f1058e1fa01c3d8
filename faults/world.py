"""The world that breaks: real servers, our processes, and a machine outside."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from psycopg import IsolationLevel

from faults import facts
from faults.facts import Facts
from faults.history import History, busyness
from faults.programs import Program, Supervisor
from faults.receiver import Receiver
from faults.servers import Postgres, Redis, Unavailable
from tests.journeys.product import ROOT, free_port

PATIENCE = 120
WEBS, WORKERS = 2, 3


class World:
    """Everything of one run, in one folder that goes away with it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ioa-faults-", dir=short_place()))
        self.folder.chmod(0o755)
        self.postgres = Postgres(self.made("postgres"))
        self.redis = Redis(self.made("redis"))
        self.clients = History(self.folder / "clients.jsonl")
        self.calls = History(self.folder / "calls.jsonl")
        self.receiver = Receiver(self.calls)
        self.supervisor = Supervisor()
        self.port = free_port()
        self.webs: list[Program] = []
        self.workers: list[Program] = []
        self.beats: list[Program] = []
        self.programs: list[Program] = []
        self.links: dict[str, str] = {}
        self.tokens: dict[str, str] = {}
        self.opened: list[httpx.Client] = []
        # The cookies of those who have signed in.
        self.sessions: dict[str, dict[str, str]] = {}

    def made(self, name: str) -> Path:
        """Make a folder."""
        folder = self.folder / name
        folder.mkdir()
        return folder

    @property
    def base(self) -> str:
        """The address that all web processes share."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables of a machine that has none of ours set, and ours."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("IOA_") and name not in ("DATABASE_URL", "REDIS_URL")
        }
        return kept | {
            "DATABASE_URL": self.postgres.url(),
            "REDIS_URL": self.redis.url,
            "IOA_API_RATE": "100000",
            "IOA_DATA_DIR": str(self.folder / "data"),
            "IOA_WEBHOOKS_ALLOW_LOOPBACK": "1",
            "PYTHONPATH": str(ROOT),
        }

    def start(self) -> None:
        """Start everything, and wait until it is at work."""
        self.postgres.start()
        self.redis.start()
        self.stage()
        self.supervisor.start()
        for number in range(WEBS):
            self.webs.append(self.keep(f"web-{number}", *self.serving()))
        for number in range(WORKERS):
            self.workers.append(self.keep(f"worker-{number}", "worker"))
        self.beats.append(self.keep("beat-0", "beat"))
        for each in (*self.webs, *self.workers):
            if not each.wait_until_ready():
                raise Unavailable(f"{each.name} did not start: {each.said()[-500:]}")

    def stage(self) -> None:
        """Make the tables, declare the organisation, and let people and agents in."""
        file = str(self.folder / "organisation.yaml")
        said = self.python("-P", "-m", "faults.staging", self.receiver.url, file)
        found = next(json.loads(line) for line in said.splitlines() if line.startswith("{"))
        self.links, self.tokens = found["links"], found["tokens"]

    def serving(self, port: int | None = None) -> list[str]:
        """Return the command of a web process."""
        return ["web", "--port", str(port or self.port), "--share-port"]

    def program(self, name: str, *arguments: str, **given: str) -> Program:
        """Describe a process of the world; whatever becomes of it, it ends with the world."""
        made = Program(name, [*arguments], self.environment | given, self.folder)
        self.programs.append(made)
        return made

    def keep(self, name: str, *arguments: str) -> Program:
        """Start a process that is kept alive."""
        return self.supervisor.keep(self.program(name, *arguments))

    def python(self, *arguments: str) -> str:
        """Run a program that has to succeed, and return what it prints."""
        done = self.attempt(*arguments)
        if done.returncode:
            raise Unavailable(f"{' '.join(arguments)[:200]}: {done.stderr[-800:]}")
        return done.stdout

    def attempt(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program in the world's environment."""
        settings = {"DJANGO_SETTINGS_MODULE": "ioa_site.settings"}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.environment | settings,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def client(self, headers: Mapping[str, str], base: str = "") -> httpx.Client:
        """Return a client that is closed with the world."""
        found = httpx.Client(
            base_url=base or self.base, headers=dict(headers), timeout=15 * busyness()
        )
        self.opened.append(found)
        return found

    def person(self, name: str, base: str = "") -> httpx.Client:
        """Sign somebody in: by the link the first time, by the same session afterwards."""
        client = self.client({}, base)
        client.follow_redirects = True
        if name not in self.sessions:
            path = urlsplit(self.links[name]).path
            client.get(path)
            answer = client.post(path, data={"csrfmiddlewaretoken": client.cookies["csrftoken"]})
            answer.raise_for_status()
            self.sessions[name] = dict(client.cookies)
        else:
            client.cookies.update(self.sessions[name])
        client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
        return client

    def query(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Read the database behind the product's back."""
        with self.postgres.connect() as connection:
            return connection.execute(statement, values or None).fetchall()

    def facts(self) -> Facts:
        """Read what there is: first what users were told, then the tables as of one moment."""
        clients, calls = self.clients.read(), self.calls.read()
        with self.postgres.connect() as connection:
            connection.autocommit = False
            connection.isolation_level = IsolationLevel.REPEATABLE_READ
            return facts.read(lambda each: connection.execute(each).fetchall(), clients, calls)

    def heal(self) -> None:
        """Let everything go on that was stopped, and wait until all of it is at work."""
        self.redis.send(signal.SIGCONT)
        self.receiver.mode = "ok"
        for each in (*self.webs, *self.workers, *self.beats):
            each.send(signal.SIGCONT)
        for server in (self.postgres, self.redis):
            if not server.alive:
                server.start()
        for each in (*self.webs, *self.workers):
            if not each.wait_until_ready():
                raise Unavailable(f"{each.name} does not come back: {each.said()[-500:]}")

    def audit(self) -> int:
        """Let the product prove its own ledger, and return how that ended."""
        return self.attempt("-P", "-m", "ioa_site.cli", "audit", "verify").returncode

    def traces(self) -> Iterator[tuple[str, str]]:
        """Yield what processes said that nobody should have to read: a fault of our own.

        What a row starts for itself is meant to fail, and may say so.
        """
        for each in (*self.webs, *self.workers, *self.beats):
            said = each.said()
            if "Traceback" in said:
                last = said.partition("Traceback")[2].strip().splitlines()
                yield each.name, next((x for x in last if x and not x.startswith(" ")), "")

    def keep_in(self, folder: Path) -> None:
        """Copy what the checker looked at, and what every process printed."""
        hidden = shutil.ignore_patterns("postgres", "redis", "data")
        shutil.copytree(self.folder, folder, ignore=hidden, dirs_exist_ok=True)
        found = dataclasses.asdict(self.facts())
        text = json.dumps(found, default=str, indent=1)
        (folder / "facts.json").write_text(text, "utf-8")

    def close(self) -> None:
        """End everything that was started here."""
        for client in self.opened:
            client.close()
        self.supervisor.end()
        for program in self.programs:
            program.send(signal.SIGCONT)
            program.end()
        self.receiver.close()
        self.redis.send(signal.SIGCONT)
        self.redis.stop()
        self.postgres.stop(signal.SIGQUIT)
        for each in (self.clients, self.calls):
            each.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> World:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def short_place() -> str | None:
    """Return a folder whose path leaves room for a socket name."""
    return "/tmp" if os.access("/tmp", os.W_OK) else None  # noqa: S108
