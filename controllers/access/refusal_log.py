"""What people tried and may not, for others to see: each address once an hour for each person."""

from __future__ import annotations

import logging
from datetime import datetime
from urllib.parse import quote

from django.contrib.auth.models import User
from django.db import DatabaseError, transaction

from controllers.access import people
from resources.api import rate_limits
from resources.store import announcements
from resources.tables import ledger

logger = logging.getLogger("ioa.refusals")

EVERY_SECONDS = 3600.0
LONGEST_PATH = 200
LONGEST_REASON = 500


def note(person: User, address: str, tried: tuple[str, str], reason: str, now: datetime) -> None:
    """Write down that somebody may not do what they tried, unless that was said lately.

    `address` is the name of what was asked, so that a loop over many rows counts as one; `tried`
    is the verb and the path as they came.
    """
    key = f"refused/{person.pk}/{tried[0]}/{address}"
    if rate_limits.take(key, EVERY_SECONDS, EVERY_SECONDS) > 0:
        return
    try:
        write(person, spelt(*tried), reason, now)
    except DatabaseError as error:
        logger.warning("A refusal was not written down: %s", error)


def spelt(verb: str, path: str) -> str:
    """Write what was tried as plain letters, up to a length."""
    return f"{verb} {quote(path[:LONGEST_PATH])[:LONGEST_PATH]}"


def write(person: User, tried: str, reason: str, now: datetime) -> None:
    """Write it into their chain."""
    actor = people.actor_for(person)
    said = {"detail": reason[:LONGEST_REASON]} if reason else {}
    payload = {"tried": tried, **said}
    entry = ledger.Entry(str(actor), "person.refused", str(actor), payload, severity="warning")
    with transaction.atomic():
        ledger.append([entry], actor=actor, now=now)
        announcements.announce()
