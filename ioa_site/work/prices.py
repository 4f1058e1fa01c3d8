"""Prices from the command line."""

from __future__ import annotations

from controllers.budgets import price_list
from controllers.budgets.amounts import MILLION
from controllers.models import Price
from ioa_site.work import caller
from ioa_site.work.channels import known

HEADS = ("PROVIDER", "MODEL", "INPUT", "OUTPUT", "CURRENCY", "CHANGED BY")


def put(
    provider: str, model: str, paid: tuple[str, str], currency: str, person: str | None
) -> None:
    """Set what a model costs for a million tokens, in and out."""
    who = known(person)
    price_list.put(provider, model, paid, currency, person=who, now=caller.now())


def remove(provider: str, model: str, person: str | None) -> None:
    """Take the price of a model away."""
    who = known(person)
    price_list.remove(provider, model, person=who, now=caller.now())


def listed() -> list[tuple[str, ...]]:
    """Return a table of prices, for a million tokens."""
    return [
        (
            each.provider,
            each.name,
            amount(each.input),
            amount(each.output),
            each.currency,
            each.changed_by,
        )
        for each in Price.objects.order_by("provider", "name")
    ]


def amount(price: int) -> str:
    """Write a price as it was set."""
    return f"{price / MILLION:.6f}".rstrip("0").rstrip(".")
