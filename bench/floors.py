"""The floor: the least that reads all agents, scores them and keeps the results.

Written by hand against the drivers: no engine, no comparison with before, no history, no ledger,
nobody told. It scores the five dimensions a cycle scores and keeps the facts a judgement keeps;
it once left out the fields, and how many things each dimension rests on, and so did less than the
cycle it is held against. Whoever finds a faster way may put it here; the figures then say so.
"""

from __future__ import annotations

import gc
import sqlite3
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from operator import ge, gt, le, lt
from typing import Any, NamedTuple, Protocol

import orjson
import psycopg

CHUNK = 2_000
THRESHOLD = 0.15
TABLES = (
    """CREATE TABLE bench_result (resource_id bigint PRIMARY KEY, generation bigint NOT NULL,
      version bigint NOT NULL, score float, drifted boolean NOT NULL, status text NOT NULL,
      reason text NOT NULL, message text NOT NULL, urgency text NOT NULL,
      dimensions json NOT NULL, evidence json NOT NULL, evaluated_at text NOT NULL)""",
    """CREATE TABLE bench_plan (resource_id bigint PRIMARY KEY, operation text NOT NULL,
      why text NOT NULL)""",
)
NAMES = (
    *("resource_id", "generation", "version", "score", "drifted", "status", "reason", "message"),
    *("urgency", "dimensions", "evidence", "evaluated_at"),
)
LISTED = ", ".join(NAMES)
REPLACE = "ON CONFLICT (resource_id) DO UPDATE SET " + ", ".join(
    f"{name} = excluded.{name}" for name in NAMES[1:]
)
RESOURCES = """SELECT id, generation, resource_version, domain, {documents} FROM resources_resource
  WHERE kind = 'Agent' AND deleted_at IS NULL AND id > {mark} ORDER BY id LIMIT {mark}"""
CONDITIONS = """SELECT resource_id, type, status FROM resources_condition
  WHERE resource_id BETWEEN {mark} AND {mark} AND managed_by = ''"""
POLICIES = """SELECT domain, {documents} FROM resources_resource
  WHERE kind = 'SecurityPolicy' AND deleted_at IS NULL"""
KEEP_RESULTS = f"""INSERT INTO bench_result ({LISTED}) SELECT {LISTED}
  FROM json_to_recordset(%s::json) AS given(resource_id bigint, generation bigint,
    version bigint, score float, drifted boolean, status text, reason text, message text,
    urgency text, dimensions json, evidence json, evaluated_at text)
  {REPLACE}"""  # noqa: S608
KEEP_PLANS = """INSERT INTO bench_plan SELECT *
  FROM json_to_recordset(%s::json) AS given(resource_id bigint, operation text, why text)
  ON CONFLICT (resource_id) DO UPDATE SET operation = excluded.operation, why = excluded.why"""
MEETS = {"lte": le, "gte": ge, "lt": lt, "gt": gt}
READY = {"running": "True", "idle": "True", "degraded": "False", "failed": "False"}

WELL = ("True", "Converged", "Drift is below 0.15.", "none")
MODEL = ("provider", "name", "version")

Agent = tuple[int, int, int, str, str, str]
Stated = dict[str, str]
Plan = tuple[int, str, str]


class Result(NamedTuple):
    """What is kept of one agent: its score, by dimension, and what it misses."""

    resource: int
    generation: int
    version: int
    score: float
    drifted: bool
    status: str
    reason: str
    message: str
    urgency: str
    dimensions: dict[str, Any]
    evidence: list[dict[str, Any]]
    at: str


class Store(Protocol):
    """How a database is read and written, in the way that costs it least."""

    def agents(self, after: int) -> list[Agent]:
        """Read the next agents: key, generation, version, domain, spec and status."""

    def conditions(self, first: int, last: int) -> Iterable[tuple[int, str, str]]:
        """Read what was reported about some agents."""

    def policies(self) -> Iterable[tuple[str, str, str]]:
        """Read the policies: domain, spec and status."""

    def write(self, results: Sequence[Result], plans: Sequence[Plan]) -> None:
        """Keep what was found, in one transaction."""


class Sqlite:
    """The floor's SQLite: one prepared statement, run for many rows."""

    def __init__(self, file: str) -> None:
        self.connection = sqlite3.connect(file, isolation_level=None)
        self.connection.execute("PRAGMA synchronous=FULL")

    def agents(self, after: int) -> list[Agent]:
        """Read the next agents."""
        query = RESOURCES.format(documents="spec, status", mark="?")
        return self.connection.execute(query, (after, CHUNK)).fetchall()

    def conditions(self, first: int, last: int) -> Iterable[tuple[int, str, str]]:
        """Read what was reported about some agents."""
        return self.connection.execute(CONDITIONS.format(mark="?"), (first, last))

    def policies(self) -> Iterable[tuple[str, str, str]]:
        """Read the policies."""
        return self.connection.execute(POLICIES.format(documents="spec, status"))

    def write(self, results: Sequence[Result], plans: Sequence[Plan]) -> None:
        """Keep what was found."""
        self.connection.execute("BEGIN IMMEDIATE")
        marks = ", ".join("?" * len(NAMES))
        keep = f"INSERT INTO bench_result ({LISTED}) VALUES ({marks}) {REPLACE}"  # noqa: S608
        self.connection.executemany(keep, map(as_row, results))
        self.connection.executemany("INSERT OR REPLACE INTO bench_plan VALUES (?, ?, ?)", plans)
        self.connection.execute("COMMIT")


class Postgres:
    """The floor's PostgreSQL: documents as text, rows as one JSON parameter."""

    def __init__(self, url: str) -> None:
        self.connection = psycopg.connect(url, autocommit=True)

    def agents(self, after: int) -> list[Agent]:
        """Read the next agents."""
        query = RESOURCES.format(documents="spec::text, status::text", mark="%s")
        return self.connection.execute(query, (after, CHUNK), binary=True).fetchall()

    def conditions(self, first: int, last: int) -> Iterable[tuple[int, str, str]]:
        """Read what was reported about some agents."""
        query = CONDITIONS.format(mark="%s")
        return self.connection.execute(query, (first, last), binary=True).fetchall()

    def policies(self) -> Iterable[tuple[str, str, str]]:
        """Read the policies."""
        query = POLICIES.format(documents="spec::text, status::text")
        return self.connection.execute(query).fetchall()

    def write(self, results: Sequence[Result], plans: Sequence[Plan]) -> None:
        """Keep what was found."""
        with self.connection.transaction():
            self.connection.execute(KEEP_RESULTS, (as_json(results, NAMES),))
            self.connection.execute(
                KEEP_PLANS, (as_json(plans, ("resource_id", "operation", "why")),)
            )


def as_row(result: Result) -> tuple[Any, ...]:
    """Write a result as SQLite keeps it."""
    *facts, dimensions, evidence, at = result
    documents = orjson.dumps(dimensions).decode(), orjson.dumps(evidence).decode()
    return (*facts, *documents, at)


def as_json(rows: Iterable[Sequence[Any]], names: Sequence[str]) -> str:
    """Write rows as the objects PostgreSQL reads."""
    return orjson.dumps([dict(zip(names, row, strict=True)) for row in rows]).decode()


def open_store(url: str) -> Sqlite | Postgres:
    """Connect to a database by its address."""
    return Sqlite(url.removeprefix("sqlite:///")) if url.startswith("sqlite") else Postgres(url)


def cycle(store: Store) -> int:
    """Score every agent and keep the results; return how many there were."""
    gc.disable()
    at = datetime.now(UTC).isoformat()
    violated = dict(violations(store.policies()))
    done = after = 0
    while agents := store.agents(after):
        first, after = agents[0][0], agents[-1][0]
        stated: dict[int, Stated] = {}
        for key, kind, status in store.conditions(first, after):
            stated.setdefault(key, {})[kind] = status
        results = [judge(each, stated.get(each[0], {}), violated, at) for each in agents]
        drifted = [each for each in results if each.drifted]
        store.write(results, [(each.resource, "restart", each.message) for each in drifted])
        done += len(agents)
    return done


def violations(policies: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, float]]:
    """Yield the share of violated rules for each domain."""
    for domain, spec, status in policies:
        declared = orjson.loads(spec)
        rules = sum(name in declared for name in ("zeroTrust", "auditTrail"))
        yield domain, min(1.0, orjson.loads(status)["violations"] / rules)


def judge(agent: Agent, stated: Stated, violated: dict[str, float], at: str) -> Result:
    """Score one agent."""
    key, generation, version, domain, spec_text, status_text = agent
    spec, status = orjson.loads(spec_text), orjson.loads(status_text)
    evidence: list[dict[str, Any]] = []
    kpi = objectives(spec["objectives"], status, evidence)
    stated = {"Ready": READY[status["state"]], **stated}
    health = conditions(stated, evidence)
    limit, tokens = spec["tokenBudget"]["maxMonthly"], status["costConsumed"]["tokens"]
    budget = round(min(1.0, max(0.0, (tokens - limit) / limit)), 6)
    if tokens > limit:
        evidence.append(missed("budget", "monthly tokens", limit, tokens))
    security, field = violated[domain], 0.0
    if "state" in spec or "model" in status:
        field = fields(spec, status, evidence)
    score = round(0.3 * kpi + 0.3 * health + 0.2 * budget + 0.2 * security, 6)
    dimensions = {
        "kpi": {"score": kpi, "of": len(spec["objectives"])},
        "health": {"score": health, "of": len(stated)},
        "budget": {"score": budget, "of": 1},
        "security": {"score": security, "of": 1},
        "field": {"score": field, "of": 0},
    }
    drifted = score >= THRESHOLD
    said = verdict(score, evidence) if drifted else WELL
    return Result(key, generation, version, score, drifted, *said, dimensions, evidence, at)


def missed(dimension: str, subject: str, desired: Any, observed: Any) -> dict[str, Any]:
    """Write down something that is not as declared."""
    wanted = {"verdict": "missed", "desired": desired, "observed": observed}
    return {"dimension": dimension, "subject": subject, **wanted}


def fields(spec: dict[str, Any], status: dict[str, Any], evidence: list[dict[str, Any]]) -> float:
    """Score the fields that are not as declared: the state, and the model that runs."""
    pairs = [("state", spec.get("state"), status.get("state"))]
    if "model" in status:
        pairs += [(name, spec["model"].get(name), status["model"].get(name)) for name in MODEL]
    wrong = [each for each in pairs if None not in each and each[1] != each[2]]
    evidence += [missed("field", *each) for each in wrong]
    return len(wrong) / (len(wrong) + 1)


def objectives(
    declared: list[dict[str, Any]], status: dict[str, Any], evidence: list[dict[str, Any]]
) -> float:
    """Return the share of objectives that are missed."""
    count = 0
    for each in declared:
        name, wanted = each["name"], each["value"]
        value = status[name]
        if type(value) is str:
            value = float(value[:-1])
        if not MEETS[each["operator"]](value, wanted):
            count += 1
            evidence.append(missed("kpi", name, wanted, value))
    return count / len(declared)


def conditions(stated: Stated, evidence: list[dict[str, Any]]) -> float:
    """Return the share of conditions that are bad."""
    bad = [kind for kind, status in stated.items() if status == "False"]
    evidence += [missed("health", kind, "True", "False") for kind in bad]
    return len(bad) / len(stated)


def verdict(score: float, evidence: list[dict[str, Any]]) -> tuple[str, str, str, str]:
    """Say how an agent that drifted stands, why, and how urgent that is."""
    urgency = ("low", "medium", "high", "critical")[bisect_right((0.1, 0.25, 0.5), score)]
    why = f"The score is {score}: {len(evidence)} things are not as declared."
    return "False", "DriftDetected", why, urgency
