"""The time that deadlines are held against: the caller's or the database's, whichever is later."""

from __future__ import annotations

from datetime import datetime

from django.db.models import DateTimeField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Greatest, Now


def current(now: datetime) -> Combinable:
    """Return the time inside a statement: a caller whose clock is slow cannot beat a deadline."""
    return Greatest(Value(now, output_field=DateTimeField()), Now())
