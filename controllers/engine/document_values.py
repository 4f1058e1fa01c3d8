"""Read figures, moments, durations and units out of documents whose shape nobody guarantees."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from math import floor
from typing import Any, NamedTuple

from controllers.engine.terms import Compliance, Document, Resource, Spend
from resources.documents.durations import Period, parse_duration, parse_period

WINDOWS = ("daily", "monthly", "quarterly")
# Beyond this, figures are taken as this: arithmetic on them then never overflows.
LARGEST = 1e300
_EXACT = 1e15
_NOTHING: Document = {}
# A throttled agent still works, and it notices.
_SLOWEST, _FASTEST = 0.1, 0.9
_SECONDS = {
    1e-3: ("ms", "millisecond", "milliseconds"),
    1.0: ("s", "sec", "second", "seconds"),
    60.0: ("m", "min", "minute", "minutes"),
    3600.0: ("h", "hour", "hours"),
    86400.0: ("d", "day", "days"),
}
_SHARES = {0.01: ("percent", "%"), 1.0: ("ratio", "fraction")}
# What a unit measures, and how much of it.
_UNITS: Mapping[str, tuple[str, float]] = {
    unit: (measure, factor)
    for measure, sizes in (("time", _SECONDS), ("share", _SHARES))
    for factor, units in sizes.items()
    for unit in units
}
# Rules of a policy that hold where they are declared, unless they are switched off.
_RULES = (
    ("agentIdentity", "required"),
    ("auditTrail", "immutable"),
    ("promptInjectionDefense", "enabled"),
)


def _equal(value: float, target: float) -> bool:
    return math.isclose(value, target, rel_tol=1e-9)


Meets = Callable[[float, float], bool]
# How a measured figure is compared with the wanted one.
MEETS: Mapping[str, Meets] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
    "eq": _equal,
}


class Limit(NamedTuple):
    """The most a budget allows in its window, of `tokens` or of `cost`."""

    of: str
    unit: str
    most: float


def number(value: Any) -> float | None:
    """Return a figure, kept within what arithmetic bears; anything else is None."""
    # Exact types: JSON knows no others, and a bool is not a figure.
    kind = type(value)
    if kind is not float and kind is not int:
        return None
    if -LARGEST <= value <= LARGEST:
        return value  # type: ignore[no-any-return]
    return LARGEST if value > 0 else -LARGEST


def text(value: Any) -> str:
    """Return a text; anything else is the empty one."""
    return value if isinstance(value, str) else ""


def section(document: Document, name: str) -> Document:
    """Return the object a document holds under a name; anything else is an empty one."""
    value = document.get(name)
    return value if isinstance(value, dict) else _NOTHING


def items(document: Document, name: str) -> Sequence[Document]:
    """Return the objects of the list a document holds under a name."""
    value = document.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else ()


def texts(document: Document, name: str) -> Sequence[str]:
    """Return the texts of the list a document holds under a name."""
    value = document.get(name)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else ()


def moment(value: Any) -> datetime | None:
    """Read a date or a date-time; without a zone it is in UTC."""
    if not isinstance(value, str):
        return None
    try:
        read = datetime.fromisoformat(value.upper())
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def duration(value: Any) -> timedelta | None:
    """Read a duration such as `2.3s`; `permanent` is the longest there is."""
    return _duration(value) if isinstance(value, str) else None


def period(value: Any, now: datetime) -> Period | None:
    """Read a budget period such as `2026-Q1` or `monthly`."""
    return _period(value, now.date()) if isinstance(value, str) else None


def later(start: datetime, span: timedelta) -> datetime | None:
    """Add a duration; None when no calendar reaches that far."""
    try:
        return start + span
    except OverflowError:
        return None


def soonest(moments: Iterable[datetime | None], now: datetime) -> datetime | None:
    """Return the first moment still to come."""
    return min((each for each in moments if each and each > now), default=None)


def convert(value: float, unit: str, wanted: str) -> float | None:
    """Express a figure in the wanted unit; a side that names no unit agrees with the other."""
    if unit == wanted or not unit or not wanted:
        return value
    measure, factor = _UNITS.get(unit.strip().lower(), (unit, 1.0))
    wanted_measure, wanted_factor = _UNITS.get(wanted.strip().lower(), (wanted, 1.0))
    return value * factor / wanted_factor if measure == wanted_measure else None


@lru_cache(maxsize=4096)
def figure(value: float) -> str:
    """Write a figure for people: `238,800,000`, `6.1`, `1e+20`."""
    if abs(value) >= _EXACT:
        return f"{value:g}"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.4f}".rstrip("0").rstrip(".") if abs(value) >= 1e-3 else f"{value:.2g}"


def quantity(value: float, unit: str) -> str:
    """Write a figure with its unit: `10.8 EUR`, `4 hours`, `12`."""
    return f"{figure(value)} {unit}".rstrip()


def budget_limits(budget: Resource, now: datetime) -> list[Limit]:
    """Return the limits for the window of a budget's period, in tokens first."""
    declared = section(budget.spec, "limits")
    span = period(budget.spec.get("period"), now)
    limits = []
    for of in ("tokens", "cost"):
        windows = section(declared, of)
        most = _most(windows, span.window if span else "")
        if most is not None:
            unit = text(windows.get("currency")) or "USD" if of == "cost" else of
            limits.append(Limit(of, unit, most))
    return limits


def used(consumption: Document, limit: Limit) -> float | None:
    """Return how much of a limit was used; money in another currency cannot be compared."""
    if limit.of == "cost" and text(consumption.get("currency")) not in ("", limit.unit):
        return None
    return number(consumption.get(limit.of))


def budget_spending(budget: Resource, now: datetime) -> list[Spend]:
    """Set a budget's consumption against its limits, before, in and after its period alike."""
    consumed = section(budget.status, "consumed")
    return [
        Spend(f"{budget.name} {limit.of}", amount, limit.most, limit.unit)
        for limit in budget_limits(budget, now)
        if (amount := used(consumed, limit)) is not None
    ]


def within_limits(spends: Sequence[Spend]) -> int | None:
    """Count the limits if each of them is kept; None when one is not, or says nothing."""
    for _, consumed, allocated, _ in spends:
        if not 0 <= allocated >= consumed:
            return None
    return len(spends)


def beyond(spending: Iterable[Spend]) -> list[Spend]:
    """Return what exceeds its limit."""
    return [each for each in spending if each.consumed > each.allocated >= 0]


def throttling(over: Iterable[Spend]) -> float:
    """Return the factor of speed that would bring everything back to its limit."""
    factor = min(each.allocated / each.consumed for each in over)
    return max(_SLOWEST, min(_FASTEST, round(factor, 2)))


def throttled(full: float, factor: float) -> int:
    """Return a share of an allowance; rounded first, or 0.58 of 1,500,000 would be 869,999."""
    return floor(round(full * factor, 6))


def full_allowance(token_budget: Document) -> float | None:
    """Return an agent's daily tokens without any throttling; a limit set since then counts."""
    limit, mark = number(token_budget.get("maxDaily")), section(token_budget, "throttled")
    full, factor = number(mark.get("full")), number(mark.get("factor"))
    if full is None or factor is None or limit != throttled(full, factor):
        return limit
    return full


def policy_compliance(policies: Iterable[Resource]) -> list[Compliance]:
    """Count violations against rules, for every policy that reports its violations."""
    return [found for found in map(_compliance, policies) if found is not None]


def without_violation(compliances: Sequence[Compliance]) -> int | None:
    """Count the policies that say something if none sees a violation; None when one does."""
    count = 0
    for _, violations, rules in compliances:
        if violations > 0:
            return None
        count += rules > 0
    return count


# One policy is shared by all that it holds for.
@lru_cache(maxsize=512)
def _compliance(policy: Resource) -> Compliance | None:
    violations = _violations(policy.status)
    if violations is None:
        return None
    return Compliance(policy.name, max(0, violations), _rules(policy))


def _most(windows: Document, window: str) -> float | None:
    if window:
        return number(windows.get(window))
    # A period that is no day, month or quarter can only mean the one limit that is set.
    limits = [most for each in WINDOWS if (most := number(windows.get(each))) is not None]
    return limits[0] if len(limits) == 1 else None


def _violations(status: Document) -> float | None:
    count = status.get("violations")
    reported = number(count.get("total") if isinstance(count, dict) else count)
    if reported is None and isinstance(status.get("openViolations"), list):
        return len({text(each.get("rule")) for each in items(status, "openViolations")})
    return reported


def _rules(policy: Resource) -> int:
    spec = policy.spec
    scopes = spec.get("dataScopes")
    rules = len(scopes) if isinstance(scopes, list) else 0
    rules += section(spec, "zeroTrust").get("enabled") is True
    for name, switch in _RULES:
        rule = spec.get(name)
        rules += isinstance(rule, dict) and rule.get(switch) is not False
    return rules or int(max(0, number(policy.status.get("activePolicies")) or 0))


@lru_cache(maxsize=4096)
def _duration(value: str) -> timedelta | None:
    return parse_duration(value)


@lru_cache(maxsize=4096)
def _period(value: str, today: date) -> Period | None:
    return parse_period(value, today)
