"""The people: roles, the first administrator, and sign-in links that work once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group, Permission, User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.db import transaction
from django.db.models import Q
from django.urls import reverse

from controllers.models import Grant
from resources.documents.actor import SYSTEM, Actor
from resources.tables import ledger

# How people are sorted when they are added. What they may do is asked of their grants alone.
ROLES = {
    "Viewers": ("view_resource",),
    "Operators": ("view_resource", "add_resource", "change_resource"),
    "Approvers": ("view_resource",),
    "Auditors": ("view_resource", "view_ledgerevent"),
    "Administrators": (),
}

# The role that goes with each group, for the whole organisation.
GRANTED = {
    "Viewers": Grant.Role.VIEWER,
    "Operators": Grant.Role.OPERATOR,
    "Approvers": Grant.Role.APPROVER,
    "Auditors": Grant.Role.AUDITOR,
    "Administrators": Grant.Role.ADMINISTRATOR,
}


# The roles that work in the admin: what they may do there is asked each time.
INSIDE = (Grant.Role.OPERATOR, Grant.Role.ADMINISTRATOR, Grant.Role.AUDITOR)


@dataclass(frozen=True)
class Sample:
    """A person of the example organisation."""

    username: str
    name: str
    role: str
    title: str


SAMPLES = (
    Sample("maya", "Maya Chen", "Approvers", "manager"),
    Sample("tomas", "Tomás Silva", "Approvers", "second manager"),
    Sample("ines", "Ines Okafor", "Operators", "operator"),
    Sample("vera", "Vera Lind", "Viewers", "viewer"),
)


class LinkTokens(PasswordResetTokenGenerator):
    """Makes tokens that die with the sign-in they allow: the last sign-in is part of them."""

    key_salt = "controllers.access.people.LinkTokens"

    def _make_hash_value(self, user: User, timestamp: int) -> str:
        # Django leaves the microseconds out, so a link would outlive its use within one second.
        return f"{super()._make_hash_value(user, timestamp)}{user.last_login}"


def ensure_roles() -> dict[str, Group]:
    """Make the roles and give them their rights."""
    groups = {}
    for name, rights in ROLES.items():
        group, made = Group.objects.get_or_create(name=name)
        groups[name] = group
        if made:
            ours = Permission.objects.filter(content_type__app_label__in=["resources", "auth"])
            group.permissions.set(ours.filter(codename__in=rights) if rights else ours)
    return groups


def ensure_administrator(now: datetime) -> User:
    """Return the first administrator, made on the first start without any password."""
    with transaction.atomic():
        groups = ensure_roles()
        first = User.objects.filter(groups=groups["Administrators"]).order_by("pk").first()
        return first or add_administrator(now)


def add_administrator(now: datetime) -> User:
    """Add somebody who administers and decides: one person alone can run the product.

    What they propose themselves, somebody else decides.
    """
    user = add_person("admin", name="Administrator", role="Administrators", actor=SYSTEM, now=now)
    give(user, Grant.Role.APPROVER, actor=SYSTEM, now=now)
    note(user, "person.granted", {"role": "approver", "domain": ""}, actor=SYSTEM, now=now)
    return user


def add_person(username: str, *, name: str, role: str, actor: Actor, now: datetime) -> User:
    """Add a person who signs in by link first."""
    given, _, family = name.partition(" ")
    with transaction.atomic():
        user = User(username=username, first_name=given, last_name=family)
        user.is_staff = role in ("Administrators", "Operators", "Auditors")
        user.set_unusable_password()
        user.save(force_insert=True)
        user.groups.add(ensure_roles()[role])
        give(user, GRANTED[role], actor=actor, now=now)
        note(user, "person.added", {"role": role}, actor=actor, now=now)
    return user


def give(user: User, role: Grant.Role, *, actor: Actor, now: datetime) -> None:
    """Give somebody who is new a role for the whole organisation."""
    Grant.objects.create(person=user, role=role, granted_by=str(actor), granted_at=now)


def open_door(user: User, now: datetime) -> None:
    """Let whoever holds a role that works there into the admin, and nobody else."""
    held = Grant.objects.filter(Q(ends_at=None) | Q(ends_at__gt=now), person=user)
    inside = held.filter(role__in=INSIDE).exists()
    User.objects.filter(pk=user.pk).exclude(is_staff=inside).update(is_staff=inside)


def ensure_samples(now: datetime) -> list[User]:
    """Return the people of the example organisation, made when missing."""
    known = {user.username: user for user in User.objects.all()}
    return [
        known.get(each.username)
        or add_person(each.username, name=each.name, role=each.role, actor=SYSTEM, now=now)
        for each in SAMPLES
    ]


def sign_in_link(user: User, base: str) -> str:
    """Return an address that signs this person in, once."""
    base = (settings.BASE_URL or base).rstrip("/")
    return base + reverse("sign-in", args=[user.pk, LinkTokens().make_token(user)])


def link_holder(user_id: int, token: str) -> User | None:
    """Return whom a link belongs to, if it is still good."""
    user = User.objects.filter(pk=user_id, is_active=True).first()
    return user if user is not None and LinkTokens().check_token(user, token) else None


def redeem(user: User, now: datetime) -> bool:
    """Use a link up: of two who press it at once, one gets in."""
    with transaction.atomic():
        unused = User.objects.filter(pk=user.pk, last_login=user.last_login)
        if not unused.update(last_login=now):
            return False
        note(user, "person.signed-in", {"by": "link"}, actor=actor_for(user), now=now)
    return True


def actor_for(user: User) -> Actor:
    """Return the actor a signed-in person is."""
    return Actor("person", user.get_username())


def note(
    user: User, event: str, payload: Mapping[str, Any], *, actor: Actor, now: datetime
) -> None:
    """Write what happened to a person into their chain."""
    subject = f"person/{user.get_username()}"
    entry = ledger.Entry(stream=subject, event=event, subject=subject, payload=payload)
    ledger.append([entry], actor=actor, now=now)
