"""One global counter for every change, and how far a reader may safely follow it.

On PostgreSQL numbers come from a sequence, so a transaction may still hold a smaller number than
one that has already committed. A writer therefore leaves a mark before it takes numbers: a shared
advisory lock whose key carries the last number given out. The mark goes away by itself, after the
commit has become visible. No number up to the smallest mark can belong to an open transaction.
SQLite has one writer at a time, so its counter is a row and every number seen is safe.
"""

from __future__ import annotations

from django.db import connection

# The upper 24 bits of a mark spell "IOA"; the lower 40 hold a number.
MARK = 0x494F41

LAST_GIVEN = """
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM resources_change_seq
"""
# No number is given before the mark is there: each row of numbers needs the mark's row first.
TAKE = """
    WITH mark AS MATERIALIZED (
      SELECT pg_advisory_xact_lock_shared(
        (%s::bigint << 40) + CASE WHEN is_called THEN last_value ELSE 0 END
      ) FROM resources_change_seq
    )
    SELECT nextval('resources_change_seq') FROM mark CROSS JOIN generate_series(1, %s)
"""
SMALLEST_MARK = """
    SELECT min((classid::bigint << 32 | objid::bigint) & ((1::bigint << 40) - 1))
    FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND classid::bigint >> 8 = %s
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
# One by one: whoever takes a number meanwhile gets another.
GIVE_AWAY = """
    SELECT count(nextval('resources_change_seq'))
    FROM resources_change_seq, generate_series(last_value + 1, %s)
"""
# What is remembered of quite another database may be any number.
FARTHEST = 10_000_000
COUNT_ON = "UPDATE resources_changecounter SET value = %s WHERE id = 1 AND value < %s"
COUNT = "UPDATE resources_changecounter SET value = value + %s WHERE id = 1 RETURNING value"
COUNTED = "SELECT value FROM resources_changecounter WHERE id = 1"


def take(count: int) -> list[int]:
    """Take the next `count` numbers; call inside the transaction that uses them."""
    if not count:
        return []
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(TAKE, [MARK, count])
            return [row[0] for row in cursor.fetchall()]
        cursor.execute(COUNT, [count])
        last: int = cursor.fetchone()[0]
        return list(range(last - count + 1, last + 1))


def pass_over(number: int) -> None:
    """Give out no number up to this one: somebody outside has seen it already."""
    with connection.cursor() as cursor:
        if connection.vendor != "postgresql":
            cursor.execute(COUNT_ON, [number, number])
            return
        cursor.execute(LAST_GIVEN)
        cursor.execute(GIVE_AWAY, [min(number, cursor.fetchone()[0] + FARTHEST)])


def horizon() -> int:
    """Return the largest number below which nothing can still appear."""
    with connection.cursor() as cursor:
        if connection.vendor != "postgresql":
            cursor.execute(COUNTED)
            return int(cursor.fetchone()[0])
        # The order matters: a mark missed by the second query was left after the first.
        cursor.execute(LAST_GIVEN)
        last: int = cursor.fetchone()[0]
        cursor.execute(SMALLEST_MARK, [MARK])
        mark: int | None = cursor.fetchone()[0]
        return last if mark is None else min(last, mark)
