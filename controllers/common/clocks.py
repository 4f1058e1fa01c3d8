"""The time that deadlines are held against: the caller's or the database's, whichever is later."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import DateTimeField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Greatest, Now

# No deadline, lease or permit is so short that this much decides about it.
MOST_ASTRAY = timedelta(seconds=5)


def astray(clock: Callable[[], datetime]) -> timedelta:
    """Return how far a clock is from the database's; both are one where the file is here.

    It is read before and after: an answer that takes long says nothing about the clock.
    """
    if connection.vendor != "postgresql":
        return timedelta(0)
    with connection.cursor() as cursor:
        before = clock()
        cursor.execute("SELECT clock_timestamp()")
        there: datetime = cursor.fetchone()[0]
        return max(before - there, there - clock(), timedelta(0))


def current(now: datetime | Value) -> Combinable:
    """Return the time inside a statement: a caller whose clock is slow cannot beat a deadline."""
    given = now if isinstance(now, Value) else Value(now, output_field=DateTimeField())
    return Greatest(given, Now())
