"""Cron schedules of five fields: when a run is due, when it is late, which window is open.

Runs are in UTC. Windows follow the clock on the wall of their zone, whatever it is set to.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from resources.durations import parse_duration

# A run may be late by one interval of its schedule, but never by more than this.
LONGEST_DELAY = timedelta(hours=1)
# A window that is open for longer is no window.
LONGEST_WINDOW = timedelta(days=31)
# A schedule that is silent for longer says nothing about lateness.
_FARTHEST = 400
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


class Window(NamedTuple):
    """A time that comes back: when it opens, by the clock of which zone, and for how long."""

    schedule: Schedule
    zone: tzinfo
    length: timedelta


class Opening(NamedTuple):
    """One time that a window is open, in UTC; its end is not part of it."""

    start: datetime
    end: datetime


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


def next_after(schedule: Schedule, moment: datetime) -> datetime | None:
    """Return the first start after a moment, if there is one within about a year."""
    try:
        moment = moment.astimezone(UTC)
        day, minute = moment.date(), moment.hour * 60 + moment.minute
        for _ in range(_FARTHEST):
            following = bisect_right(schedule.minutes, minute)
            if following < len(schedule.minutes) and schedule.on(day):
                hour, minute = divmod(schedule.minutes[following], 60)
                return datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)
            day, minute = day + _DAY, -1
    except OverflowError:
        return None
    return None


@lru_cache(maxsize=1024)
def late_from(text: str, last: datetime) -> datetime | None:
    """Return from when on the run that follows `last` is late; nonsense is never late."""
    schedule = parse(text)
    due = next_after(schedule, last) if schedule else None
    following = next_after(schedule, due) if schedule and due else None
    if due is None or following is None:
        return None
    return following if following - due < LONGEST_DELAY else due + LONGEST_DELAY


@lru_cache(maxsize=1024)
def window(text: str, zone: str, length: str) -> Window | None:
    """Read a window such as `0 18 * * 5`, `Europe/Brussels`, `62h`; nonsense is None."""
    schedule, lasting, place = parse(text), parse_duration(length), _zone(zone)
    if schedule is None or place is None or lasting is None:
        return None
    return Window(schedule, place, lasting) if timedelta(0) < lasting <= LONGEST_WINDOW else None


def opened(window: Window, moment: datetime) -> Opening | None:
    """Return the opening that a moment falls into, the latest if there are several."""
    # A day more than it can be open on either side: the clock may be set by up to a day.
    last, days = _local_day(window, moment, 1), window.length.days + 4
    for each in _openings(window, last, days, -1):
        if each.start <= moment < each.end:
            return each
    return None


def upcoming(window: Window, moment: datetime) -> Opening | None:
    """Return the first opening after a moment, if there is one within about a year."""
    for each in _openings(window, _local_day(window, moment, -1), _FARTHEST, 1):
        if each.start > moment:
            return each
    return None


def _openings(window: Window, day: date, days: int, step: int) -> Iterator[Opening]:
    """Yield what opens on a number of days, forwards or backwards."""
    for _ in range(days):
        if window.schedule.on(day):
            yield from _on_day(window, day)[::step]
        try:
            day += step * _DAY
        except OverflowError:
            return


@lru_cache(maxsize=1024)
def _on_day(window: Window, day: date) -> tuple[Opening, ...]:
    midnight = datetime.combine(day, time())
    starts = (midnight + timedelta(minutes=each) for each in window.schedule.minutes)
    try:
        return tuple(sorted(_opening(window, start) for start in starts))
    except OverflowError:
        return ()


def _opening(window: Window, wall: datetime) -> Opening:
    """Place an opening in time: what the clock shows twice counts from the first to the last."""
    start, over = _instant(wall, window.zone, 0), wall + window.length
    end = max(_instant(over, window.zone, fold) for fold in (0, 1))
    # A start that the clock jumped over comes as much later; the end may not have moved.
    return Opening(start, end if end > start else start + window.length)


def _instant(wall: datetime, zone: tzinfo, fold: int) -> datetime:
    return wall.replace(tzinfo=zone, fold=fold).astimezone(UTC)


def _local_day(window: Window, moment: datetime, shift: int) -> date:
    try:
        return moment.astimezone(window.zone).date() + shift * _DAY
    except OverflowError:
        return moment.date()


def _zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    # Names that are paths, and folders of zones, are refused in three ways.
    except (LookupError, ValueError, OSError):
        return None


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
