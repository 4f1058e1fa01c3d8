"""Channels: administrators say which service stands behind a name; addresses are write-only."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from controllers.access import people, roles
from controllers.common import secrets
from controllers.models import Channel, Delivery
from controllers.notifications.delivery import services
from controllers.notifications.delivery.outbox import digest, tell
from resources.documents.problems import denied, invalid, missing
from resources.store import announcements
from resources.tables import ledger

LONGEST_NAME = 253


def map_channel(name: str, address: str, *, person: User, now: datetime) -> Channel:
    """Put a service behind a name; the address is kept encrypted and never shown again."""
    check_administrator(person, now)
    check_name(name)
    actor = people.actor_for(person)
    channel = Channel(
        name=name,
        hint=services.hint_of(address),
        address=secrets.encrypt(address.strip()),
        enabled=True,
        changed_at=now,
        changed_by=str(actor),
    )
    changed = ("hint", "address", "enabled", "changed_at", "changed_by", "failed_at", "error")
    with transaction.atomic():
        Channel.objects.bulk_create(
            [channel], update_conflicts=True, unique_fields=["name"], update_fields=changed
        )
        note(name, "mapped", person, now, {"hint": channel.hint})
    return Channel.objects.get(name=name)


def unmap_channel(name: str, *, person: User, now: datetime) -> None:
    """Take the service behind a name away; what is told on it stays in the product."""
    check_administrator(person, now)
    with transaction.atomic():
        gone, _ = Channel.objects.filter(name=name).delete()
        if not gone:
            raise missing(f"No service stands behind {name[:LONGEST_NAME]!r}.")
        note(name, "unmapped", person, now, {})


def test_channel(name: str, *, person: User, now: datetime) -> Delivery:
    """Put a message that says it is a test on the way of all messages."""
    check_administrator(person, now)
    key = f"test/{name}/{ledger.instant(now)}"
    with transaction.atomic():
        if not Channel.objects.filter(name=name).exists():
            raise missing(f"No service stands behind {name[:LONGEST_NAME]!r}.")
        tell(
            name,
            title=f"Test of {name}",
            body=f"{person.get_username()} tried whether messages arrive here. They do.",
            severity="info",
            key=key,
            now=now,
        )
        note(name, "tested", person, now, {})
    return Delivery.objects.get(key=digest(key))


def check_administrator(person: User, now: datetime) -> None:
    """Refuse everybody else."""
    if not roles.holds_role(person, ("administrator",), "", now):
        raise denied("NotAdministrator", "Only administrators look after channels.")


def check_name(name: str) -> None:
    """Refuse a name that no document could use."""
    if not name or name != name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise invalid(f"A channel's name is a line of 1 to {LONGEST_NAME} characters.")


def note(name: str, event: str, person: User, now: datetime, payload: dict[str, str]) -> None:
    """Write what happened to a channel into its chain."""
    subject = f"channel/{name}"
    entry = ledger.Entry(subject, f"channel.{event}", subject, payload)
    ledger.append([entry], actor=people.actor_for(person), now=now)
    announcements.announce()
