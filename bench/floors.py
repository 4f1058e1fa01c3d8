"""The floor: the least that reads all agents, scores them and keeps the results.

Written by hand against the drivers: no engine, no comparison with before, no history, no ledger,
nobody told. Whoever finds a faster way may put it here; the figures then say so.
"""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from operator import ge, gt, le, lt
from typing import Any, NamedTuple, Protocol

import orjson
import psycopg

CHUNK = 2_000
THRESHOLD = 0.15
TABLES = (
    """CREATE TABLE bench_result (resource_id bigint PRIMARY KEY, version bigint NOT NULL,
      score float, drifted boolean NOT NULL, dimensions json NOT NULL, evidence json NOT NULL,
      evaluated_at text NOT NULL)""",
    """CREATE TABLE bench_plan (resource_id bigint PRIMARY KEY, operation text NOT NULL,
      why text NOT NULL)""",
)
NAMES = ("resource_id", "version", "score", "drifted", "dimensions", "evidence", "evaluated_at")
LISTED = ", ".join(NAMES)
REPLACE = "ON CONFLICT (resource_id) DO UPDATE SET " + ", ".join(
    f"{name} = excluded.{name}" for name in NAMES[1:]
)
RESOURCES = """SELECT id, resource_version, domain, {documents} FROM resources_resource
  WHERE kind = 'Agent' AND deleted_at IS NULL AND id > {mark} ORDER BY id LIMIT {mark}"""
CONDITIONS = """SELECT resource_id, type, status FROM resources_condition
  WHERE resource_id BETWEEN {mark} AND {mark} AND managed_by = ''"""
POLICIES = """SELECT domain, {documents} FROM resources_resource
  WHERE kind = 'SecurityPolicy' AND deleted_at IS NULL"""
KEEP_RESULTS = f"""INSERT INTO bench_result ({LISTED}) SELECT {LISTED}
  FROM json_to_recordset(%s::json) AS given(resource_id bigint, version bigint, score float,
    drifted boolean, dimensions json, evidence json, evaluated_at text)
  {REPLACE}"""  # noqa: S608
KEEP_PLANS = """INSERT INTO bench_plan SELECT *
  FROM json_to_recordset(%s::json) AS given(resource_id bigint, operation text, why text)
  ON CONFLICT (resource_id) DO UPDATE SET operation = excluded.operation, why = excluded.why"""
MEETS = {"lte": le, "gte": ge, "lt": lt, "gt": gt}
READY = {"running": "True", "idle": "True", "degraded": "False", "failed": "False"}

Agent = tuple[int, int, str, str, str]
Stated = dict[str, str]
Plan = tuple[int, str, str]


class Result(NamedTuple):
    """What is kept of one agent: its score, by dimension, and what it misses."""

    resource: int
    version: int
    score: float
    drifted: bool
    dimensions: dict[str, Any]
    evidence: list[dict[str, Any]]
    at: str


class Store(Protocol):
    """How a database is read and written, in the way that costs it least."""

    def agents(self, after: int) -> list[Agent]:
        """Read the next agents: key, version, domain, spec and status."""

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
    resource, version, score, drifted, dimensions, evidence, at = result
    documents = orjson.dumps(dimensions).decode(), orjson.dumps(evidence).decode()
    return (resource, version, score, drifted, *documents, at)


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
        store.write(results, [(each.resource, "restart", why(each)) for each in drifted])
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
    key, version, domain, spec_text, status_text = agent
    spec, status = orjson.loads(spec_text), orjson.loads(status_text)
    evidence: list[dict[str, Any]] = []
    kpi = objectives(spec["objectives"], status, evidence)
    health = conditions({"Ready": READY[status["state"]], **stated}, evidence)
    limit, tokens = spec["tokenBudget"]["maxMonthly"], status["costConsumed"]["tokens"]
    budget = round(min(1.0, max(0.0, (tokens - limit) / limit)), 6)
    if tokens > limit:
        evidence.append({"dimension": "budget", "desired": limit, "observed": tokens})
    security = violated[domain]
    score = round(0.3 * kpi + 0.3 * health + 0.2 * budget + 0.2 * security, 6)
    dimensions = {"kpi": kpi, "health": health, "budget": budget, "security": security}
    return Result(key, version, score, score >= THRESHOLD, dimensions, evidence, at)


def objectives(
    declared: list[dict[str, Any]], status: dict[str, Any], evidence: list[dict[str, Any]]
) -> float:
    """Return the share of objectives that are missed."""
    missed = 0
    for each in declared:
        name, wanted = each["name"], each["value"]
        value = status[name]
        if type(value) is str:
            value = float(value[:-1])
        if not MEETS[each["operator"]](value, wanted):
            missed += 1
            evidence.append({"subject": name, "desired": wanted, "observed": value})
    return missed / len(declared)


def conditions(stated: Stated, evidence: list[dict[str, Any]]) -> float:
    """Return the share of conditions that are bad."""
    bad = [kind for kind, status in stated.items() if status == "False"]
    evidence += [{"subject": kind, "observed": "False"} for kind in bad]
    return len(bad) / len(stated)


def why(result: Result) -> str:
    """Say why a plan is made."""
    return f"The score is {result.score}: {len(result.evidence)} things are not as declared."
