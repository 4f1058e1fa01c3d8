"""Charts as SVG of geometry attributes only, so that a strict policy lets them through.

They stretch to their box; labels are HTML, so nothing shrinks on a phone. Each says in a sentence
what it shows, or is hidden from screen readers when the number stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import pi

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from controllers.narrative import drift_queries

register = template.Library()

# How far a meter reaches: what is spent beyond its limit is seen.
FULL = 1.25
HEIGHTS = {"ok": 9, "drift": 13, "failed": 16, "paused": 5, "none": 3}
TONES = {"ok": "ok", "drift": "warn", "failed": "danger", "paused": "mute", "none": "none"}


def named(label: str) -> str:
    """Return the attributes that name a chart, or hide it."""
    return f'role="img" aria-label="{escape(label)}"' if label else 'aria-hidden="true"'


def svg(kind: str, box: str, inside: str, label: str) -> SafeString:
    """Wrap shapes into a chart."""
    return mark_safe(  # noqa: S308 - numbers, and a label that is escaped
        f'<svg class="{kind}" viewBox="{box}" preserveAspectRatio="none" {named(label)}>'
        f"{inside}</svg>"
    )


def path(points: Iterable[tuple[float, float]]) -> str:
    """Return a line through points."""
    return "".join(
        f"{'L' if number else 'M'}{x:.1f} {y:.1f}" for number, (x, y) in enumerate(points)
    )


@register.simple_tag
def spark(
    values: Sequence[float], limit: float = 0, label: str = "", steps: int = drift_queries.POINTS
) -> SafeString:
    """A line of the last values, with a dashed limit and a dot at the end.

    It is as long as `steps` values: where fewer are known, it begins further to the right.
    """
    if not values:
        return SafeString("")
    kept = list(values[-steps:])
    top = max([*kept, limit]) * 1.12 or 1
    first = steps - len(kept)
    points = [
        (1 + 98 * (first + place) / max(steps - 1, 1), 29 - 27 * min(value / top, 1))
        for place, value in enumerate(kept)
    ]
    line = path(points)
    tone = drift_queries.tone(kept[-1], limit) if limit else "accent"
    dashed = f'<path class="lim" d="M0 {29 - 27 * limit / top:.1f}H100"/>' if limit else ""
    area = f"{line}L99 30L{points[0][0]:.1f} 30Z"
    inside = (
        f'<path class="area" d="{area}"/>{dashed}<path class="line" d="{line}"/>'
        f'<path class="end" d="M{points[-1][0]:.1f} {points[-1][1]:.1f}h0"/>'
    )
    return svg(f"spark t-{tone}", "0 0 100 30", inside, label)


@register.simple_tag
def bullet(
    score: float | None, limit: float = 0.15, label: str = "", scale: float = 0.6
) -> SafeString:
    """A gauge up to the score, with a tick at the limit."""
    reach, tick = (1 + 98 * min((value or 0) / scale, 1) for value in (score, limit))
    fill = f'<path class="fill" d="M1 7H{reach:.1f}"/>' if score else ""
    inside = f'<path class="track" d="M1 7H99"/>{fill}<path class="tick" d="M{tick:.1f} 0V14"/>'
    return svg(f"bullet t-{drift_queries.tone(score, limit)}", "0 0 100 14", inside, label)


@register.simple_tag
def meter(share: float, tick: float, tone: str, label: str = "") -> SafeString:
    """A gauge of what is used up, with a tick from where on people are told."""
    reach, at = (1 + 98 * min(value / FULL, 1) for value in (share, tick))
    fill = f'<path class="fill" d="M1 7H{reach:.1f}"/>' if share else ""
    inside = f'<path class="track" d="M1 7H99"/>{fill}<path class="tick" d="M{at:.1f} 0V14"/>'
    return svg(f"bullet t-{escape(tone)}", "0 0 100 14", inside, label)


@register.simple_tag
def stack(parts: Mapping[str, float], limit: float = 0, label: str = "") -> SafeString:
    """What a score is made of, on a scale of 0 to 1, with a tick at the limit."""
    left, shapes = 0.0, []
    for name, amount in parts.items():
        width = 100 * amount
        shapes.append(
            f'<rect class="d-{escape(name)}" x="{left:.2f}" y="0" '
            f'width="{max(width - 0.4, 0):.2f}" height="10"/>'
        )
        left += width
    if limit:
        shapes.append(f'<rect class="at" x="{100 * limit:.2f}" y="0" width=".35" height="10"/>')
    return svg("stack", "0 0 100 10", "".join(shapes), label)


@register.simple_tag
def ring(percent: float, tone: str = "ok") -> SafeString:
    """How much of a time is left."""
    around = 2 * pi * 6
    reach = around * max(0.0, min(float(percent), 100.0)) / 100
    inside = (
        '<circle class="track" cx="8" cy="8" r="6"/><circle class="fill" cx="8" cy="8" r="6" '
        f'stroke-dasharray="{reach:.1f} {around:.1f}" transform="rotate(-90 8 8)"/>'
    )
    return mark_safe(  # noqa: S308 - numbers, and a tone of ours
        f'<svg class="ring t-{escape(tone)}" viewBox="0 0 16 16" aria-hidden="true">{inside}</svg>'
    )


@register.simple_tag
def ticks(states: Sequence[str], label: str = "") -> SafeString:
    """One bar for each cycle: ok, drift, failed, paused or none; the height repeats the state."""
    bars = "".join(
        f'<rect class="k-{TONES[state]}" x="{place * 4}" y="{16 - HEIGHTS[state]}" width="3" '
        f'height="{HEIGHTS[state]}" rx=".6"/>'
        for place, state in enumerate(states)
    )
    return svg("ticks", f"0 0 {max(len(states) * 4 - 1, 3)} 16", bars, label)


@register.simple_tag
def span(start: float, width: float, tone: str = "accent") -> SafeString:
    """One bar of a waterfall, on a scale of 0 to 100."""
    line = f"M{max(start, 0.6):.2f} 5h{max(width, 0.05):.2f}"
    inside = f'<path class="fill t-{escape(tone)}" d="{line}"/>'
    return svg("span", "0 0 100 10", inside, "")


@register.simple_tag
def plot(
    points: Sequence[tuple[float, float]],
    limit: float,
    marks: Sequence[tuple[float, float, str]] = (),
    top: float = 0.6,
    label: str = "",
) -> SafeString:
    """Drift over time: points and marks are (0..1 of the time, score[, proposal|human|action])."""

    def height(score: float) -> float:
        return 100 - 100 * min(score / top, 1)

    line = path((100 * at, height(score)) for at, score in points)
    edge = (100 * points[0][0], 100 * points[-1][0]) if points else (0, 0)
    area = f'<path class="area" d="{line}L{edge[1]:.1f} 100L{edge[0]:.1f} 100Z"/>' if line else ""
    grid = "".join(
        f'<path class="grid" d="M0 {height(top * share):.1f}H100"/>' for share in (1 / 3, 2 / 3)
    )
    stems = "".join(
        f'<path class="stem m-{kind}" d="M{100 * at:.2f} {height(score):.1f}V100"/>'
        f'<path class="mark m-{kind}" d="M{100 * at:.2f} {height(score):.1f}h0"/>'
        for at, score, kind in marks
    )
    at = height(limit)
    inside = (
        f'<rect class="zone" x="0" y="0" width="100" height="{at:.1f}"/>{grid}'
        f'<path class="lim" d="M0 {at:.1f}H100"/>{area}<path class="line" d="{line}"/>{stems}'
    )
    return svg("plot", "0 0 100 100", inside, label)
