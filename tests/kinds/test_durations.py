"""Durations and periods."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.documents.durations import (
    CONTINUOUS,
    PERMANENT,
    Period,
    is_positive,
    parse_duration,
    parse_period,
    period_text,
)
from tests.rows import every_row

TODAY = date(2026, 5, 17)


@every_row(
    ("text", "expected"),
    [
        ("250ms", timedelta(milliseconds=250)),
        ("30s", timedelta(seconds=30)),
        ("2.3s", timedelta(seconds=2.3)),
        ("15m", timedelta(minutes=15)),
        ("8m32s", timedelta(minutes=8, seconds=32)),
        ("26h", timedelta(hours=26)),
        ("2.5d", timedelta(days=2.5)),
        ("2w", timedelta(weeks=2)),
        ("1mo", timedelta(days=30)),
        ("1q", timedelta(days=90)),
        ("1y", timedelta(days=365)),
        ("1y2mo3d", timedelta(days=365 + 60 + 3)),
        ("PT5M", timedelta(minutes=5)),
        ("P1DT12H", timedelta(hours=36)),
        ("P2M", timedelta(days=60)),
        ("PT0.5S", timedelta(milliseconds=500)),
        ("permanent", PERMANENT),
        ("continuous", CONTINUOUS),
    ],
)
def test_a_duration_is_read(text: str, expected: timedelta) -> None:
    """I-11"""
    assert parse_duration(text) == expected


@every_row(
    "text",
    [
        "",
        "5",
        "m",
        "banana",
        "-5m",
        "5 m",
        "5M",
        "1h,30m",
        "5m\n",
        "P",
        "PT",
        "P1",
        "\u0665m",
        "9" * 15 + "y",
    ],
)
def test_anything_else_is_no_duration(text: str) -> None:
    assert parse_duration(text) is None


@pytest.mark.parametrize(
    ("text", "waits"),
    [("1ms", True), ("0s", False), ("continuous", False), ("permanent", False), ("soon", False)],
)
def test_only_a_positive_finite_duration_can_be_waited_for(text: str, waits: bool) -> None:
    assert is_positive(text) is waits


@every_row(
    ("text", "start", "end", "window"),
    [
        ("2026-Q1", date(2026, 1, 1), date(2026, 4, 1), "quarterly"),
        ("2026-Q4", date(2026, 10, 1), date(2027, 1, 1), "quarterly"),
        ("2026-02", date(2026, 2, 1), date(2026, 3, 1), "monthly"),
        ("2026-12", date(2026, 12, 1), date(2027, 1, 1), "monthly"),
        ("2024-02-29", date(2024, 2, 29), date(2024, 3, 1), "daily"),
        ("2026", date(2026, 1, 1), date(2027, 1, 1), ""),
        ("daily", date(2026, 5, 17), date(2026, 5, 18), "daily"),
        ("monthly", date(2026, 5, 1), date(2026, 6, 1), "monthly"),
        ("quarterly", date(2026, 4, 1), date(2026, 7, 1), "quarterly"),
        ("2026-01-10/2026-02-20", date(2026, 1, 10), date(2026, 2, 21), ""),
    ],
)
def test_a_period_is_read(text: str, start: date, end: date, window: str) -> None:
    assert parse_period(text, TODAY) == Period(start, end, window)  # type: ignore[arg-type]


@every_row(
    "text",
    [
        *[
            "",
            "2026-Q5",
            "2026-00",
            "2026-13",
            "2026-02-30",
            "Q1",
            "yearly",
            "9999",
            "a/b",
            "1/2/3",
        ],
        *["2026-02-20/2026-01-10", "2026-01-01/9999-12-31"],
    ],
)
def test_anything_else_is_no_period(text: str) -> None:
    assert parse_period(text, TODAY) is None


@pytest.mark.parametrize(
    ("first", "last", "name"),
    [
        (date(2026, 1, 1), date(2026, 3, 31), "2026-Q1"),
        (date(2026, 2, 1), date(2026, 2, 28), "2026-02"),
        (date(2026, 2, 3), date(2026, 2, 3), "2026-02-03"),
        (date(2026, 1, 1), date(2026, 4, 1), "2026-01-01/2026-04-01"),
    ],
)
def test_a_period_gets_the_name_it_fits(first: date, last: date, name: str) -> None:
    assert period_text(first, last) == name


@given(st.dates(date(1, 1, 1), date(9998, 1, 1)), st.integers(0, 400))
def test_the_name_of_a_period_reads_back_as_the_period(first: date, days: int) -> None:
    last = first + timedelta(days)

    period = parse_period(period_text(first, last), TODAY)

    assert period
    assert (period.start, period.end) == (first, last + timedelta(1))
