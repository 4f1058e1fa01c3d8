"""Where people are signed in: how long a session lasts, who ends it, and what is shown of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import transaction

from controllers.access import people, roles
from controllers.models import Visit
from resources.documents.actor import Actor
from resources.store import announcements

# What a session keeps about itself: when it began and when it was last used.
KEPT = "door"
# How exactly the last use is known; each use that is noted is a write.
GRAIN = timedelta(minutes=1)
LONGEST_DEVICE = 100
BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True)
class Came:
    """How somebody came in: by what, from where, with what."""

    method: str
    address: str
    agent: str


def device(agent: str) -> str:
    """Name a browser and a system from how a browser introduces itself."""
    browser = next((name for mark, name in BROWSERS if mark in agent), "")
    system = next((name for mark, name in SYSTEMS if mark in agent), "")
    if browser and system:
        return f"{browser} on {system}"
    plain = "".join(each for each in agent if each.isprintable())
    return browser or system or plain[:LONGEST_DEVICE].strip() or "Unknown device"


def begin(session: Any, person: User, came: Came, now: datetime) -> Visit:
    """Keep that somebody signed in, in their session and beside it."""
    session[KEPT] = {"began": now.timestamp(), "seen": now.timestamp()}
    return Visit.objects.create(
        person=person,
        session=session.session_key,
        method=came.method,
        address=came.address[:45],
        device=device(came.agent),
        began_at=now,
        seen_at=now,
    )


def times(kept: Any, signed_in: datetime | None) -> tuple[datetime, datetime]:
    """Return when a session began and was last used; an older one tells by its person."""
    if isinstance(kept, Mapping):
        began, seen = float(kept["began"]), float(kept["seen"])
        return datetime.fromtimestamp(began, UTC), datetime.fromtimestamp(seen, UTC)
    known = signed_in or datetime.fromtimestamp(0, UTC)
    return known, known


def lapsed(kept: Any, signed_in: datetime | None, now: datetime) -> bool:
    """Tell whether a session has lasted too long, or lain idle too long."""
    began, seen = times(kept, signed_in)
    return now - began >= settings.SESSION_LASTS or now - seen >= settings.SESSION_IDLE


def touch(session: Any, signed_in: datetime | None, now: datetime) -> None:
    """Note that a session is used, once in a while."""
    began, seen = times(session.get(KEPT), signed_in)
    if now - seen < GRAIN:
        return
    session[KEPT] = {"began": began.timestamp(), "seen": now.timestamp()}
    Visit.objects.filter(session=session.session_key).update(seen_at=now)


def moved(former: str, session: Any) -> None:
    """Follow a session that was given a new key."""
    Visit.objects.filter(session=former).update(session=session.session_key)


def open_ones(person: User, now: datetime) -> list[Visit]:
    """Return where somebody is signed in, the latest use first."""
    rows = list(Visit.objects.filter(person=person))
    keys = [each.session for each in rows]
    alive = Session.objects.filter(session_key__in=keys, expire_date__gt=now)
    known = set(alive.values_list("session_key", flat=True))
    idle, oldest = now - settings.SESSION_IDLE, now - settings.SESSION_LASTS
    return [
        each
        for each in rows
        if each.session in known and each.seen_at > idle and each.began_at > oldest
    ]


def end_one(key: int, *, person: User, now: datetime) -> bool:
    """Sign oneself out somewhere; tells whether one was signed in there."""
    rows = Visit.objects.filter(pk=key, person=person)
    return bool(end(rows.values_list("session", flat=True), person, person, now))


def end_others(session: str, *, person: User, now: datetime) -> int:
    """Sign oneself out everywhere else; return from how many places."""
    rows = Visit.objects.filter(person=person).exclude(session=session)
    return end(rows.values_list("session", flat=True), person, person, now)


def end_all(person: User, *, by: User, now: datetime) -> int:
    """Sign somebody out everywhere; an administrator does, and anybody for themselves."""
    if by.pk != person.pk:
        roles.check_administers(by, now)
    return close_all(person, by=by, now=now)


def close_all(person: User, *, by: User, now: datetime) -> int:
    """End every session of somebody; who asked has been let."""
    found = Visit.objects.filter(person=person).values_list("session", flat=True)
    return end({*found, *unlisted(person, now)}, person, by, now)


def unlisted(person: User, now: datetime) -> set[str]:
    """Return the sessions of somebody that began before they were listed."""
    rows = Session.objects.filter(expire_date__gt=now)
    owner = str(person.pk)
    return {
        each.session_key
        for each in rows.iterator()
        if each.get_decoded().get("_auth_user_id") == owner
    }


def end(keys: Collection[str], person: User, by: User, now: datetime) -> int:
    """End sessions; pages that are open are told at once."""
    with transaction.atomic():
        ended, _ = Session.objects.filter(session_key__in=list(keys)).delete()
        Visit.objects.filter(session__in=list(keys)).delete()
        if ended:
            signed_out(person, ended, actor=people.actor_for(by), now=now)
    return ended


def signed_out(person: User, places: int, *, actor: Actor, now: datetime) -> None:
    """Write into somebody's chain that they were signed out."""
    people.note(person, "person.signed-out", {"places": places}, actor=actor, now=now)
    announcements.announce()


def forget(now: datetime) -> int:
    """Drop sessions that are over, with what was kept beside them."""
    Session.objects.filter(expire_date__lte=now).delete()
    dropped, _ = Visit.objects.filter(seen_at__lte=now - settings.SESSION_LASTS).delete()
    return dropped
