"""Roles that come from groups of the identity provider: explicit, marked, and gone with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import transaction

from controllers.access import people
from controllers.models import Grant
from resources.documents.actor import SYSTEM
from resources.documents.problems import forbidden, invalid
from resources.store import announcements

PROVIDER = "oidc"
RISKS = ("low", "medium", "high")
LONGEST_NAME = 150


@dataclass(frozen=True)
class Mapped:
    """What one group gives: a role, for the organisation or a domain, up to a risk."""

    group: str
    role: str
    domain: str = ""
    ceiling: str = "high"

    @property
    def told(self) -> dict[str, str]:
        """What the ledger keeps of it."""
        ceiling = {"ceiling": self.ceiling} if self.role == Grant.Role.APPROVER else {}
        return {"role": self.role, "domain": self.domain, "group": self.group, **ceiling}


def given_by(groups: Iterable[str]) -> dict[tuple[str, str], Mapped]:
    """Return what groups give together; of two ceilings the higher. Others give nothing."""
    held = set(groups)
    found: dict[tuple[str, str], Mapped] = {}
    for entry in settings.OIDC_GROUPS:
        each = Mapped(*entry)
        known = found.get((each.role, each.domain))
        if each.group in held and (known is None or higher(each, known)):
            found[each.role, each.domain] = each
    return found


def higher(one: Mapped, other: Mapped) -> bool:
    """Tell whether one reaches further than another."""
    return RISKS.index(one.ceiling) > RISKS.index(other.ceiling)


def groups_in(claims: Mapping[str, Any]) -> list[str]:
    """Read the groups from what the provider signed; anything else gives nothing."""
    said = claims.get(settings.OIDC_GROUPS_CLAIM, ())
    listed = [said] if isinstance(said, str) else said
    return [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []


def admit(claims: Mapping[str, Any], now: datetime) -> User:
    """Return whom the provider vouches for, with the roles of their groups as of now.

    Somebody new is added. Nobody is taken for somebody who signs in otherwise.
    """
    subject, rights = str(claims.get("sub", "")), given_by(groups_in(claims))
    with transaction.atomic():
        known = SocialAccount.objects.filter(provider=PROVIDER, uid=subject).first()
        person = known.user if known else None
        if person is not None:
            settle(person, rights, now)
    if not subject or not rights:
        raise forbidden("None of your groups opens this installation. Ask its administrator.")
    return person or add(subject, claims, rights, now)


def add(
    subject: str,
    claims: Mapping[str, Any],
    rights: Mapping[tuple[str, str], Mapped],
    now: datetime,
) -> User:
    """Add somebody who has never been here."""
    name = username(claims) or subject[:LONGEST_NAME]
    with transaction.atomic():
        if User.objects.filter(username__iexact=name).exists():
            raise forbidden(
                f"Somebody called {name} signs in here another way. Ask an administrator to"
                f" connect you: ioa door connect {name} SUBJECT."
            )
        person = User(username=name, first_name=short(claims, "given_name"))
        person.last_name, person.email = short(claims, "family_name"), short(claims, "email", 254)
        person.set_unusable_password()
        person.save(force_insert=True)
        SocialAccount.objects.create(provider=PROVIDER, uid=subject, user=person)
        people.note(person, "person.added", {"by": PROVIDER}, actor=SYSTEM, now=now)
        settle(person, rights, now)
    return person


def connect(person: User, subject: str, *, by: User, now: datetime) -> None:
    """Let somebody who is here already come by the identity provider too."""
    from controllers.access import roles

    roles.check_administers(by, now)
    taken = SocialAccount.objects.filter(provider=PROVIDER, uid=subject)
    if not subject.strip() or taken.exists():
        raise invalid("Name the subject of somebody who is not connected yet.")
    with transaction.atomic():
        SocialAccount.objects.create(provider=PROVIDER, uid=subject.strip(), user=person)
        actor = people.actor_for(by)
        people.note(person, "person.connected", {"to": PROVIDER}, actor=actor, now=now)


def username(claims: Mapping[str, Any]) -> str:
    """Return what somebody is called at the provider, as a name is written here."""
    said = short(claims, "preferred_username") or short(claims, "email")
    kept = "".join(each for each in said if each.isalnum() or each in "@.+-_")
    return kept[:LONGEST_NAME]


def short(claims: Mapping[str, Any], name: str, longest: int = LONGEST_NAME) -> str:
    """Read a text from what the provider signed."""
    said = claims.get(name, "")
    return said.replace("\x00", "")[:longest] if isinstance(said, str) else ""


def settle(person: User, rights: Mapping[tuple[str, str], Mapped], now: datetime) -> None:
    """Give what groups give now, and take what only groups gave that are gone."""
    held = {(each.role, each.domain): each for each in Grant.objects.filter(person=person)}
    for place, grant in held.items():
        if grant.source and place not in rights:
            grant.delete()
            told = {"role": grant.role, "domain": grant.domain, "group": grant.source}
            people.note(person, "person.revoked", told, actor=SYSTEM, now=now)
    for place, right in rights.items():
        known = held.get(place)
        if known is None or (known.source and differs(known, right)):
            give(person, right, now)
    join(person)
    announcements.announce()


def differs(grant: Grant, right: Mapped) -> bool:
    """Tell whether a grant is not what its group gives."""
    return (grant.source, grant.ceiling) != (right.group, right.ceiling)


def give(person: User, right: Mapped, now: datetime) -> None:
    """Give a role, marked with the group it comes from."""
    Grant.objects.update_or_create(
        person=person,
        role=right.role,
        domain=right.domain,
        defaults={
            "ceiling": right.ceiling,
            "granted_by": str(SYSTEM),
            "granted_at": now,
            "ends_at": None,
            "source": right.group,
        },
    )
    people.note(person, "person.granted", right.told, actor=SYSTEM, now=now)


def join(person: User) -> None:
    """Let the admin site know the roles somebody holds for the whole organisation."""
    held = set(Grant.objects.filter(person=person, domain="").values_list("role", flat=True))
    named = {name for name, role in people.GRANTED.items() if role in held}
    people.ensure_roles()
    person.groups.set(Group.objects.filter(name__in=named))
    staff = bool(named & {"Administrators", "Operators", "Auditors"})
    User.objects.filter(pk=person.pk).update(is_staff=staff)
