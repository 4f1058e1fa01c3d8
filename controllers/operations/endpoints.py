"""Outside machines that carry operations out: entered, given new keys and switched off."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from controllers.access import people, roles
from controllers.common import secrets
from controllers.models import Endpoint, Step
from controllers.operations import webhooks
from controllers.operations.catalogue import find
from resources.documents.problems import conflict, denied, invalid, missing, refused
from resources.store import announcements
from resources.tables import ledger

ADMINISTRATORS = ("administrator",)
LONGEST_ADDRESS = 2000
# What an endpoint did not do counts as lately for so long; more is not read for one page.
LATELY, MOST_FAILURES = timedelta(days=7), 200
# As resources are named.
NAME = re.compile(r"[a-z][a-z0-9-]{0,252}")


def taking(operation: str, domain: str) -> Endpoint | None:
    """Return the endpoint that takes an operation; one of the domain comes before one for all."""
    enabled = Endpoint.objects.filter(enabled=True, domain__in={domain, ""})
    fitting = [each for each in enabled.order_by("name") if operation in each.operations]
    return min(fitting, key=lambda each: each.domain == "", default=None)


def register(
    name: str, url: str, operations: Sequence[str], domain: str, *, person: User, now: datetime
) -> tuple[Endpoint, str]:
    """Enter an endpoint; its secret is returned here, and never again."""
    fault = objection(name, url, operations, domain)
    if fault:
        raise invalid(fault)
    check_right(person, domain, now)
    secret = new_secret()
    endpoint = Endpoint(
        name=name,
        url=url,
        secret=secrets.encrypt(secret),
        operations=sorted(set(operations)),
        domain=domain,
        changed_at=now,
        changed_by=str(people.actor_for(person)),
    )
    try:
        with transaction.atomic():
            Endpoint.objects.bulk_create([endpoint])
            tell(endpoint, "registered", person=person, now=now)
    except IntegrityError:
        raise refused(f"There is an endpoint {name} already.") from None
    return endpoint, secret


def rotate(name: str, *, person: User, now: datetime) -> str:
    """Give an endpoint a new secret, returned here only; the former one signs beside it."""
    endpoint = known(name, person, now)
    secret = new_secret()
    both = secrets.encrypt(" ".join([secret, *former_secret(endpoint)]))
    with transaction.atomic():
        change(endpoint, person=person, now=now, secret=both)
        tell(endpoint, "rotated", person=person, now=now)
    return secret


def former_secret(endpoint: Endpoint) -> list[str]:
    """Return the secret in use; one that cannot be read any more is simply replaced."""
    try:
        return secrets.decrypt(endpoint.secret).split()[:1]
    except secrets.Unreadable:
        return []


def switch(name: str, enabled: bool, *, person: User, now: datetime) -> Endpoint:
    """Switch an endpoint on or off; what it would take is then done otherwise."""
    endpoint = known(name, person, now)
    if endpoint.enabled == enabled:
        return endpoint
    with transaction.atomic():
        change(endpoint, person=person, now=now, enabled=enabled)
        tell(endpoint, "enabled" if enabled else "disabled", person=person, now=now)
    return endpoint


def failures(now: datetime) -> dict[str, list[Step]]:
    """Return what went wrong lately at each endpoint, the latest first."""
    trouble = (Step.State.FAILED, Step.State.UNKNOWN)
    rows = Step.objects.filter(state__in=trouble, executor="webhook", ended_at__gt=now - LATELY)
    found: dict[str, list[Step]] = {}
    for each in rows.order_by("-ended_at", "-pk")[:MOST_FAILURES]:
        found.setdefault(each.claimed_by.removeprefix("endpoint/"), []).append(each)
    return found


def check_right(person: User, domain: str, now: datetime) -> None:
    """Raise unless somebody administers a domain, or without one the organisation."""
    if not roles.holds_role(person, ADMINISTRATORS, domain, now):
        where = domain or "the organisation"
        raise denied("NotAdministrator", f"Only an administrator of {where} may do this.")


def objection(name: str, url: str, operations: Sequence[str], domain: str) -> str:
    """Say why an endpoint cannot be entered, or nothing."""
    if not all(NAME.fullmatch(each) for each in (name, domain or name)):
        return "A name starts with a to z and holds only a to z, 0 to 9 and hyphens."
    if len(url) > LONGEST_ADDRESS:
        return f"An address has at most {LONGEST_ADDRESS} characters."
    unknown = [each for each in operations if (known := find(each)) is None or known.tells]
    if unknown or not operations:
        return f"It must take operations of the catalogue; {', '.join(unknown) or 'none'} is none."
    return webhooks.objection(url)


def new_secret() -> str:
    """Make a secret in the form that Standard Webhooks asks for."""
    return "whsec_" + base64.b64encode(os.urandom(32)).decode("ascii")


def known(name: str, person: User, now: datetime) -> Endpoint:
    """Return an endpoint to somebody who may change it."""
    endpoint = Endpoint.objects.filter(name=name).first() if NAME.fullmatch(name) else None
    if endpoint is None:
        raise missing(f"There is no endpoint {name}.")
    check_right(person, endpoint.domain, now)
    return endpoint


def change(endpoint: Endpoint, *, person: User, now: datetime, **values: Any) -> None:
    """Change an endpoint, if it still is what was read."""
    as_read = Endpoint.objects.filter(
        pk=endpoint.pk, secret=endpoint.secret, enabled=endpoint.enabled
    )
    values |= {"changed_at": now, "changed_by": str(people.actor_for(person))}
    if not as_read.update(**values):
        raise conflict(f"Somebody else has changed the endpoint {endpoint.name} meanwhile.")
    for field, value in values.items():
        setattr(endpoint, field, value)


def tell(endpoint: Endpoint, event: str, *, person: User, now: datetime) -> None:
    """Write what happened to an endpoint into its chain; secrets stay out of it."""
    entry = ledger.Entry(
        stream=f"endpoint/{endpoint.name}",
        event=f"endpoint.{event}",
        subject=f"endpoint/{endpoint.name}",
        payload={
            "host": urlsplit(endpoint.url).hostname or "",
            "operations": endpoint.operations,
            "domain": endpoint.domain,
            "enabled": endpoint.enabled,
        },
    )
    ledger.append([entry], actor=people.actor_for(person), now=now)
    announcements.announce()
