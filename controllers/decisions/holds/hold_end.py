"""Lift, renew and look ahead: starting is narrow, so a person says so, with a reason."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q

from controllers.access import people, roles
from controllers.common.clocks import current
from controllers.decisions import database_lives
from controllers.decisions.holds import in_force, override_values
from controllers.decisions.holds.hold_request import (
    checked_end,
    reminder,
    worded,
)
from controllers.decisions.holds.placement import ATTEMPTS, domain_of, exclude, resume, tell
from controllers.models import Hold
from resources.documents.actor import Actor
from resources.documents.problems import BUSY, Problem, invalid, missing, refused
from resources.store import store
from resources.tables import ledger


def find(key: int) -> Hold:
    """Return a hold with what it names."""
    found = Hold.objects.select_related("controller", "resource", "owner").filter(pk=key).first()
    if found is None:
        raise missing(f"There is no hold/{key}.")
    return found


def lift(key: int, *, person: User, now: datetime, reason: str, restore: bool = False) -> Hold:
    """Lift a hold; `restore` puts back what an override took the place of.

    Nobody else's word is beaten in passing: this is its own act, and the ledger says whose hold
    it was. The first cycle afterwards only proposes.
    """
    why, actor = worded(reason), people.actor_for(person)

    def end(hold: Hold) -> None:
        roles.check_lift(person, domain_of(hold), now)
        close(hold, actor=actor, reason=why, now=now)
        payload: dict[str, Any] = {"reason": why, "placedBy": hold.author}
        if str(actor) != hold.author:
            payload["ofAnother"] = True
        if database_lives.asks(hold):
            payload["incarnation"] = database_lives.accept(actor, now)
        if restore:
            payload["restored"] = put_back(hold, actor=actor, now=now)
        tell(hold, "lifted", payload, actor=actor, now=now)

    return changed(key, end)


def renew(key: int, ends_at: datetime, *, person: User, now: datetime, reason: str) -> Hold:
    """Let a hold stand longer; to end it sooner, lift it."""
    why, actor = worded(reason), people.actor_for(person)

    def prolong(hold: Hold) -> None:
        roles.check_stop(person, domain_of(hold), now)
        # Somebody may have renewed it while this one waited.
        hold.refresh_from_db(fields=["ends_at"])
        checked_end(ends_at, now, now)
        if hold.ends_at is None:
            raise invalid("It has no end that could be put off.")
        if ends_at <= hold.ends_at:
            raise invalid("A renewal ends later than before. To end a hold sooner, lift it.")
        before, remind_at = hold.ends_at, reminder(now, ends_at)
        alter(hold, now, ends_at=ends_at, remind_at=remind_at, reminded_at=None)
        payload = {"endsAt": ledger.instant(ends_at), "before": ledger.instant(before)}
        tell(hold, "renewed", payload | {"reason": why}, actor=actor, now=now)

    return changed(key, prolong)


def changed(key: int, change: Callable[[Hold], None]) -> Hold:
    """Change a hold under the lock of its scope."""
    for _ in range(ATTEMPTS):
        # What a hold covers never changes, so it may be read before its lock is taken.
        hold = find(key)
        with suppress(store.Stale), store.all_or_stale():
            exclude(hold)
            change(hold)
            return hold
    raise Problem(BUSY, "Others keep changing it. Try again.")


def close(hold: Hold, *, actor: Actor, reason: str, now: datetime) -> None:
    """End a hold that stands, and let its controllers propose first."""
    alter(hold, now, ended_at=now, ended_by=str(actor), end_reason=reason)
    resume(hold)


def alter(hold: Hold, now: datetime, **changes: Any) -> None:
    """Change a hold that is not over, and count it; another one is refused."""
    changes["epoch"] = in_force.advance()
    rows = Hold.objects.filter(Q(ends_at=None) | Q(ends_at__gt=current(now)), pk=hold.pk)
    if not rows.filter(ended_at=None).update(**changes):
        raise refused(ending(find(hold.pk)))
    for name, value in changes.items():
        setattr(hold, name, value)


def ending(hold: Hold) -> str:
    """Say when a hold ended, and by whom."""
    if hold.ended_at is None:
        return f"It ended at {hold.ends_at:%Y-%m-%d %H:%M} UTC."
    why = f": {hold.end_reason}" if hold.end_reason else "."
    return f"It was ended at {hold.ended_at:%Y-%m-%d %H:%M} UTC by {hold.ended_by}{why}"


def put_back(hold: Hold, *, actor: Actor, now: datetime) -> Any:
    """Write what stood before an override; what somebody declared since then is left alone."""
    if hold.value is None:
        raise invalid("It has put nothing in the place of anything.")
    if override_values.at(override_values.locked(hold).spec, hold.path) != hold.value:
        raise invalid(f"{hold.path} was declared anew since then: lift without restoring.")
    override_values.put(
        hold, hold.former, actor=actor, now=now, message=f"Lifted: {hold.end_reason}"
    )
    return hold.former
