"""Whose session is still good: signed in, active, neither old nor idle, the password unchanged.

And what they see: roles that were given or taken count from the next look on.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connections
from django.utils.crypto import constant_time_compare

from controllers.access import roles, session_records
from resources.tables.visibility import Scope


def welcome(sessions: Collection[str], now: datetime) -> dict[str, Scope]:
    """Return the sessions that are still good, each with what its person holds.

    Three questions, however many there are.
    """
    try:
        rows = Session.objects.filter(session_key__in=sessions, expire_date__gt=now)
        decoded = {row.session_key: row.get_decoded() for row in rows}
        known = {key: each for key, each in decoded.items() if SESSION_KEY in each}
        keys = {int(each[SESSION_KEY]) for each in known.values()}
        people = User.objects.filter(is_active=True).in_bulk(keys)
        good = {key: each for key, each in known.items() if belongs(each, people, now)}
        scopes = roles.scopes_of(people.values(), now)
        return {key: scopes[int(each[SESSION_KEY])] for key, each in good.items()}
    finally:
        connections.close_all()


def belongs(session: dict[str, Any], people: dict[int, User], now: datetime) -> bool:
    """Tell whether a session belongs to somebody who may still be here."""
    person = people.get(int(session[SESSION_KEY]))
    if person is None or session_records.lapsed(
        session.get(session_records.KEPT), person.last_login, now
    ):
        return False
    proof = session.get(HASH_SESSION_KEY, "")
    return constant_time_compare(proof, person.get_session_auth_hash())
