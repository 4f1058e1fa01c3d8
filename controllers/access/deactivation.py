"""Shut somebody out, at once and everywhere; and let them in again."""

from __future__ import annotations

from datetime import datetime

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.db import transaction

from controllers.access import people, roles, session_records
from resources.documents.problems import denied
from resources.store import announcements


def shut_out(person: User, *, by: User, now: datetime) -> bool:
    """Close somebody's account and every session of theirs; tells whether it was open."""
    with transaction.atomic():
        gone = roles.deactivate(person, by=by, now=now)
        session_records.close_all(person, by=by, now=now)
        announcements.announce()
    return gone


def forget_factors(person: User, *, by: User, now: datetime) -> int:
    """Take the second factors of somebody away who lost them; return how many there were."""
    roles.check_administers(by, now)
    if by.pk == person.pk:
        raise denied("OwnRights", "Somebody else does this for you.")
    with transaction.atomic():
        gone, _ = Authenticator.objects.filter(user=person).delete()
        if gone:
            actor = people.actor_for(by)
            people.note(person, "person.factors-forgotten", {}, actor=actor, now=now)
            announcements.announce()
    return int(gone)


def let_in(person: User, *, by: User, now: datetime) -> bool:
    """Open somebody's account again; tells whether it was closed."""
    with transaction.atomic():
        back = roles.reactivate(person, by=by, now=now)
        announcements.announce()
    return back
