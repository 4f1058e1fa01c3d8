"""What was spent before anything was counted here, as budgets say it: carried over once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from controllers.budgets.counters import CounterChange, add, key_of
from controllers.engine.allowances import MILLIONTHS, TOKENS, spans
from controllers.engine.document_values import items, moment, number, section, text
from resources.documents.durations import parse_period
from resources.tables.models import Resource

Holder = tuple[str, str]


def carry_over(budgets: Iterable[Resource], now: datetime) -> None:
    """Let counters begin with what budgets tell about themselves; each day has the same part."""
    add(change for row in budgets for change in carried(row, now))


def carried(row: Resource, now: datetime) -> Iterator[CounterChange]:
    """Yield what one budget tells: of its domain by month, of its agents as far as it says."""
    consumed = section(row.status, "consumed")
    currency = text(consumed.get("currency")) or "USD"
    until = (moment(row.status.get("evaluatedAt")) or now).date()
    months = items(row.status, "byMonth") or [{"month": row.spec.get("period"), **consumed}]
    told = [(("domain", row.domain), text(each.get("month")), each) for each in months]
    told += [
        (("agent", text(each.get("name"))), text(each.get("period")), each)
        for each in items(row.status, "byAgent")
    ]
    for holder, period, amounts in told:
        for day, part in parts(period, until, units(amounts, currency)):
            yield from counted(holder, day, part)


def units(amounts: Mapping[str, Any], currency: str) -> dict[str, int]:
    """Read amounts as counters count them."""
    tokens, cost = number(amounts.get("tokens")) or 0, number(amounts.get("cost")) or 0
    return {TOKENS: round(tokens), currency: round(cost * MILLIONTHS)}


def parts(
    period: str, until: date, amounts: Mapping[str, int]
) -> Iterator[tuple[date, dict[str, int]]]:
    """Share amounts out to the days of a period that had passed; the last takes the rest."""
    named = parse_period(period, until)
    if named is None:
        return
    count = (min(named.end, until) - named.start).days
    for place in range(count):
        last = place == count - 1
        part = {
            unit: amount - amount // count * (count - 1) if last else amount // count
            for unit, amount in amounts.items()
        }
        yield named.start + timedelta(days=place), part


def counted(holder: Holder, day: date, part: Mapping[str, int]) -> Iterator[CounterChange]:
    """Yield what a day adds to the counters around it."""
    for unit, amount in part.items():
        for span in spans(day):
            yield CounterChange(key_of(*holder, span, unit), consumed=amount)
