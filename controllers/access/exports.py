"""Who took what out as a file: said before its first byte leaves, and again with its rows."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime

from django.contrib.auth.models import User
from django.db import DatabaseError, transaction

from controllers.access import people
from resources.store import announcements

logger = logging.getLogger("ioa.exports")

# What an entry keeps of the filters: everything that means something, and no more.
MOST_FILTERS = 20
LONGEST_FILTER = 200


def begin(person: User, file: str, asked: Mapping[str, str], *, now: datetime) -> None:
    """Write down that somebody takes a file; without the entry there is no file."""
    note(person, "export.begun", {"file": file, "filters": kept(asked)}, now)


def end(person: User, file: str, count: int, *, now: datetime) -> None:
    """Write down how many rows left; one that broke off has no such entry."""
    try:
        note(person, "export.made", {"file": file, "count": count}, now)
    except DatabaseError as error:
        logger.warning("The end of an export was not written down: %s", error)


def kept(asked: Mapping[str, str]) -> dict[str, str]:
    """Return the filters that say something, each in bounds and as any database keeps it."""
    said = [(name, value) for name, value in asked.items() if value][:MOST_FILTERS]
    return {short(name): short(value) for name, value in said}


def short(text: str) -> str:
    """Keep what can be printed of a text, up to a length."""
    return "".join(each for each in text[:LONGEST_FILTER] if each.isprintable())


def note(person: User, event: str, payload: Mapping[str, object], now: datetime) -> None:
    """Write into somebody's chain."""
    with transaction.atomic():
        people.note(person, event, payload, actor=people.actor_for(person), now=now)
        announcements.announce()
