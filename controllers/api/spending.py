"""Read what a call takes from a body, strictly: tokens, money, model."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from controllers.accounting import Claim
from controllers.accounting.amounts import MILLION, MOST_COST, MOST_TOKENS
from controllers.accounting.pricing import CURRENCY
from resources.api.problems import invalid
from resources.reader import escape

COSTS = ("tokens", "cost", "model")
LONGEST = {"provider": 64, "name": 128, "version": 64}


def claim_in(body: dict[str, Any]) -> Claim:
    """Read tokens, cost and model."""
    tokens = part(body, "tokens", ("input", "output"))
    cost = part(body, "cost", ("value", "currency"))
    model = part(body, "model", tuple(LONGEST))
    named = {key: text(model, key, most, f"/model/{key}") for key, most in LONGEST.items()}
    if "cost" in body and "value" not in cost:
        raise invalid("cost has a value.", "/cost/value")
    currency = text(cost, "currency", 8, "/cost/currency")
    if currency and not CURRENCY.fullmatch(currency):
        raise invalid("A currency has three capital letters, such as USD.", "/cost/currency")
    return Claim(
        count(tokens, "input"),
        count(tokens, "output"),
        money(cost["value"]) if "value" in cost else None,
        currency,
        named["provider"],
        named["name"],
        named["version"],
    )


def part(body: dict[str, Any], name: str, known: tuple[str, ...]) -> dict[str, Any]:
    """Read an object of a body whose fields are known."""
    value = body.get(name, {})
    if not isinstance(value, dict):
        raise invalid(f"{name} is an object with {' and '.join(known)}.", f"/{name}")
    if unknown := sorted(set(value) - set(known)):
        place = f"/{name}/{escape(unknown[0][:80])}"
        raise invalid(f"There is no field {unknown[0][:80]!r} here.", place, allowed=list(known))
    return value


def count(tokens: dict[str, Any], name: str) -> int:
    """Read a number of tokens."""
    value = tokens.get(name, 0)
    if type(value) is not int or not 0 <= value <= MOST_TOKENS:
        place = f"/tokens/{name}"
        raise invalid(f"tokens.{name} is a whole number from 0 to {MOST_TOKENS:,}.", place)
    return value


def money(value: Any) -> int:
    """Read an amount of money as millionths."""
    if type(value) not in (int, float) or not 0 <= value <= MOST_COST // MILLION:
        most = MOST_COST // MILLION
        raise invalid(f"cost.value is an amount from 0 to {most:,}.", "/cost/value")
    exact = Decimal(str(value)) * MILLION
    return int(exact.quantize(Decimal(1), ROUND_HALF_UP))


def text(body: dict[str, Any], name: str, most: int, pointer: str = "") -> str:
    """Read a text of a bounded length, without characters that nobody sees."""
    value = body.get(name, "")
    place = pointer or f"/{name}"
    if not isinstance(value, str) or len(value) > most:
        raise invalid(f"{name} is a text of up to {most:,} characters.", place)
    if not value.isprintable():
        raise invalid(f"{name} has characters that cannot be printed.", place)
    return value
