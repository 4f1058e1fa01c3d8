"""Durations such as `5m` or `PT5M`, and the periods of budgets such as `2026-Q1`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal

PERMANENT = timedelta.max
CONTINUOUS = timedelta(0)
DURATION_HINT = "must be a duration such as 30s, 5m, 1h30m, 7d or PT5M"

Window = Literal["daily", "monthly", "quarterly", ""]

_WORDS = {"permanent": PERMANENT, "continuous": CONTINUOUS}
_MILLISECONDS = {
    "ms": 1,
    "s": 1_000,
    "m": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
    "w": 7 * 86_400_000,
    "mo": 30 * 86_400_000,
    "q": 90 * 86_400_000,
    "y": 365 * 86_400_000,
}
_PART = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)(ms|mo|[smhdwqy])", re.ASCII)
_SHORT = re.compile(rf"(?:{_PART.pattern})+", re.ASCII)
_NUMBER = r"(\d{1,15}(?:[.,]\d{1,9})?)"
_ISO = re.compile(
    rf"P(?=.)(?:{_NUMBER}Y)?(?:{_NUMBER}M)?(?:{_NUMBER}W)?(?:{_NUMBER}D)?"
    rf"(?:T(?=.)(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?",
    re.ASCII,
)
_ISO_UNITS = ("y", "mo", "w", "d", "h", "m", "s")
_PERIOD = re.compile(
    r"(\d{4})(?:-(?:Q([1-4])|(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?))?", re.ASCII
)


@dataclass(frozen=True)
class Period:
    """A span of whole days; `end` is the first day after it."""

    start: date
    end: date
    window: Window


def parse_duration(text: str) -> timedelta | None:
    """Read a duration; `permanent` is PERMANENT, `continuous` is CONTINUOUS, nonsense is None."""
    if text in _WORDS:
        return _WORDS[text]
    if match := _ISO.fullmatch(text):
        return _total(zip(match.groups(), _ISO_UNITS, strict=True))
    if _SHORT.fullmatch(text):
        return _total(_PART.findall(text))
    return None


def is_positive(text: str) -> bool:
    """Say whether a text is a duration that a clock can wait for."""
    duration = parse_duration(text)
    return duration is not None and CONTINUOUS < duration < PERMANENT


def parse_period(text: str, today: date) -> Period | None:
    """Read a budget period; `daily`, `monthly` and `quarterly` are the ones that hold `today`."""
    try:
        if "/" in text:
            first, last = (date.fromisoformat(part) for part in text.split("/"))
            return Period(first, last + timedelta(1), "") if first <= last else None
        names = {"daily": today.isoformat(), "monthly": f"{today:%Y-%m}"}
        names["quarterly"] = f"{today:%Y}-Q{(today.month + 2) // 3}"
        match = _PERIOD.fullmatch(names.get(text, text))
        return _calendar(*(int(part or 0) for part in match.groups())) if match else None
    except (ValueError, OverflowError):
        return None


def period_text(first: date, last: date) -> str:
    """Name the period from `first` to `last`, both included: a day, month, quarter, or `a/b`."""
    names = (
        first.isoformat(),
        f"{first.year:04}-{first.month:02}",
        f"{first.year:04}-Q{(first.month + 2) // 3}",
    )
    for name in names:
        period = parse_period(name, first)
        if period and (period.start, period.end - timedelta(1)) == (first, last):
            return name
    return f"{first}/{last}"


def _total(parts: Iterable[tuple[str | None, str]]) -> timedelta | None:
    numbers = ((Decimal((text or "0").replace(",", ".")), unit) for text, unit in parts)
    try:
        return timedelta(milliseconds=float(sum(n * _MILLISECONDS[unit] for n, unit in numbers)))
    except OverflowError:
        return None


def _calendar(year: int, quarter: int, month: int, day: int) -> Period:
    if day:
        start = date(year, month, day)
        return Period(start, start + timedelta(1), "daily")
    if month:
        return Period(date(year, month, 1), _month_after(year, month), "monthly")
    if quarter:
        return Period(date(year, quarter * 3 - 2, 1), _month_after(year, quarter * 3), "quarterly")
    return Period(date(year, 1, 1), date(year + 1, 1, 1), "")


def _month_after(year: int, month: int) -> date:
    return date(year + month // 12, month % 12 + 1, 1)
