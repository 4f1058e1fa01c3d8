"""Ages, counts and initials as the pages write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from resources.templatetags import ui
from tests.rows import every_row

NOW = datetime(2026, 2, 25, 10, 42, tzinfo=UTC)


@every_row(
    ("ago", "words"),
    [
        (timedelta(0), "0 s ago"),
        (timedelta(seconds=59), "59 s ago"),
        (timedelta(seconds=60), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=1), "1 h ago"),
        (timedelta(hours=23, minutes=59), "23 h ago"),
        (timedelta(days=1), "24 Feb, 10:42"),
        (timedelta(days=365), "25 Feb 2025, 10:42"),
        (timedelta(minutes=-5), "25 Feb, 10:47"),
    ],
)
def test_an_age_is_relative_for_a_day_and_a_date_after_it(ago: timedelta, words: str) -> None:
    assert ui.age_in_words(NOW - ago, NOW) == words


def test_a_date_is_written_in_utc() -> None:
    moment = datetime(2026, 2, 20, 1, 0, tzinfo=timezone(timedelta(hours=2)))

    assert ui.age_in_words(moment, NOW) == "19 Feb, 23:00"


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [
        (0, "resource", "0 resources"),
        (1, "resource", "1 resource"),
        (10_000, "resource", "10,000 resources"),
        (1, "policy,policies", "1 policy"),
        (2, "policy,policies", "2 policies"),
    ],
)
def test_a_count_carries_its_noun(number: int, noun: str, words: str) -> None:
    assert ui.counted(number, noun) == words


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Maya Chen", "MC"),
        ("Ana María de la Cruz", "AC"),
        ("maya", "M"),
        ("maya.chen", "MC"),
        ("", ""),
        ("  ", ""),
    ],
)
def test_initials_are_of_the_first_and_the_last_word(name: str, letters: str) -> None:
    assert ui.initials(name) == letters


def test_a_name_cannot_leave_the_icon_markup() -> None:
    assert '"><script>' not in ui.icon('"><script>')
