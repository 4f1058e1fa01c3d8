"""Times and spans in the words of people."""

from __future__ import annotations

from datetime import timedelta

MINUTE, HOUR, DAY = 60, 3600, 86400


def span_in_words(span: timedelta) -> str:
    """Say how long: "48 s", "6 min", "3 h 18 min", "3 days"."""
    seconds = int(span.total_seconds())
    if seconds < MINUTE:
        return f"{seconds} s"
    if seconds < HOUR:
        return f"{seconds // MINUTE} min"
    if seconds < DAY:
        minutes = seconds % HOUR // MINUTE
        return f"{seconds // HOUR} h" + (f" {minutes} min" if minutes else "")
    days = seconds // DAY
    return f"{days} day{'' if days == 1 else 's'}"
