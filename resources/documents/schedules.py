"""Cron schedules of five fields, in UTC: which minutes they name, and which comes next."""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

SCHEDULE_HINT = "must be a schedule of five fields in UTC, such as 0 6 * * 1-5"
# Usually nobody looks further ahead than this many days.
FARTHEST = 400
# Every day comes within these, even the 29th of February around the year 2100.
_EVERY_DAY = 3_000
_DAY = timedelta(days=1)
_NAMED = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


class Schedule(NamedTuple):
    """The minutes of a day at which runs start, and the days on which they do."""

    minutes: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    # Cron's oldest rule: with both the day and the weekday limited, either is enough.
    either: bool

    def on(self, day: date) -> bool:
        """Tell whether runs start on a day."""
        if day.month not in self.months:
            return False
        by_day, by_weekday = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return by_day or by_weekday if self.either else by_day and by_weekday


class _Field(NamedTuple):
    least: int
    most: int
    words: tuple[str, ...] = ()

    def value(self, text: str) -> int:
        if text in self.words:
            return self.least + self.words.index(text)
        return _integer(text)


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (
    _Field(0, 59),
    _Field(0, 23),
    _Field(1, 31),
    _Field(1, 12, _MONTHS),
    # Sunday is both 0 and 7.
    _Field(0, 7, _WEEKDAYS),
)


@lru_cache(maxsize=1024)
def parse(text: str) -> Schedule | None:
    """Read a schedule such as `30 5,17 * * 1-5` or `@daily`; nonsense is None."""
    written = text.strip().lower()
    fields = _NAMED.get(written, written).split()
    if len(fields) != len(_FIELDS):
        return None
    sets = [_values(field, known) for field, known in zip(fields, _FIELDS, strict=True)]
    if not all(sets):
        return None
    minutes, hours, days, months, weekdays = sets
    return Schedule(
        minutes=tuple(sorted(hour * 60 + minute for hour in hours for minute in minutes)),
        days=days,
        months=months,
        weekdays=frozenset(each % 7 for each in weekdays),
        either=not fields[2].startswith("*") and not fields[4].startswith("*"),
    )


def next_after(schedule: Schedule, moment: datetime, days: int = FARTHEST) -> datetime | None:
    """Return the first start after a moment, if there is one within so many days."""
    try:
        moment = moment.astimezone(UTC)
        day, minute = moment.date(), moment.hour * 60 + moment.minute
        for _ in range(days):
            following = bisect_right(schedule.minutes, minute)
            if following < len(schedule.minutes) and schedule.on(day):
                hour, minute = divmod(schedule.minutes[following], 60)
                return datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)
            day, minute = day + _DAY, -1
    except OverflowError:
        return None
    return None


def next_ever(schedule: Schedule, moment: datetime) -> datetime | None:
    """Return the first start after a moment, however far it is; nothing if it never comes."""
    return next_after(schedule, moment, _EVERY_DAY)


def _values(text: str, field: _Field) -> frozenset[int]:
    """Return every value a field names, or nothing when a part of it is nonsense."""
    parts = [_part(part, field) for part in text.split(",")]
    return frozenset().union(*parts) if all(parts) else frozenset()


def _part(part: str, field: _Field) -> frozenset[int]:
    span, slash, step = part.partition("/")
    first, dash, last = span.partition("-")
    low = field.least if span == "*" else field.value(first)
    # `5/15` goes on to the end, `5` alone does not.
    end = field.most if span == "*" or slash else low
    high = field.value(last) if dash else end
    stride = _integer(step) if slash else 1
    if not field.least <= low <= high <= field.most or stride < 1:
        return frozenset()
    return frozenset(range(low, high + 1, stride))


def _integer(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 3 else -1
