"""Give and take roles: only an administrator of the place does, and nobody for themselves.

Nobody gives what they do not hold. Who administers a place may do there what its viewers,
operators and auditors may; deciding is not part of that: only who decides makes others decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from controllers.access import people
from controllers.access.roles.eligibility import RISKS
from controllers.access.roles.rights import ADMINISTER, DECIDE, grants, place
from controllers.access.roles.rights_ledger import note
from controllers.models import Grant
from resources.documents.problems import denied, invalid, refused
from resources.tables import ledger
from resources.tables.models import Resource


@dataclass(frozen=True)
class Right:
    """A role for the organisation or one domain; approvers decide up to a risk."""

    role: str
    domain: str = ""
    ceiling: str = "high"
    ends_at: datetime | None = None


def grant(person: User, right: Right, *, by: User, now: datetime) -> Grant:
    """Give somebody a role; given again, its ceiling and its end are the new ones."""
    check_wanted(right, now)
    wanted = Grant(
        person=person,
        role=right.role,
        domain=right.domain,
        ceiling=right.ceiling,
        granted_by=f"person/{by.get_username()}",
        granted_at=now,
        ends_at=right.ends_at,
    )
    with transaction.atomic():
        check_administrator(by, right.domain, now)
        if by.pk == person.pk:
            raise denied("OwnRights", "Nobody gives themselves a role.")
        check_held(by, right, now)
        Grant.objects.bulk_create(
            [wanted],
            update_conflicts=True,
            unique_fields=["person", "role", "domain"],
            update_fields=["ceiling", "granted_by", "granted_at", "ends_at", "source"],
        )
        check_administered(right.role, right.domain, now)
        people.open_door(person, now)
        note(person, "person.granted", told(right), by=by, now=now)
    return Grant.objects.get(person=person, role=right.role, domain=right.domain)


def revoke(person: User, role: str, *, by: User, now: datetime, domain: str = "") -> bool:
    """Take a role from somebody, at once; tells whether they had it. Anybody may step back."""
    with transaction.atomic():
        if by.pk == person.pk:
            administrators(domain, now)
        else:
            check_administrator(by, domain, now)
        taken, _ = Grant.objects.filter(person=person, role=role, domain=domain).delete()
        if taken:
            check_administered(role, domain, now)
            people.open_door(person, now)
            note(person, "person.revoked", {"role": role, "domain": domain}, by=by, now=now)
    return bool(taken)


def check_wanted(wanted: Right, now: datetime) -> None:
    """Raise unless a grant makes sense."""
    if wanted.role not in Grant.Role.values:
        raise invalid(f"Choose a role from: {', '.join(Grant.Role.values)}.")
    if wanted.ceiling not in RISKS:
        raise invalid(f"Choose a ceiling from: {', '.join(RISKS)}.")
    if wanted.ends_at is not None and wanted.ends_at <= now:
        raise invalid("The end of a grant lies ahead.")
    domains = Resource.objects.filter(kind="Domain", name=wanted.domain, deleted_at=None)
    if wanted.domain and not domains.exists():
        raise invalid(f"There is no domain/{wanted.domain}.")


def administrators(domain: str, now: datetime) -> list[Grant]:
    """Return who administers a place, locked in one order: rights change one after the other."""
    held = grants(ADMINISTER, domain, now).select_for_update(of=("self",))
    return list(held.order_by("pk"))


def check_administrator(by: User, domain: str, now: datetime) -> None:
    """Raise unless somebody administers the place where a role is given or taken."""
    if by.pk not in {each.person_id for each in administrators(domain, now)}:
        said = f"Only an administrator of {place(domain)} gives or takes roles there."
        raise denied("NotAdministrator", said)


def check_held(by: User, right: Right, now: datetime) -> None:
    """Raise if somebody would give more than they hold: a right to decide, or a higher risk."""
    if right.role != Grant.Role.APPROVER:
        return
    own = grants(DECIDE, right.domain, now).filter(person=by.pk).values_list("ceiling", flat=True)
    highest = max((RISKS.index(each) for each in own), default=-1)
    if highest < RISKS.index(right.ceiling):
        upto = f"only up to {RISKS[highest]} risk" if highest >= 0 else "not at all"
        said = f"Nobody gives what they do not hold: you decide {upto} in {place(right.domain)}."
        raise denied("NotHeld", said)


def check_administered(role: str, domain: str, now: datetime) -> None:
    """Raise if a change leaves nobody who administers the organisation, now or one day."""
    if role != Grant.Role.ADMINISTRATOR or domain:
        return
    if not grants(ADMINISTER, "", now).filter(ends_at=None).exists():
        raise refused("The organisation needs an administrator whose grant does not end.")


def told(right: Right) -> dict[str, str]:
    """Write a right as the ledger keeps it."""
    ends = {"endsAt": ledger.instant(right.ends_at)} if right.ends_at else {}
    ceiling = {"ceiling": right.ceiling} if right.role == Grant.Role.APPROVER else {}
    return {"role": right.role, "domain": right.domain, **ceiling, **ends}
