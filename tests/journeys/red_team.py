"""A hostile agent with a real token, and the person who looks at what it left behind."""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

import httpx
import psycopg
import pytest

from tests.browsing.stage import servers
from tests.journeys.product import Product

API = "/api/v1"
PROBLEM = "application/problem+json"
PAGE = 200
REPORTS = "what agents reported"
SCOPES = (
    "resources:read,status:write,admission:ask,usage:write,"
    "telemetry:write,runs:write,actions:write,proposals:write"
)
ORGANISATION = """
apiVersion: ioa.dev/v0.2
kind: Domain
metadata: {name: support}
spec: {purpose: Helps customers, dataOwnership: [{name: tickets, classification: internal}]}
---
apiVersion: ioa.dev/v0.2
kind: Domain
metadata: {name: finance}
spec: {purpose: Counts, dataOwnership: [{name: ledger, classification: restricted}]}
---
apiVersion: ioa.dev/v0.2
kind: Agent
metadata: {name: mallory}
spec: {domain: support, type: supervised, purpose: Wants more than it may}
---
apiVersion: ioa.dev/v0.2
kind: Agent
metadata: {name: robin}
spec: {domain: support, type: supervised, purpose: Works beside it}
---
apiVersion: ioa.dev/v0.2
kind: Agent
metadata: {name: wren}
spec: {domain: finance, type: supervised, purpose: Works elsewhere}
---
apiVersion: ioa.dev/v0.2
kind: SecurityPolicy
metadata: {name: support-rules}
spec:
  domain: support
  enforcementMode: enforce
  promptInjectionDefense:
    enabled: true
    detectPatterns: ["ignore (all )?previous instructions"]
    onDetection: block
---
apiVersion: ioa.dev/v0.2
kind: Telemetry
metadata: {name: ticket-closed}
spec:
  event: support.ticket_closed
  category: log
  severity: info
  payload: {type: object, required: [ticket], properties: {ticket: {type: string}}}
  source: {domain: support, agent: robin}
  enforcementMode: enforce
---
apiVersion: ioa.dev/v0.2
kind: Controller
metadata: {name: keeper}
spec:
  targetKind: Agent
  runner: external
  reconcileInterval: 24h
  enforcementMode: observe
  actions: {onDrift: [{type: reconcile, strategy: immediate}]}
"""
# What an attack could change, beside what the clock and the product's own chores change.
TABLES: Mapping[str, str] = {
    "resources_resource": "id, spec, generation, deleted_at",
    "resources_condition": "id, type, status, message",
    "controllers_admission": "id",
    "controllers_usage": "id, agent_id, tokens_in",
    "controllers_telemetryevent": "id, agent, event, payload",
    "controllers_violation": "id, rule, times",
    "controllers_proposal": "id, state, revision, actions, explanation",
    "controllers_decision": "id, answer",
    "controllers_step": "id, state, fence, epoch, result",
    "controllers_hold": "id, kind, ended_at",
    "controllers_workflowrun": "id, state",
    "controllers_answered": "id",
}


class Answer(NamedTuple):
    """What came back, as it came."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        """The JSON in it."""
        return json.loads(self.body)


class Agent:
    """An agent that sends whatever it likes, byte by byte."""

    def __init__(self, product: Product, token: str) -> None:
        self.product, self.token = product, token

    def send(self, method: str, path: str, body: bytes | Any = None, **headers: str) -> Answer:
        """Send something and wait for the answer; a connection without one fails the test."""
        given = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if method == "PATCH":
            given["Content-Type"] = "application/merge-patch+json"
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        line = http.client.HTTPConnection("127.0.0.1", self.product.port, timeout=60)
        with closing(line):
            line.request(method, path, sent, given)
            found = line.getresponse()
            return Answer(found.status, dict(found.getheaders()), found.read())

    def get(self, path: str) -> Answer:
        return self.send("GET", f"{API}/{path}")

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        return self.send("POST", f"{API}/{path}", body, **headers)

    def good(self, path: str, body: Any, **headers: str) -> Any:
        """Send something that is fine."""
        found = self.post(path, body, **headers)
        assert found.status in (200, 201), found
        return found.document


def problem(answer: Answer, *statuses: int) -> Any:
    """Hold an answer against what every refusal is: a problem, in words, and never a fault."""
    assert answer.status in statuses, (answer.status, answer.body[:500])
    assert answer.headers.get("content-type") == PROBLEM, answer
    found = answer.document
    assert found["status"] == answer.status
    assert found["title"]
    assert found["detail"]
    assert found["type"].startswith("/problems/")
    assert "Traceback" not in answer.body.decode()
    return found


class Watcher:
    """A person who reads the audit log, and somebody with the keys of the database."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self.client = product.sign_in(product.link("admin"))
        self.client.timeout = httpx.Timeout(60)
        self.since = "0"

    def read(self, path: str) -> Any:
        answer = self.client.get(f"{API}/{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def say(self, path: str, body: Any, **headers: str) -> Any:
        """Do what only people do."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        given["X-CSRFToken"] = self.client.cookies["csrftoken"]
        answer = self.client.post(f"{API}/{path}", json=body, headers=given)
        assert answer.is_success, answer.text
        return answer.json()

    def approve(self, proposal: int) -> None:
        """Approve what an agent proposed."""
        tag = self.read(f"proposals/{proposal}")["tag"]
        self.say(f"proposals/{proposal}/approve", {"reason": ""}, If_Match=f'"{tag}"')

    def news(self) -> list[Any]:
        """Return what agents did since this was last asked, as the ledger tells it."""
        found: list[Any] = []
        while True:
            page = self.read(f"events?since={self.since}&limit={PAGE}")
            found += page["items"]
            self.since = page["nextSince"]
            if len(page["items"]) < PAGE:
                return [each for each in found if each["actor"].startswith("agent/")]

    def audit(self, event: str) -> str:
        """Return what the page of the audit log says about one kind of event."""
        answer = self.client.get("/audit", params={"event": event})
        assert answer.status_code == 200
        rows = re.findall(r'<tr id="entry-\d+">.*?</tr>', answer.text, re.DOTALL)
        return "\n".join(rows)

    @contextmanager
    def unmoved(self, *events: str, often: bool = False) -> Iterator[list[Any]]:
        """Fail unless nothing is written inside but the record of what was refused.

        What is refused `often` is written down once a minute, so perhaps not again.
        """
        self.news()
        before = self.picture()
        told: list[Any] = []
        yield told
        told += self.news()
        after = self.picture()
        moved = {name for name in before if before[name] != after[name]}
        assert not moved, moved
        written = [each["type"] for each in told]
        said = [(each["type"], each["data"]) for each in told]
        assert set(written) <= set(events) if often else written == [*events], said
        for each in set(written):
            assert self.audit(each), each

    def picture(self) -> dict[str, str]:
        """Return a digest of every table that an attack could change."""
        found = {}
        for table, columns in TABLES.items():
            rows = self.query(f"SELECT {columns} FROM {table} ORDER BY id")  # noqa: S608
            found[table] = hashlib.sha256(repr(rows).encode()).hexdigest()
        # What the product itself publishes in a status is no agent's doing.
        told = "SELECT id, status FROM resources_resourcerevision WHERE actor LIKE 'agent/%'"
        found[REPORTS] = hashlib.sha256(repr(self.query(told)).encode()).hexdigest()
        return found

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """Read the database behind the product's back."""
        address = self.product.given.get("DATABASE_URL")
        if address:
            with psycopg.connect(address) as connection:
                return connection.execute(statement).fetchall()
        with closing(sqlite3.connect(self.product.data / "ioa.sqlite3")) as connection:
            return connection.execute(statement).fetchall()

    def change(self, statement: str) -> None:
        """Let time pass that nobody wants to wait for."""
        address = self.product.given.get("DATABASE_URL")
        if address:
            with psycopg.connect(address) as connection:
                connection.execute(statement)
            return
        with closing(sqlite3.connect(self.product.data / "ioa.sqlite3")) as connection:
            connection.execute(statement)
            connection.commit()


def token(product: Product, agent: str, scopes: str = SCOPES) -> str:
    """Make a token as a person does."""
    done = product.run("token", "create", agent, "--scope", scopes)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """A product that nobody uses but the attacker, as fast as it likes."""
    folder = tmp_path_factory.mktemp("attacked")
    with servers() as given:
        own = {**given, "IOA_API_RATE": "100000"}
        with Product(folder / "data", given=own) as running:
            done = running.run("apply", "-f", "-", text=ORGANISATION)
            assert done.returncode == 0, done.stdout + done.stderr
            yield running
            assert httpx.get(f"{running.base}/readyz").status_code == 200
        assert "Traceback" not in running.said()


@pytest.fixture(scope="module")
def watcher(attacked: Product) -> Watcher:
    """Somebody who sees all that is written."""
    return Watcher(attacked)


@pytest.fixture(scope="module")
def mallory(attacked: Product) -> Agent:
    """An agent that means harm."""
    return Agent(attacked, token(attacked, "mallory"))


@pytest.fixture(scope="module")
def robin(attacked: Product) -> Agent:
    """An agent that it harms."""
    return Agent(attacked, token(attacked, "robin"))


@pytest.fixture(scope="module")
def wren(attacked: Product) -> Agent:
    """An agent of another domain."""
    return Agent(attacked, token(attacked, "wren"))
