"""Prices of models: set and removed by administrators, and told to the ledger."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from controllers.access import people, roles
from controllers.budgets.amounts import MILLION
from controllers.models import Price
from resources.documents.actor import Actor
from resources.documents.problems import denied, invalid, missing
from resources.store import announcements
from resources.tables import ledger

ADMINISTRATORS = ("administrator",)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}")
PROVIDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
CURRENCY = re.compile(r"[A-Z]{3}")
# For a million tokens, of any currency.
MOST = Decimal(1_000_000)


def put(
    provider: str,
    name: str,
    paid: tuple[str, str],
    currency: str,
    *,
    person: User,
    now: datetime,
) -> Price:
    """Set what a model costs for a million tokens, in and out; what was spent is not changed."""
    check_right(person, now)
    return enter(provider, name, paid, currency, actor=people.actor_for(person), now=now)


def enter(
    provider: str, name: str, paid: tuple[str, str], currency: str, *, actor: Actor, now: datetime
) -> Price:
    """Write a price, whoever sets it."""
    if not (PROVIDER.fullmatch(provider) and NAME.fullmatch(name)):
        raise invalid("A model is named by its provider and its name, such as openai gpt-4o.")
    if not CURRENCY.fullmatch(currency):
        raise invalid("A currency has three capital letters, such as USD.")
    values: dict[str, Any] = {
        "input": amount(paid[0]),
        "output": amount(paid[1]),
        "currency": currency,
        "changed_at": now,
        "changed_by": str(actor),
    }
    with transaction.atomic():
        price, _ = Price.objects.update_or_create(provider=provider, name=name, defaults=values)
        tell(price, "price.set", actor=actor, now=now)
    return price


def remove(provider: str, name: str, *, person: User, now: datetime) -> None:
    """Take a price away: what the model costs is then not known."""
    check_right(person, now)
    with transaction.atomic():
        price = Price.objects.filter(provider=provider[:64], name=name[:128]).first()
        if price is None:
            raise missing("There is no price for this model.")
        Price.objects.filter(pk=price.pk).delete()
        tell(price, "price.removed", actor=people.actor_for(person), now=now)


def check_right(person: User, now: datetime) -> None:
    """Raise unless somebody administers the organisation."""
    if not roles.holds_role(person, ADMINISTRATORS, "", now):
        raise denied("NotAdministrator", "Only an administrator of the organisation sets prices.")


def amount(text: str) -> int:
    """Read a price for a million tokens as millionths of its currency."""
    try:
        read = Decimal(text)
    except InvalidOperation:
        raise invalid(f"{text[:40]!r} is not an amount such as 2.50.") from None
    if not read.is_finite() or not 0 <= read <= MOST:
        raise invalid(f"A price is an amount from 0 to {MOST:,}.")
    exact = read * MILLION
    if exact != exact.to_integral_value():
        raise invalid("A price has at most six decimals.")
    return int(exact)


def tell(price: Price, event: str, *, actor: Actor, now: datetime) -> None:
    """Write what happened to a price into its chain."""
    payload = {"currency": price.currency, "input": price.input, "output": price.output}
    entry = ledger.Entry(f"price/{price}", event, f"price/{price}", payload)
    ledger.append([entry], actor=actor, now=now)
    announcements.announce()
