"""What somebody wants to hold, checked before anything is locked: nonsense becomes a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q

from controllers.engine import due_times
from controllers.models import Hold
from resources.documents import reader
from resources.documents.actor import Actor
from resources.documents.problems import invalid
from resources.tables.models import Resource

DEFAULT = timedelta(days=7)
LONGEST = timedelta(days=90)
# People are reminded this long before the end, or at half time of what is shorter.
REMINDER = timedelta(hours=24)
LONGEST_REASON = 2_000
LONGEST_PATH = 512

KIND, SCOPE = Hold.Kind, Hold.Scope
# How far each kind may reach.
SCOPES: Mapping[str, tuple[str, ...]] = {
    KIND.STOP: (SCOPE.ORGANISATION,),
    KIND.FREEZE: (SCOPE.ORGANISATION, SCOPE.DOMAIN),
    KIND.PAUSE: (SCOPE.DOMAIN, SCOPE.CONTROLLER, SCOPE.RESOURCE),
    KIND.OVERRIDE: (SCOPE.RESOURCE, SCOPE.FIELD),
}
# What names each scope.
NAMED: Mapping[str, tuple[str, ...]] = {
    SCOPE.ORGANISATION: (),
    SCOPE.DOMAIN: ("domain",),
    SCOPE.CONTROLLER: ("controller",),
    SCOPE.RESOURCE: ("resource",),
    SCOPE.FIELD: ("resource", "path"),
}
# What describes a freeze that comes back.
WINDOW = ("cron", "timezone", "duration")
PATH = re.compile(r"(spec|status)(\.[^.\[\]\s]+(\[\d*\])*)+")
# A value is put at names only: places in a list move.
WRITABLE = re.compile(r"spec(\.[^.\[\]\s]+)+")


@dataclass(frozen=True)
class HoldRequest:
    """A hold somebody wants; what is not given is as the product would choose it."""

    kind: str
    scope: str
    reason: str
    domain: str = ""
    # The keys of resources.
    controller: int | None = None
    resource: int | None = None
    path: str = ""
    value: Any = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    # Until a person lifts it.
    open_ended: bool = False
    # `cron`, `timezone` and `duration` of a freeze that comes back.
    window: Mapping[str, Any] = field(default_factory=dict)
    in_flight: str = Hold.InFlight.STOP
    # Who answers for it, if not who placed it.
    owner: User | None = None
    # The key of the proposal that it is the answer to.
    proposal: int | None = None


def drafted(wanted: HoldRequest, author: Actor, owner: User | None, now: datetime) -> Hold:
    """Return what is wanted as a row that is not written yet; nonsense is refused."""
    check_reach(wanted)
    reason = worded(wanted.reason)
    begins, ends = times(wanted, author, now)
    if wanted.in_flight not in Hold.InFlight.values:
        raise invalid("Work that has begun may finish or stop.")
    return Hold(
        kind=wanted.kind,
        scope=wanted.scope,
        domain=known_domain(wanted.domain),
        controller=living(wanted.controller, "Controller") if wanted.controller else None,
        resource=living(wanted.resource) if wanted.resource else None,
        path=wanted.path,
        value=checked_value(wanted),
        window=checked_window(wanted),
        in_flight=wanted.in_flight,
        reason=reason,
        author=str(author),
        owner=checked_owner(wanted.owner or owner),
        proposal_id=wanted.proposal,
        placed_at=now,
        starts_at=wanted.starts_at,
        ends_at=ends,
        remind_at=reminder(begins, ends),
    )


def check_reach(wanted: HoldRequest) -> None:
    """Refuse a kind, a scope or a name that do not go together."""
    if wanted.kind not in SCOPES:
        raise invalid(f"A hold is one of {', '.join(SCOPES)}.")
    if wanted.scope not in SCOPES[wanted.kind]:
        scopes = " or ".join(SCOPES[wanted.kind])
        raise invalid(f"The scope of a hold that is {article(wanted.kind)} must be {scopes}.")
    names = ("domain", "controller", "resource", "path")
    given = tuple(name for name in names if getattr(wanted, name))
    if given != NAMED[wanted.scope]:
        wants = " and ".join(NAMED[wanted.scope]) or "nothing else"
        raise invalid(f"The scope {wanted.scope} names {wants}.")
    if wanted.path and (not PATH.fullmatch(wanted.path) or len(wanted.path) > LONGEST_PATH):
        raise invalid("A path looks like spec.tokenBudget.maxDaily.")


def article(kind: str) -> str:
    """Put the article before a kind."""
    return f"an {kind}" if kind == KIND.OVERRIDE else f"a {kind}"


def worded(reason: str) -> str:
    """Return a reason as it is kept; one that is missing or cannot be kept is refused."""
    text = reason.strip()
    if not text:
        raise invalid("Say why.")
    if len(text) > LONGEST_REASON:
        raise invalid(f"A reason has at most {LONGEST_REASON} characters.")
    for fault in reader.text_faults(text):
        raise invalid(f"The reason cannot be kept: {fault}")
    return text


def times(wanted: HoldRequest, author: Actor, now: datetime) -> tuple[datetime, datetime | None]:
    """Return when a hold begins and ends."""
    begins = wanted.starts_at or now
    if wanted.starts_at and (wanted.kind != KIND.FREEZE or wanted.window):
        raise invalid("Only a freeze that does not come back may begin later.")
    if any(each and each.tzinfo is None for each in (wanted.starts_at, wanted.ends_at)):
        raise invalid("A time needs its zone.")
    if not wanted.open_ended:
        return begins, checked_end(wanted.ends_at or max(begins, now) + DEFAULT, begins, now)
    # What a machine stopped, only a person sets going again: not even the clock.
    if wanted.kind != KIND.STOP and author.kind == "person":
        raise invalid("Only a stop may be without an end.")
    if wanted.ends_at:
        raise invalid("It either ends or it does not.")
    return begins, None


def checked_end(ends: datetime, begins: datetime, now: datetime) -> datetime:
    """Return an end that lies ahead, but not too far."""
    if ends.tzinfo is None:
        raise invalid("A time needs its zone.")
    if ends <= max(begins, now):
        raise invalid("It would end before it begins.")
    if ends > now + LONGEST:
        raise invalid(f"A hold ends within {LONGEST.days} days; it can be renewed.")
    return ends


def reminder(begins: datetime, ends: datetime | None) -> datetime | None:
    """Return when to remind people of an end."""
    return ends - min(REMINDER, (ends - begins) / 2) if ends else None


def known_domain(domain: str) -> str:
    """Return a domain that somebody declared, or that something belongs to."""
    if domain:
        found = Resource.objects.filter(
            Q(kind="Domain", name=domain) | Q(domain=domain), deleted_at=None
        )
        if any(reader.text_faults(domain)) or not found.exists():
            raise invalid("There is no such domain.")
    return domain


def living(key: int, kind: str = "") -> Resource:
    """Return a resource that is there, and of a kind if one is asked for."""
    found = Resource.objects.filter(pk=key, deleted_at=None).first()
    if found is None or (kind and found.kind != kind):
        raise invalid(f"There is no such {kind.lower() or 'resource'}.")
    return found


def checked_owner(owner: User | None) -> User | None:
    """Return an owner who can be reminded."""
    if owner is not None and not owner.is_active:
        raise invalid("Its owner has left.")
    return owner


def checked_value(wanted: HoldRequest) -> Any:
    """Return what an override puts in a field; everything else has no value."""
    if wanted.value is None:
        return None
    if wanted.kind != KIND.OVERRIDE or not WRITABLE.fullmatch(wanted.path):
        raise invalid("Only an override of a field of the spec, named without [], has a value.")
    try:
        return reader.admit(wanted.value)
    except reader.Unreadable as error:
        raise invalid(f"The value cannot be kept: {error}") from error


def checked_window(wanted: HoldRequest) -> dict[str, str]:
    """Return when a freeze comes back, if it does."""
    if not wanted.window:
        return {}
    if wanted.kind != KIND.FREEZE:
        raise invalid("Only a freeze comes back.")
    texts = {name: part for name, part in wanted.window.items() if isinstance(part, str)}
    complete = len(wanted.window) == len(texts) and texts.keys() == set(WINDOW)
    if not complete or due_times.window(*(texts[name] for name in WINDOW)) is None:
        raise invalid(
            "A window has a cron such as 0 18 * * 5, a timezone such as Europe/Brussels "
            f"and a duration such as 62h, of at most {due_times.LONGEST_WINDOW.days} days."
        )
    return texts
