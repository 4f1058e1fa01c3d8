"""How much may be spent: the limits of budgets and agents, each in a window of its own.

Amounts are whole numbers, so that sums do not depend on their order: tokens, or millionths of a
currency.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from math import floor
from typing import Literal, NamedTuple

from controllers.engine.document_values import (
    WINDOWS,
    budget_limits,
    items,
    number,
    period,
    section,
    text,
)
from controllers.engine.terms import Document, Mode, Resource
from resources.documents.durations import parse_period

MILLIONTHS = 1_000_000
TOKENS = "tokens"
# A limit beyond this is none: no counter gets there.
LARGEST = 2**62
# What people are told when a budget names no alerts: threshold and severity.
USUAL_ALERTS = ((0.7, "info"), (0.9, "warning"), (1.0, "critical"))
_OWN = {"daily": "maxDaily", "monthly": "maxMonthly"}


class Span(NamedTuple):
    """A stretch of days; `window` is empty when the calendar has no name for it."""

    window: str
    start: date
    end: date


class Allowance(NamedTuple):
    """The most that a domain or one agent may spend of one unit in one stretch of days."""

    holder: Literal["domain", "agent"]
    name: str
    span: Span
    unit: str
    most: int
    mode: Mode
    # Who says so: the budget's row, and its reference.
    budget: int
    source: str


class Alarm(NamedTuple):
    """At which share of a budget whom to tell."""

    threshold: float
    severity: str
    channels: tuple[str, ...] = ()


def spans(today: date) -> tuple[Span, ...]:
    """Return the calendar's windows around a day: the day, its month, its quarter."""
    found = []
    for window in WINDOWS:
        named = parse_period(window, today)
        if named is not None:
            found.append(Span(window, named.start, named.end))
    return tuple(found)


def headline(budget: Resource, now: datetime) -> Span | None:
    """Return the stretch of days a budget is declared for."""
    named = period(budget.spec.get("period"), now)
    return Span(named.window, named.start, named.end) if named else None


def of_budget(budget: Resource, mode: Mode, now: datetime) -> Iterator[Allowance]:
    """Yield what a budget allows its domain: in every window it names a limit for."""
    declared = section(budget.spec, "limits")
    own = headline(budget, now)
    for of in (TOKENS, "cost"):
        windows = section(declared, of)
        unit = text(windows.get("currency")) or "USD" if of == "cost" else TOKENS
        for span in spans(now.date()):
            most = number(windows.get(span.window))
            if most is None:
                continue
            where = own if own and not own.window and len(limits_in(windows)) == 1 else span
            yield _allowed(budget, mode, where, unit, most)


def limits_in(windows: Document) -> list[str]:
    """Return the windows that a limit is set for."""
    return [each for each in WINDOWS if number(windows.get(each)) is not None]


def shares(budget: Resource, agent: str, mode: Mode, now: datetime) -> Iterator[Allowance]:
    """Yield the share of one agent in what a budget allows for its period."""
    own = headline(budget, now)
    for each in items(budget.spec, "agents"):
        share = number(each.get("allocation"))
        if own is None or share is None or text(each.get("name")) != agent:
            continue
        # Tokens before money: the prices of models differ too much to keep a share of both.
        for limit in budget_limits(budget, now)[:1]:
            unit = limit.unit if limit.of == "cost" else TOKENS
            whole = _allowed(budget, mode, own, unit, limit.most * share)
            yield whole._replace(holder="agent", name=agent)
        return


def of_agent(name: str, spec: Document, mode: Mode, now: datetime) -> Iterator[Allowance]:
    """Yield what an agent's own token budget allows it."""
    declared = section(spec, "tokenBudget")
    for span in spans(now.date()):
        most = number(declared.get(_OWN.get(span.window, "")))
        if most is not None:
            whole = min(LARGEST, max(0, floor(most)))
            yield Allowance("agent", name, span, TOKENS, whole, mode, 0, f"agent/{name}")


def unreadable(budget: Resource, now: datetime) -> str:
    """Say why nobody can tell what a budget allows, or nothing."""
    declared = section(budget.spec, "limits")
    named = [section(declared, of) for of in (TOKENS, "cost")]
    if any(each not in ({}, None) and not isinstance(each, dict) for each in declared.values()):
        return f"The limits of budget/{budget.name} cannot be read."
    if headline(budget, now) is None and any(len(limits_in(each)) > 1 for each in named):
        return f"The period of budget/{budget.name} cannot be read."
    return ""


def alarms(budget: Resource) -> list[Alarm]:
    """Return at which shares people are told, the lowest first."""
    named = [
        Alarm(threshold, text(each.get("severity")) or "warning", tuple(_channels(each)))
        for each in items(budget.spec, "alerts")
        if (threshold := number(each.get("threshold"))) is not None
    ]
    return sorted(named) or [Alarm(*each) for each in USUAL_ALERTS]


def projected(consumed: int, span: Span, now: datetime) -> int:
    """Return where the pace so far leads by the end of a stretch of days."""
    begun = datetime(span.start.year, span.start.month, span.start.day, tzinfo=now.tzinfo)
    whole = span.end - span.start
    passed = min(max(now - begun, timedelta(hours=1)), whole)
    return round(consumed * (whole / passed))


def _channels(alert: Document) -> Iterator[str]:
    named = alert.get("channels")
    yield from (each for each in named if isinstance(each, str)) if isinstance(named, list) else ()


def _allowed(budget: Resource, mode: Mode, span: Span, unit: str, most: float) -> Allowance:
    whole = most if unit == TOKENS else round(most * MILLIONTHS, 3)
    exact = min(LARGEST, max(0, floor(whole)))
    return Allowance(
        "domain", budget.domain, span, unit, exact, mode, budget.key, f"budget/{budget.name}"
    )
