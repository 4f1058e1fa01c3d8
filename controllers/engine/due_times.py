"""When something is due: after an interval, by a cron schedule, in a window, or tried again.

Runs are in UTC. Windows follow the clock on the wall of their zone, whatever it is set to.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from resources.documents.durations import parse_duration
from resources.documents.schedules import FARTHEST, Schedule, next_after, parse

# A run may be late by one interval of its schedule, but never by more than this.
LONGEST_DELAY = timedelta(hours=1)
# A window that is open for longer is no window.
LONGEST_WINDOW = timedelta(days=31)
_DAY = timedelta(days=1)
FIRST = timedelta(seconds=1)
LONGEST = timedelta(minutes=5)
NOT_READY = timedelta(seconds=10)
SPREAD = 0.1
# Doubling the first delay this often passes the longest one.
DOUBLINGS = 9


class Window(NamedTuple):
    """A time that comes back: when it opens, by the clock of which zone, and for how long."""

    schedule: Schedule
    zone: tzinfo
    length: timedelta


class Opening(NamedTuple):
    """One time that a window is open, in UTC; its end is not part of it."""

    start: datetime
    end: datetime


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
    for each in _openings(window, _local_day(window, moment, -1), FARTHEST, 1):
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


def backoff(attempt: int, jitter: float) -> timedelta:
    """Return the wait after the nth failure in a row; `jitter` in 0..1 adds up to a tenth."""
    doublings = min(max(attempt, 1) - 1, DOUBLINGS)
    delay = min(FIRST * (1 << doublings), LONGEST)
    return delay * (1 + SPREAD * min(max(jitter, 0.0), 1.0))


def is_due(last_start: datetime | None, interval: timedelta, now: datetime) -> bool:
    """Tell whether an interval has passed; a start far in the future is a clock set back."""
    return last_start is None or abs(now - last_start) >= interval


def next_due(last_start: datetime, interval: timedelta, now: datetime) -> datetime:
    """Return the first due moment after now; those that passed during a long cycle are dropped."""
    if interval <= timedelta(0):
        return now
    try:
        return last_start + ((now - last_start) // interval + 1) * interval
    except OverflowError:
        return datetime.max.replace(tzinfo=now.tzinfo)
