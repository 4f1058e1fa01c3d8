"""Judgements and times as the pages write them.

Times are in UTC by the server and in the viewer's zone by `app.js`. Both write the same words;
without the script the UTC text stands, and its title says so.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from controllers.narrative import proposal_text
from controllers.narrative.time_text import span_in_words
from resources.tables.ledger import instant

register = template.Library()

# How a time ahead is told, and what is said once it has come.
SHAPES = {
    "in": ("in {}", "now"),
    "left": ("{} left", "no time left"),
    "bare": ("{}", "now"),
}


@register.filter
def percent(share: float) -> str:
    """Write a share: 36.3%."""
    return f"{share:.1%}"


@register.filter
def spanned(span: timedelta) -> str:
    """Say how long: "6 min"."""
    return span_in_words(span)


@register.filter
def money(millionths: int) -> str:
    """Write millionths of a currency with as many digits as they need, and at least two."""
    whole = f"{millionths / 1_000_000:.6f}".rstrip("0")
    return f"{millionths / 1_000_000:.2f}" if len(whole.partition(".")[2]) < 2 else whole


@register.filter
def plainly(message: str) -> str:
    """What a judgement says, in the words of people."""
    return proposal_text.plainly(message)


@register.simple_tag
def clock_time(at: datetime) -> SafeString:
    """A <time> with the hour and the minute: "10:41"."""
    return written(at, "time", f"{at.astimezone(UTC):%H:%M}")


@register.simple_tag
def stamp(at: datetime) -> SafeString:
    """A <time> to the second, as a log writes it: "24 Feb 16:10:05"."""
    at = at.astimezone(UTC)
    return written(at, "stamp", f"{date_in_words(at, timezone.now())} {at:%H:%M:%S}")


@register.simple_tag
def moment(at: datetime) -> SafeString:
    """A <time> with the day and the time of day: "24 Feb, 16:10", "today, 09:56"."""
    return written(at, "moment", moment_in_words(at, timezone.now()))


@register.simple_tag
def day(at: datetime) -> SafeString:
    """A <time> with the day: "24 Feb"."""
    return written(at, "date", date_in_words(at.astimezone(UTC), timezone.now()))


@register.simple_tag
def left(at: datetime, shape: str = "in") -> SafeString:
    """A <time> that counts down: "in 6 min", as "left" it says "6 min left", as "bare" "6 min"."""
    return format_html(
        '<time datetime="{}" title="{}" data-left="{}">{}</time>',
        instant(at),
        exactly(at),
        shape,
        left_in_words(at, timezone.now(), shape),
    )


def written(at: datetime, kind: str, text: str) -> SafeString:
    """Write a <time> that the script rewrites into the viewer's zone."""
    return format_html(
        '<time datetime="{}" title="{}" data-clock="{}">{}</time>',
        instant(at),
        exactly(at),
        kind,
        text,
    )


def exactly(at: datetime) -> str:
    """Spell a time to the second: "2026-02-24 16:10:05 UTC"."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def moment_in_words(at: datetime, now: datetime) -> str:
    """Say when something is or was: today by that word, else by its date."""
    at = at.astimezone(UTC)
    today = at.date() == now.astimezone(UTC).date()
    return f"{'today' if today else date_in_words(at, now)}, {at:%H:%M}"


def date_in_words(at: datetime, now: datetime) -> str:
    """Say a date; another year is named."""
    year = f" {at.year}" if at.year != now.astimezone(UTC).year else ""
    return f"{at.day} {at:%b}{year}"


def left_in_words(at: datetime, now: datetime, shape: str) -> str:
    """Say how long there is until a time."""
    ahead, over = SHAPES[shape]
    return ahead.format(span_in_words(at - now)) if at > now else over
