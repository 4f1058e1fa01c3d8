"""Work in batches, so that no statement grows with the organisation.

Many rows are written with one statement: PostgreSQL takes them as one JSON parameter, SQLite runs
a prepared statement for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from typing import Any, Protocol, TypeVar
from uuid import UUID

import orjson

SIZE = 500

Item = TypeVar("Item")


def batches(items: Iterable[Item], size: int = SIZE) -> Iterator[list[Item]]:
    """Yield lists of at most `size` items."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


class Connection(Protocol):
    """A connection to a database, as far as rows are written through it."""

    vendor: str

    def cursor(self) -> Any:
        """Open a cursor."""


@dataclass(frozen=True)
class Table:
    """A table to write into: its columns with PostgreSQL's types, and what makes a row unique."""

    name: str
    columns: tuple[tuple[str, str], ...]
    # These come first among the columns.
    unique: tuple[str, ...] = ()
    # Whether a row that exists stays as it is.
    ignoring: bool = False

    @cached_property
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
        """End the statement: a row that exists takes the new values, or stays."""
        if self.ignoring:
            return "ON CONFLICT DO NOTHING"
        if not self.unique:
            return ""
        changes = ", ".join(f"{name} = excluded.{name}" for name in self.others)
        # Only names of our own columns.
        unique = ", ".join(self.unique)
        return f"ON CONFLICT ({unique}) DO UPDATE SET {changes}"  # nosec B608

    def source(self) -> str:
        """Read rows from one JSON parameter."""
        shape = ", ".join(f"{name} {kind}" for name, kind in self.columns)
        return f"FROM json_to_recordset(%s::json) AS given({shape})"

    @cached_property
    def upsert_all(self) -> str:
        """The statement for all rows, as PostgreSQL takes them."""
        names = ", ".join(self.names)
        return f"{self.insert()} SELECT {names} {self.source()} {self.conflict()}"

    @cached_property
    def upsert_one(self) -> str:
        """The statement for one row."""
        marks = ", ".join(["%s"] * len(self.columns))
        return f"{self.insert()} VALUES ({marks}) {self.conflict()}"

    @cached_property
    def update_all(self) -> str:
        """The statement that changes all rows, as PostgreSQL takes them."""
        changes = ", ".join(f"{name} = given.{name}" for name in self.others)
        same = " AND ".join(f"{self.name}.{name} = given.{name}" for name in self.unique)
        return f"UPDATE {self.name} SET {changes} {self.source()} WHERE {same}"  # noqa: S608

    @cached_property
    def update_one(self) -> str:
        """The statement that changes one row."""
        changes = ", ".join(f"{name} = %s" for name in self.others)
        same = " AND ".join(f"{name} = %s" for name in self.unique)
        return f"UPDATE {self.name} SET {changes} WHERE {same}"  # noqa: S608


def upsert(connection: Connection, table: Table, rows: Sequence[Sequence[Any]]) -> None:
    """Insert rows, or give those that exist their new values."""
    if not rows:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(table.upsert_all, [as_json(table, rows)])
        else:
            cursor.executemany(table.upsert_one, list(map(as_row, rows)))


def update(connection: Connection, table: Table, rows: Sequence[Sequence[Any]]) -> None:
    """Give rows that exist their new values, for half of what an upsert costs.

    One that is gone stays gone.
    """
    if not rows:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(table.update_all, [as_json(table, rows)])
        else:
            first = len(table.unique)
            values = [as_row((*row[first:], *row[:first])) for row in rows]
            cursor.executemany(table.update_one, values)


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


def as_hex(value: UUID) -> str:
    """Write an id as SQLite keeps it."""
    return value.hex


SPELLINGS: dict[type, Callable[[Any], str]] = {
    dict: as_text,
    list: as_text,
    tuple: as_text,
    datetime: as_instant,
    UUID: as_hex,
}
