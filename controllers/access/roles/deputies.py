"""Deputies: somebody decides for somebody else, for a time, and it can be ended."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from controllers.access.roles.rights import ADMINISTER, holds_role
from controllers.access.roles.rights_ledger import note
from controllers.common.clocks import current
from controllers.models import Delegation, Grant
from resources.documents import reader
from resources.documents.problems import denied, invalid, missing, refused
from resources.tables import ledger

LONGEST = timedelta(days=90)
LONGEST_REASON = 500


def in_force(now: datetime) -> QuerySet[Delegation]:
    """Return the delegations that stand now between people who are active."""
    return Delegation.objects.filter(
        starts_at__lte=current(now),
        ends_at__gt=current(now),
        revoked_at=None,
        person__is_active=True,
        deputy__is_active=True,
    )


def delegators(deputy: User, now: datetime) -> list[User]:
    """Return for whom somebody decides now."""
    return list(User.objects.filter(delegations__in=in_force(now).filter(deputy=deputy.pk)))


def stood(person: User, deputy: User, at: datetime) -> bool:
    """Tell whether somebody was a person's deputy at a time."""
    then = Delegation.objects.filter(
        Q(revoked_at=None) | Q(revoked_at__gt=at),
        person=person,
        deputy=deputy,
        starts_at__lte=at,
        ends_at__gt=at,
    )
    return then.exists()


def delegate(
    deputy: User,
    *,
    person: User,
    starts_at: datetime,
    ends_at: datetime,
    now: datetime,
    reason: str = "",
) -> Delegation:
    """Let a deputy decide what a person may decide; only that person can."""
    wanted = Delegation(
        person=person,
        deputy=deputy,
        # Nobody was a deputy before it was said.
        starts_at=max(starts_at, now),
        ends_at=ends_at,
        reason=reason.strip(),
        created_at=now,
    )
    check_wanted(wanted)
    with transaction.atomic():
        check_approver(person, now)
        wanted.save(force_insert=True)
        note(person, "person.delegated", told(wanted), by=person, now=now)
    return wanted


def end_delegation(key: int, *, by: User, now: datetime) -> Delegation:
    """End a delegation early: its two people may, and administrators; twice changes nothing."""
    with transaction.atomic():
        found = Delegation.objects.select_related("person", "deputy").filter(pk=key).first()
        if found is None:
            raise missing(f"There is no delegation {key}.")
        involved = by.pk in (found.person_id, found.deputy_id)
        if not involved and not holds_role(by, ADMINISTER, "", now):
            said = "Only the two people of a delegation and administrators end it."
            raise denied("NotInvolved", said)
        standing = Delegation.objects.filter(pk=key, revoked_at=None, ends_at__gt=current(now))
        if standing.update(revoked_at=now):
            found.revoked_at = now
            note(found.person, "person.delegation-ended", told(found), by=by, now=now)
    return found


def check_wanted(wanted: Delegation) -> None:
    """Raise unless a delegation makes sense."""
    if wanted.person_id == wanted.deputy_id:
        raise invalid("Nobody is their own deputy.")
    if not User.objects.filter(pk=wanted.deputy_id, is_active=True).exists():
        raise refused(f"{wanted.deputy.get_username()} is not active.")
    if wanted.ends_at <= wanted.starts_at:
        raise invalid("A delegation ends after it begins, and not in the past.")
    if wanted.ends_at - wanted.starts_at > LONGEST:
        raise invalid(f"A delegation lasts at most {LONGEST.days} days.")
    if len(wanted.reason) > LONGEST_REASON:
        raise invalid(f"A reason has at most {LONGEST_REASON} characters.")
    for fault in reader.text_faults(wanted.reason):
        raise invalid(f"The reason cannot be kept: {fault}")


def check_approver(person: User, now: datetime) -> None:
    """Raise unless somebody has something to delegate: a right to decide, anywhere."""
    held = Grant.objects.filter(
        Q(ends_at=None) | Q(ends_at__gt=current(now)),
        person=person.pk,
        role=Grant.Role.APPROVER,
        person__is_active=True,
    )
    if not held.exists():
        raise denied("NotApprover", "Only who may decide names a deputy.")


def told(delegation: Delegation) -> dict[str, str]:
    """Write a delegation as the ledger keeps it."""
    return {
        "deputy": f"person/{delegation.deputy.get_username()}",
        "startsAt": ledger.instant(delegation.starts_at),
        "endsAt": ledger.instant(delegation.ends_at),
        "reason": delegation.reason,
    }
