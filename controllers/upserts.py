"""Write many narrow rows with one statement: PostgreSQL takes them as one JSON parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
from django.db import connection

from controllers.engine.types import Action, Judgement
from controllers.rows import story

# Judgements that stand, about another version.
RENEW = {
    "sqlite": """
        UPDATE controllers_judgement SET version = %s, evaluated_at = %s
        WHERE controller_id = %s AND resource_id = %s
    """,
    "postgresql": """
        UPDATE controllers_judgement SET version = given.version, evaluated_at = %s
        FROM unnest(%s::bigint[], %s::bigint[]) AS given(resource_id, version)
        WHERE controller_id = %s AND controllers_judgement.resource_id = given.resource_id
    """,
}


@dataclass(frozen=True)
class Table:
    """A table to write into: its columns with PostgreSQL's types, and what makes a row unique."""

    name: str
    columns: tuple[tuple[str, str], ...]
    # These come first among the columns.
    unique: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return [name for name, _ in self.columns]

    @property
    def others(self) -> list[str]:
        """The names of the columns that do not make a row unique."""
        return self.names[len(self.unique) :]

    def insert(self) -> str:
        """Begin the statement."""
        return f"INSERT INTO {self.name} ({', '.join(self.names)})"

    def conflict(self) -> str:
        """End the statement: a row that exists takes the new values."""
        if not self.unique:
            return ""
        changes = ", ".join(f"{name} = excluded.{name}" for name in self.others)
        return f"ON CONFLICT ({', '.join(self.unique)}) DO UPDATE SET {changes}"

    def source(self) -> str:
        """Read rows from one JSON parameter."""
        shape = ", ".join(f"{name} {kind}" for name, kind in self.columns)
        return f"FROM json_to_recordset(%s::json) AS given({shape})"


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


def update(table: Table, rows: list[tuple[Any, ...]]) -> None:
    """Give rows that exist their new values, for half of what an upsert costs.

    One that is gone stays gone.
    """
    if not rows:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(update_for_postgresql(table), [as_json(table, rows)])
        else:
            first = len(table.unique)
            values = [as_row((*row[first:], *row[:first])) for row in rows]
            cursor.executemany(update_for_sqlite(table), values)


def renew(controller: int, versions: Mapping[int, int], now: datetime) -> None:
    """Let judgements stand as they are, about other versions of their resources."""
    if not versions:
        return
    statement, at = RENEW[connection.vendor], as_instant(now)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            listed = [f"{{{','.join(map(str, each))}}}" for each in (versions, versions.values())]
            cursor.execute(statement, [now, *listed, controller])
        else:
            rows = [(version, at, controller, key) for key, version in versions.items()]
            cursor.executemany(statement, rows)


def for_postgresql(table: Table) -> str:
    """Spell the statement for all rows."""
    names = ", ".join(table.names)
    return f"{table.insert()} SELECT {names} {table.source()} {table.conflict()}"


def for_sqlite(table: Table) -> str:
    """Spell the statement for one row."""
    marks = ", ".join(["%s"] * len(table.columns))
    return f"{table.insert()} VALUES ({marks}) {table.conflict()}"


def update_for_postgresql(table: Table) -> str:
    """Spell the statement that changes all rows."""
    changes = ", ".join(f"{name} = given.{name}" for name in table.others)
    same = " AND ".join(f"{table.name}.{name} = given.{name}" for name in table.unique)
    return f"UPDATE {table.name} SET {changes} {table.source()} WHERE {same}"  # noqa: S608


def update_for_sqlite(table: Table) -> str:
    """Spell the statement that changes one row."""
    changes = ", ".join(f"{name} = %s" for name in table.others)
    same = " AND ".join(f"{name} = %s" for name in table.unique)
    return f"UPDATE {table.name} SET {changes} WHERE {same}"  # noqa: S608


def as_json(table: Table, rows: Iterable[Sequence[Any]]) -> str:
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


def as_document(action: Action) -> dict[str, Any]:
    """Write an action as plain values; what it does not say is left out."""
    return {key: value for key, value in asdict(action).items() if value not in ("", (), {})}
