"""Icons, ages and counts as the pages write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django import template
from django.template import Context
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

MINUTE = 60
HOUR = 60 * MINUTE
DAY = timedelta(days=1)
THEMES = ("dark", "light")


@register.simple_tag(takes_context=True)
def theme(context: Context) -> SafeString:
    """The theme that the reader chose, as an attribute; without one the browser decides."""
    chosen = context["request"].COOKIES.get("theme") if "request" in context else None
    return format_html(' data-theme="{}"', chosen) if chosen in THEMES else SafeString("")


@register.simple_tag
def icon(name: str, size: str = "") -> SafeString:
    """A decorative icon of static/icons.svg; `size` is "s" (14 px), "" (16 px) or "l" (20 px)."""
    return format_html(
        '<svg class="i {}" aria-hidden="true"><use href="{}#i-{}"/></svg>',
        size,
        static("icons.svg"),
        name,
    )


def age_in_words(moment: datetime, now: datetime) -> str:
    """How long ago within a day ("2 min ago"), after that the date in UTC."""
    elapsed = now - moment
    if timedelta(0) <= elapsed < DAY:
        return _recently(int(elapsed.total_seconds()))
    moment = moment.astimezone(UTC)
    written = f"{moment.day} {moment:%b}"
    if moment.year != now.astimezone(UTC).year:
        written += f" {moment.year}"
    return f"{written}, {moment:%H:%M}"


def _recently(seconds: int) -> str:
    if seconds < MINUTE:
        return f"{seconds} s ago"
    if seconds < HOUR:
        return f"{seconds // MINUTE} min ago"
    return f"{seconds // HOUR} h ago"


@register.simple_tag
def age(moment: datetime) -> SafeString:
    """A <time> that says how long ago `moment` was and tells the exact time on hover."""
    return format_html(
        '<time datetime="{}" title="{} UTC" data-age>{}</time>',
        moment.isoformat(),
        f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}",
        age_in_words(moment, timezone.now()),
    )


@register.filter
def grouped(number: int) -> str:
    """Thousands apart: 10000 is "10,000"."""
    return f"{number:,}"


@register.filter
def counted(number: int, noun: str) -> str:
    """A count with its noun, "1 resource"; "policy,policies" also names the plural."""
    singular, _, plural = noun.partition(",")
    return f"{grouped(number)} {singular if number == 1 else plural or singular + 's'}"


@register.filter
def chosen(options: list[dict[str, object]]) -> bool:
    """Whether one of the options is the current one."""
    return any(option["current"] for option in options)


@register.filter
def initials(name: str) -> str:
    """The first letters of the first and the last word: "Maya Chen" is "MC"."""
    words = name.replace(".", " ").replace("_", " ").replace("-", " ").split()
    return "".join(word[0] for word in words[:1] + words[1:][-1:]).upper()
