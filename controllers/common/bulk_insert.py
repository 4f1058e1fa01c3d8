"""New rows of a model, many at once: what `bulk_create` does, without asking each value again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import Model

from resources.tables import batches
from resources.tables.batches import Table
from resources.tables.bulk_tables import missing_rows, whole_table

NEXT = "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"
LAST = "SELECT seq FROM sqlite_sequence WHERE name = %s"


def create(rows: Sequence[Model]) -> None:
    """Insert rows of one model and give them their keys, inside the caller's transaction."""
    if not rows:
        return
    model = type(rows[0])
    for row, key in zip(rows, keys(model, len(rows)), strict=True):
        row.pk = key
        row._state.adding, row._state.db = False, connection.alias
    write(whole_table(model), rows)


def create_missing(rows: Sequence[Model]) -> None:
    """Insert rows of one model; one that exists stays as it is. Nobody learns their keys."""
    if rows:
        write(missing_rows(type(rows[0])), rows)


def write(table: Table, rows: Sequence[Model]) -> None:
    """Write rows as they are."""
    values = [row.__dict__ for row in rows]
    batches.upsert(connection, table, [[each[name] for name in table.names] for each in values])


def keys(model: type[Model], count: int) -> list[int]:
    """Take keys for new rows."""
    table: Any = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(NEXT, [table, count])
            return [row[0] for row in cursor.fetchall()]
        # One writer at a time, and this is the one.
        cursor.execute(LAST, [table])
        found = cursor.fetchone()
        last: int = found[0] if found else 0
        return list(range(last + 1, last + count + 1))
