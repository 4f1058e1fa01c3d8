"""Times as the pages write them, before the script moves them into the viewer's zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
import time_machine
from django.template import Context, Template

from controllers.templatetags import words
from tests.rows import every_row

NOW = datetime(2026, 2, 25, 10, 42, tzinfo=UTC)


def written(source: str, at: datetime) -> str:
    """Render a tag about a time."""
    with time_machine.travel(NOW, tick=False):
        return Template("{% load words %}" + source).render(Context({"at": at}))


@every_row(
    ("ahead", "told"),
    [
        (timedelta(0), "now"),
        (timedelta(seconds=-5), "now"),
        (timedelta(seconds=48), "in 48 s"),
        (timedelta(minutes=6, seconds=59), "in 6 min"),
        (timedelta(hours=1), "in 1 h"),
        (timedelta(hours=3, minutes=18), "in 3 h 18 min"),
        (timedelta(days=1), "in 1 day"),
        (timedelta(days=3, hours=23), "in 3 days"),
    ],
)
def test_a_time_ahead_is_told_by_what_is_left(ahead: timedelta, told: str) -> None:
    assert f">{told}</time>" in written("{% left at %}", NOW + ahead)


@pytest.mark.parametrize(
    ("shape", "ahead", "told"),
    [
        ("left", timedelta(minutes=33), "33 min left"),
        ("left", timedelta(0), "no time left"),
        ("bare", timedelta(minutes=85), "1 h 25 min"),
    ],
)
def test_what_is_left_can_stand_in_other_sentences(
    shape: str, ahead: timedelta, told: str
) -> None:
    html = written(f'{{% left at "{shape}" %}}', NOW + ahead)

    assert f'data-left="{shape}">{told}</time>' in html


@pytest.mark.parametrize(
    ("at", "told"),
    [
        (datetime(2026, 2, 25, 9, 56, tzinfo=UTC), "today, 09:56"),
        (datetime(2026, 2, 25, 0, 30, tzinfo=timezone(timedelta(hours=2))), "24 Feb, 22:30"),
        (datetime(2025, 12, 31, 23, 59, tzinfo=UTC), "31 Dec 2025, 23:59"),
    ],
)
def test_a_moment_names_its_day_in_utc(at: datetime, told: str) -> None:
    assert words.moment_in_words(at, NOW) == told


def test_the_script_and_people_without_it_find_the_exact_time() -> None:
    at = datetime(2026, 2, 24, 18, 10, 5, tzinfo=timezone(timedelta(hours=2)))

    assert written("{% clock_time at %} {% day at %} {% moment at %}", at) == " ".join(
        f'<time datetime="2026-02-24T16:10:05Z" title="2026-02-24 16:10:05 UTC"'
        f' data-clock="{kind}">{text}</time>'
        for kind, text in (("time", "16:10"), ("date", "24 Feb"), ("moment", "24 Feb, 16:10"))
    )
