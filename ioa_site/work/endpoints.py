"""Endpoints from the command line."""

from __future__ import annotations

from collections.abc import Sequence

from controllers.models import Endpoint
from controllers.operations import endpoints
from ioa_site.work import caller
from ioa_site.work.channels import known

HEADS = ("NAME", "ADDRESS", "OPERATIONS", "DOMAIN", "STATE", "CHANGED BY")


def add(name: str, url: str, operations: Sequence[str], domain: str, person: str | None) -> str:
    """Enter an endpoint; return its secret."""
    who = known(person)
    return endpoints.register(name, url, operations, domain, person=who, now=caller.now())[1]


def rotate(name: str, person: str | None) -> str:
    """Give an endpoint a new secret, and return it."""
    who = known(person)
    return endpoints.rotate(name, person=who, now=caller.now())


def switch(name: str, enabled: bool, person: str | None) -> None:
    """Switch an endpoint on or off."""
    who = known(person)
    endpoints.switch(name, enabled, person=who, now=caller.now())


def listed() -> list[tuple[str, ...]]:
    """Return a table of endpoints; their secrets are not shown."""
    return [
        (
            each.name,
            each.url,
            ", ".join(each.operations),
            each.domain or "all",
            "on" if each.enabled else "off",
            each.changed_by,
        )
        for each in Endpoint.objects.order_by("name")
    ]
