"""Whoever guesses is kept waiting: each name from each address, and each address as a whole.

Every try is counted before the password is looked at, by one conditional update, so that many
tries at once are no more than their number. A try that succeeds is taken back.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Greatest

from controllers.access import people, roles
from controllers.models import Lockout
from resources.documents.actor import SYSTEM
from resources.documents.problems import TOO_OFTEN, Problem
from resources.store import announcements

WINDOW = timedelta(minutes=15)
# How many tries of one name, and of all names together, an address has within the window.
TRIES = 5
TRIES_OF_ALL = 50
EVERYBODY = ""
LONGEST_NAME = 150


def spelled(account: str) -> str:
    """Return a name as tries of it are counted."""
    return account.strip().casefold()[:LONGEST_NAME]


def attempt(account: str, address: str, now: datetime) -> None:
    """Count a try before it is made; raise when there were too many."""
    with transaction.atomic():
        for name, most in ((spelled(account), TRIES), (EVERYBODY, TRIES_OF_ALL)):
            count(name, address, most, now)


def count(account: str, address: str, most: int, now: datetime) -> None:
    """Count one try; the one that reaches the limit is the last that is heard."""
    row = Lockout(account=account, address=address, failures=0, since=now)
    Lockout.objects.bulk_create([row], ignore_conflicts=True)
    anew = Q(until__isnull=False) | Q(since__lte=now - WINDOW)
    rows = Lockout.objects.filter(account=account, address=address)
    heard = rows.filter(Q(until=None) | Q(until__lte=now)).update(
        failures=Case(When(anew, then=Value(1)), default=F("failures") + 1),
        since=Case(When(anew, then=Value(now)), default=F("since")),
        until=Case(
            When(anew, then=None),
            When(failures__gte=most - 1, then=Value(now + WINDOW)),
            default=None,
        ),
    )
    if not heard:
        raise locked(rows.values_list("until", flat=True).get() or now, now)


def locked(until: datetime, now: datetime) -> Problem:
    """Say until when nothing is heard, and what helps."""
    minutes = max(1, -(-int((until - now).total_seconds()) // 60))
    wait = "a minute" if minutes == 1 else f"{minutes} minutes"
    return Problem(
        TOO_OFTEN,
        f"Too many tries. Try again in {wait}, or ask an administrator to unlock you:"
        " ioa door unlock NAME.",
    )


def failed(account: str, address: str, now: datetime) -> None:
    """Write down that somebody is kept waiting, once, when this try was their last."""
    rows = Lockout.objects.filter(account=spelled(account), address=address, until__gt=now)
    person = User.objects.filter(username__iexact=account.strip()).first()
    if person is None or not rows.exists():
        return
    with transaction.atomic():
        told = {"address": address, "minutes": int(WINDOW.total_seconds() // 60)}
        people.note(person, "person.locked-out", told, actor=SYSTEM, now=now)
        announcements.announce()


def succeeded(account: str, address: str) -> None:
    """Take a try back that was right; the address keeps its others."""
    Lockout.objects.filter(account=spelled(account), address=address).delete()
    Lockout.objects.filter(account=EVERYBODY, address=address).update(
        failures=Greatest(F("failures") - 1, Value(0)), until=None
    )


def unlock(person: User, *, by: User, now: datetime) -> int:
    """Let somebody try again at once, from everywhere; return from how many addresses."""
    roles.check_administers(by, now)
    with transaction.atomic():
        name = spelled(person.get_username())
        shut = list(Lockout.objects.filter(account=name).values_list("address", flat=True))
        Lockout.objects.filter(Q(account=name) | Q(account="", address__in=shut)).delete()
        if shut:
            actor = people.actor_for(by)
            people.note(person, "person.unlocked", {}, actor=actor, now=now)
            announcements.announce()
    return len(shut)


def forget(now: datetime) -> int:
    """Drop what no longer counts; return how many rows."""
    old = Q(until=None, since__lte=now - WINDOW) | Q(until__lte=now)
    dropped, _ = Lockout.objects.filter(old).delete()
    return dropped
