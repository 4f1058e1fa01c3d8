"""Bring people in and send them away: an administrator does, and the ledger tells.

A link lets somebody in whose first sign-in it is. Nobody gets one for a person who has been here:
whoever held it could decide in their name.
"""

from __future__ import annotations

import re
from datetime import datetime

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from controllers.access.roles.grants import Right, administrators, check_administrator, grant
from controllers.access.roles.interests import folded
from controllers.access.roles.rights import ADMINISTER, grants, holds_role
from controllers.access.roles.rights_ledger import note
from controllers.models import Grant
from resources.documents import reader
from resources.documents.problems import denied, invalid, refused

USERNAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
LONGEST_NAME = 100


def invite(username: str, name: str, right: Right, *, by: User, now: datetime) -> User:
    """Add somebody with their first role; they sign in by a link that works once."""
    check_name(username, name)
    given, _, family = name.strip().partition(" ")
    user = User(username=username, first_name=given, last_name=family)
    user.set_unusable_password()
    try:
        with transaction.atomic():
            check_administrator(by, right.domain, now)
            check_free(username)
            user.save(force_insert=True)
            note(user, "person.added", {"by": "invitation"}, by=by, now=now)
            grant(user, right, by=by, now=now)
    except IntegrityError:
        raise refused(f"Somebody is called {username} already.") from None
    user.refresh_from_db()
    return user


def check_name(username: str, name: str) -> None:
    """Raise unless somebody can be called so."""
    if not USERNAME.fullmatch(username):
        raise invalid(
            "A user name has up to 63 small letters, digits, dots, hyphens and underscores."
        )
    if not name.strip() or len(name) > LONGEST_NAME:
        raise invalid(f"Say what they are called, in up to {LONGEST_NAME} characters.")
    for fault in reader.text_faults(name):
        raise invalid(f"The name cannot be kept: {fault}")


def check_free(username: str) -> None:
    """Raise if somebody is called so already, however it is spelled."""
    known = User.objects.filter(username__iexact=username).values_list("username", flat=True)
    if folded(username) in {folded(each) for each in known}:
        raise refused(f"Somebody is called {username} already.")


def check_link(person: User, *, by: User, now: datetime) -> None:
    """Raise unless somebody may have a link made for a person."""
    if person.last_login is not None:
        raise refused("They have signed in before. On the machine, `ioa sign-in` makes a link.")
    if not person.is_active:
        raise refused("They are not active.")
    check_over(person, by=by, now=now)


def note_link(person: User, *, by: User, now: datetime) -> None:
    """Write down that a link was made; never the link."""
    with transaction.atomic():
        check_link(person, by=by, now=now)
        note(person, "person.link-made", {}, by=by, now=now)


def check_over(person: User, *, by: User, now: datetime) -> None:
    """Raise unless somebody administers every place where a person holds a role."""
    places = set(Grant.objects.filter(person=person).values_list("domain", flat=True)) or {""}
    if not all(holds_role(by, ADMINISTER, place, now) for place in places):
        raise denied("NotAdministrator", "Only an administrator of all their places does this.")


def deactivate(person: User, *, by: User, now: datetime) -> bool:
    """Send somebody away, at once; tells whether they were there."""
    with transaction.atomic():
        administrators("", now)
        if by.pk == person.pk:
            raise denied("OwnRights", "Nobody sends themselves away. Ask somebody else.")
        check_over(person, by=by, now=now)
        gone = User.objects.filter(pk=person.pk, is_active=True).update(is_active=False)
        if gone:
            if not grants(ADMINISTER, "", now).filter(ends_at=None).exists():
                raise refused("The organisation needs an administrator whose grant does not end.")
            note(person, "person.deactivated", {}, by=by, now=now)
    return bool(gone)


def reactivate(person: User, *, by: User, now: datetime) -> bool:
    """Let somebody back in, with the roles that they still hold."""
    with transaction.atomic():
        check_over(person, by=by, now=now)
        back = User.objects.filter(pk=person.pk, is_active=False).update(is_active=True)
        if back:
            note(person, "person.reactivated", {}, by=by, now=now)
    return bool(back)
