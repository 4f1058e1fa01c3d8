"""What a call costs: given by its agent, worked out from a price, or not known; never invented."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import NamedTuple

from django.db.models import Q

from controllers.models import Price, Usage

# So much of one currency is one.
MILLION = 1_000_000
USUAL_CURRENCY = "USD"
# Larger figures are a mistake, and sums of these never pass what a counter holds.
MOST_TOKENS = 10**9
MOST_COST = 10**12
Priced = Usage.Priced
Model = tuple[str, str]


class Claim(NamedTuple):
    """What somebody says a call takes; without a cost its price is looked up."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost: int | None = None
    currency: str = ""
    provider: str = ""
    model: str = ""
    version: str = ""

    @property
    def named(self) -> Model:
        """The model a price is set for."""
        return self.provider, self.model


class Spent(NamedTuple):
    """What a call takes, in whole numbers."""

    tokens_in: int
    tokens_out: int
    # Millionths of the currency.
    cost: int
    currency: str
    priced: str

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.tokens_in + self.tokens_out


def prices(models: Iterable[Model]) -> dict[Model, Price]:
    """Return the prices of models, in one query."""
    wanted = {each for each in models if all(each)}
    if not wanted:
        return {}
    named = reduce(or_, (Q(provider=provider, name=name) for provider, name in sorted(wanted)))
    return {(each.provider, each.name): each for each in Price.objects.filter(named)}


def worked_out(claim: Claim, known: Mapping[Model, Price]) -> Spent:
    """Return what a call costs; without a cost or a price that is nothing, and marked so."""
    tokens = claim.tokens_in, claim.tokens_out
    if claim.cost is not None:
        return Spent(*tokens, claim.cost, claim.currency or USUAL_CURRENCY, Priced.GIVEN)
    price = known.get(claim.named)
    if price is None:
        return Spent(*tokens, 0, claim.currency or USUAL_CURRENCY, Priced.UNKNOWN)
    whole = claim.tokens_in * price.input + claim.tokens_out * price.output
    # Half a millionth is rounded up.
    cost = min(MOST_COST, (whole + MILLION // 2) // MILLION)
    return Spent(*tokens, cost, price.currency, Priced.TABLE)
