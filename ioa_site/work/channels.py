"""Channels from the command line."""

from __future__ import annotations

import getpass
import sys

from django.contrib.auth.models import User

from controllers.models import Channel, Delivery
from controllers.notifications import delivery
from ioa_site.commands import Stop
from ioa_site.server.terminal import shown
from ioa_site.work import caller
from ioa_site.work.names import ago

HEADS = ("NAME", "SERVICE", "STATE", "CHANGED BY", "PROBLEM")


def put(name: str, person: str | None) -> str:
    """Put a service behind a name; return what may be shown of its address."""
    who = known(person)
    address = asked(name)
    return delivery.map_channel(name, address, person=who, now=caller.now()).hint


def remove(name: str, person: str | None) -> None:
    """Take the service behind a name away."""
    delivery.unmap_channel(name, person=known(person), now=caller.now())


def test(name: str, person: str | None) -> None:
    """Send a message that says it is a test, and wait for what becomes of it."""
    told = delivery.test_channel(name, person=known(person), now=caller.now())
    told = delivery.send_one(told.pk, caller.now())
    if told.state != Delivery.State.SENT:
        raise Stop(f"It did not arrive: {told.error or 'another worker has it.'}", code=1)


def listed() -> list[tuple[str, ...]]:
    """Return a table of channels; their addresses are not shown."""
    now = caller.now()
    return [
        (
            each.name,
            each.hint,
            "on" if each.enabled else "off",
            each.changed_by,
            f"{ago(each.failed_at, now)} ago: {each.error}" if each.failed_at else "",
        )
        for each in Channel.objects.order_by("name")
    ]


def known(name: str | None) -> User:
    """Return the person at the keyboard, by their own word or by the machine's."""
    called = name or caller.person().name
    found = User.objects.filter(username=called, is_active=True).first()
    if found is None:
        raise Stop(
            f"There is no active person called {shown(called, 100)}: say who you are with --as.",
            code=1,
        )
    return found


def asked(name: str) -> str:
    """Read an address: from a person without showing it, or from standard input."""
    if sys.stdin.isatty():
        return getpass.getpass(f"Address of {shown(name, 100)}: ")
    return sys.stdin.readline(3_000)
