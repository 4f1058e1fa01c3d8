"""When something is tried again, and when a cycle is due."""

from __future__ import annotations

from datetime import datetime, timedelta

FIRST = timedelta(seconds=1)
LONGEST = timedelta(minutes=5)
NOT_READY = timedelta(seconds=10)
SPREAD = 0.1
# Doubling the first delay this often passes the longest one.
DOUBLINGS = 9


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
