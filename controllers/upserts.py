"""Write many narrow rows with one statement: PostgreSQL takes them as one JSON parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
from django.db import connection

from controllers.engine.types import Judgement
from controllers.rows import story


@dataclass(frozen=True)
class Table:
    """A table to write into: its columns with PostgreSQL's types, and what makes a row unique."""

    name: str
    columns: tuple[tuple[str, str], ...]
    unique: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return [name for name, _ in self.columns]

    def insert(self) -> str:
        """Begin the statement."""
        return f"INSERT INTO {self.name} ({', '.join(self.names)})"

    def conflict(self) -> str:
        """End the statement: a row that exists takes the new values."""
        if not self.unique:
            return ""
        others = [name for name in self.names if name not in self.unique]
        changes = ", ".join(f"{name} = excluded.{name}" for name in others)
        return f"ON CONFLICT ({', '.join(self.unique)}) DO UPDATE SET {changes}"


JUDGEMENTS = Table(
    "controllers_judgement",
    (
        ("controller_id", "bigint"),
        ("resource_id", "bigint"),
        ("generation", "bigint"),
        ("version", "bigint"),
        ("basis", "text"),
        ("score", "float8"),
        ("drifted", "boolean"),
        ("status", "text"),
        ("reason", "text"),
        ("message", "text"),
        ("urgency", "text"),
        ("dimensions", "json"),
        ("evidence", "json"),
        ("since", "timestamptz"),
        ("evaluated_at", "timestamptz"),
        ("recheck_at", "timestamptz"),
        ("episode", "json"),
        ("plan", "text"),
    ),
    ("controller_id", "resource_id"),
)
SAMPLES = Table(
    "controllers_driftsample",
    (
        ("controller_id", "bigint"),
        ("resource_id", "bigint"),
        ("at", "timestamptz"),
        ("score", "float8"),
        ("drifted", "boolean"),
        ("dimensions", "json"),
    ),
)
PLANS = Table(
    "controllers_plan",
    (
        ("controller_id", "bigint"),
        ("resource_id", "bigint"),
        ("digest", "text"),
        ("mode", "text"),
        ("actions", "json"),
        ("explanation", "text"),
        ("correlation_id", "text"),
        ("planned_at", "timestamptz"),
    ),
    ("controller_id", "resource_id"),
)


def upsert(table: Table, rows: Iterable[Sequence[Any]]) -> int:
    """Insert rows, or give those that exist their new values; return how many."""
    values = list(rows)
    if not values:
        return 0
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(for_postgresql(table), [as_json(table, values)])
        else:
            cursor.executemany(for_sqlite(table), list(map(as_row, values)))
    return len(values)


def for_postgresql(table: Table) -> str:
    """Spell the statement that reads its rows from one JSON parameter."""
    shape = ", ".join(f"{name} {kind}" for name, kind in table.columns)
    source = f"FROM json_to_recordset(%s::json) AS given({shape})"
    return f"{table.insert()} SELECT {', '.join(table.names)} {source} {table.conflict()}"


def for_sqlite(table: Table) -> str:
    """Spell the statement for one row."""
    marks = ", ".join(["%s"] * len(table.columns))
    return f"{table.insert()} VALUES ({marks}) {table.conflict()}"


def as_json(table: Table, rows: list[Sequence[Any]]) -> str:
    """Write rows as the objects PostgreSQL reads."""
    names = table.names
    return orjson.dumps([dict(zip(names, row, strict=True)) for row in rows]).decode()


def as_row(row: Sequence[Any]) -> list[Any]:
    """Write one row as SQLite keeps it."""
    return [
        spell(value) if (spell := SPELLINGS.get(type(value))) is not None else value
        for value in row
    ]


def as_text(value: Any) -> str:
    """Write a document as text."""
    return orjson.dumps(value).decode()


def as_instant(value: datetime) -> str:
    """Write a time as SQLite keeps it: in UTC, without saying so."""
    at = value if value.tzinfo is UTC else value.astimezone(UTC)
    return at.isoformat(" ")[: -len("+00:00")]


SPELLINGS = {dict: as_text, list: as_text, tuple: as_text, datetime: as_instant}


def judgement_row(
    controller: int, judgement: Judgement, versions: Mapping[int, int]
) -> tuple[Any, ...]:
    """Spell a judgement as the values of its row."""
    resource, generation, version, *middle, episode, plan = judgement
    version = versions.get(resource, version)
    return (controller, resource, generation, version, *middle, story(episode), plan)


def sample_row(controller: int, judgement: Judgement, now: datetime) -> tuple[Any, ...]:
    """Spell a point of the history."""
    figures = {name: each["score"] for name, each in judgement.dimensions.items()}
    return (controller, judgement.resource, now, judgement.score, judgement.drifted, figures)
