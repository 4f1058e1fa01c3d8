"""Count as far as anybody reads: the cost of a count then has a bound, however much there is."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet

COUNT = "(SELECT COUNT(*) FROM ({rows}) AS found)"
NOTHING = "SELECT 1 WHERE false"


def together(*given: QuerySet[Any]) -> list[int]:
    """Count some sets of rows in one statement; one that is sliced counts no further."""
    asked = [spelled(rows) for rows in given]
    counts = ", ".join(COUNT.format(rows=rows) for rows, _ in asked)
    parameters = [each for _, some in asked for each in some]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {counts}", parameters)
        return list(cursor.fetchone())


def spelled(rows: QuerySet[Any]) -> tuple[str, tuple[Any, ...]]:
    """Spell the query of a set; one that can have no rows finds none."""
    try:
        found: tuple[str, tuple[Any, ...]] = rows.values("pk").query.sql_with_params()
    except EmptyResultSet:
        return NOTHING, ()
    return found
