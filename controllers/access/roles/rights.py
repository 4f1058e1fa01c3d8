"""What each role lets people do, where it was granted and while the grant stands."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from controllers.common.clocks import current
from controllers.models import Grant
from resources.documents.problems import denied

# Stopping is cheap and wide, starting is narrow. Deciding is the approvers' alone, and each case
# has rules of its own: see `eligibility`.
STOP = ("operator", "approver", "administrator")
LIFT = ("approver", "administrator")
PROPOSE = ("operator", "administrator")
OPERATE = ("operator", "administrator")
GLASS = ("approver", "administrator")
DECIDE = ("approver",)
ADMINISTER = ("administrator",)


def grants(roles: Iterable[str], domain: str, now: datetime) -> QuerySet[Grant]:
    """Return the grants of these roles that reach a domain (without one: the organisation)."""
    return anywhere(roles, now).filter(domain__in={"", domain})


def anywhere(roles: Iterable[str], now: datetime) -> QuerySet[Grant]:
    """Return the grants of these roles that stand, wherever they count."""
    return Grant.objects.filter(
        Q(ends_at=None) | Q(ends_at__gt=current(now)),
        role__in=tuple(roles),
        person__is_active=True,
    )


def holds_role(person: User, roles: Iterable[str], domain: str, now: datetime) -> bool:
    """Tell whether somebody holds one of these roles for a domain or for the organisation."""
    return grants(roles, domain, now).filter(person=person.pk).exists()


def approvers(domain: str, now: datetime) -> int:
    """Count the people who may decide in a domain."""
    return grants(DECIDE, domain, now).values("person").distinct().count()


def holds_anywhere(person: User, roles: Iterable[str], now: datetime) -> bool:
    """Tell whether somebody holds one of these roles, wherever it counts."""
    return anywhere(roles, now).filter(person=person.pk).exists()


def check_administers(person: User, now: datetime) -> None:
    """Raise unless somebody administers the organisation."""
    check(person, ADMINISTER, "", now, "does this for others")


def check_stop(person: User, domain: str, now: datetime) -> None:
    """Raise unless somebody may pause, freeze, override or stop in a domain."""
    check(person, STOP, domain, now, "stops anything")


def check_lift(person: User, domain: str, now: datetime) -> None:
    """Raise unless somebody may lift what holds a domain."""
    check(person, LIFT, domain, now, "lifts a hold")


def check_propose(person: User, domain: str, now: datetime) -> None:
    """Raise unless somebody may propose actions in a domain."""
    check(person, PROPOSE, domain, now, "proposes anything")


def check_operate(person: User, domain: str, now: datetime) -> None:
    """Raise unless somebody may run controllers, retry and reset in a domain."""
    check(person, OPERATE, domain, now, "runs controllers")


def check_run(person: User, domain: str, now: datetime) -> None:
    """Raise unless somebody may start the workflows of a domain."""
    check(person, OPERATE, domain, now, "starts workflows")


def check_glass(person: User, domain: str, now: datetime) -> None:
    """Raise unless somebody may approve alone in an emergency in a domain."""
    check(person, GLASS, domain, now, "breaks the glass")


def check(person: User, roles: tuple[str, ...], domain: str, now: datetime, deed: str) -> None:
    """Raise unless somebody holds one of these roles where they want to act."""
    if not holds_role(person, roles, domain, now):
        code = f"Not{roles[0].title()}"
        raise denied(code, f"Only {any_of(roles)} of {place(domain)} {deed}.")


def any_of(roles: tuple[str, ...]) -> str:
    """List roles in words."""
    worded = [f"an {each}" if each[0] in "ao" else f"a {each}" for each in roles]
    return " or ".join(worded)


def place(domain: str) -> str:
    """Name where a role counts."""
    return domain or "the organisation"
