"""A schedule says when the next run is due, as cron would."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.engine.due_times import late_from
from resources.documents.schedules import Schedule, next_after, parse
from tests.rows import every_row
from tests.tiers import examples

NOW = datetime(2026, 11, 16, 0, 30, tzinfo=UTC)  # a Monday


def following(text: str, moment: datetime = NOW) -> str:
    schedule = parse(text)
    assert schedule is not None
    return f"{next_after(schedule, moment):%Y-%m-%d %H:%M}"


@every_row(
    ("text", "expected"),
    [
        ("* * * * *", "2026-11-16 00:31"),
        ("*/15 * * * *", "2026-11-16 00:45"),
        ("5/20 * * * *", "2026-11-16 00:45"),
        ("30 0 * * *", "2026-11-17 00:30"),
        ("30 5,17 * * *", "2026-11-16 05:30"),
        ("0 8 * * 1-5", "2026-11-16 08:00"),
        ("0 8 * * mon-fri", "2026-11-16 08:00"),
        ("0 0 * * 0", "2026-11-22 00:00"),
        ("0 0 * * 7", "2026-11-22 00:00"),
        ("0 0 * * Sun", "2026-11-22 00:00"),
        ("0 9 1 * *", "2026-12-01 09:00"),
        ("0 9 31 * *", "2026-12-31 09:00"),
        ("0 9 1 jan *", "2027-01-01 09:00"),
        ("0 0 20 * 3", "2026-11-18 00:00"),
        ("0 0 */2 * 3", "2026-11-25 00:00"),
        ("10-20/5 1 * * *", "2026-11-16 01:10"),
        ("@daily", "2026-11-17 00:00"),
        ("@hourly", "2026-11-16 01:00"),
        ("  0   8  * * 1 ", "2026-11-16 08:00"),
    ],
)
def test_the_next_run_is_when_cron_would_start_it(text: str, expected: str) -> None:
    assert following(text) == expected


def test_schedules_are_in_utc() -> None:
    tokyo = datetime.fromisoformat("2026-11-16T09:30:00+09:00")

    assert following("0 1 * * *", tokyo) == "2026-11-16 01:00"


@every_row(
    "text",
    [
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "5-1 * * * *",
        "*/0 * * * *",
        "*/ * * * *",
        "1,,2 * * * *",
        "mon * * * *",
        "* * * mon *",
        "-1 * * * *",
        "1- * * * *",
        "² * * * *",
        "@never",
    ],
)
def test_nonsense_is_no_schedule(text: str) -> None:
    assert parse(text) is None
    assert late_from(text, NOW) is None


def test_a_day_that_never_comes_is_never_late() -> None:
    assert late_from("0 0 30 2 *", NOW) is None
    assert late_from("* * * * *", datetime.max.replace(tzinfo=UTC)) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*/5 * * * *", NOW + timedelta(minutes=10)),
        ("0 * * * *", NOW + timedelta(minutes=90)),
        ("0 4 * * *", NOW.replace(hour=5, minute=0)),
    ],
)
def test_a_run_is_late_after_one_interval_or_an_hour(text: str, expected: datetime) -> None:
    assert late_from(text, NOW) == expected


MINUTES = st.sampled_from(["*", "0", "*/7", "10-40/3", "5,55"])
HOURS = st.sampled_from(["*", "3", "*/5", "8-17"])
DAYS = st.sampled_from(["*", "1", "31", "*/9", "10-12"])
WEEKDAYS = st.sampled_from(["*", "0", "1-5", "6,7", "*/2"])


def starts(schedule: Schedule, moment: datetime) -> bool:
    return schedule.on(moment.date()) and moment.hour * 60 + moment.minute in schedule.minutes


@given(MINUTES, HOURS, DAYS, WEEKDAYS, st.integers(0, 2_000_000))
@settings(max_examples=examples(100), deadline=None)
def test_no_start_is_passed_over(
    minute: str, hour: str, day: str, weekday: str, offset: int
) -> None:
    schedule = parse(f"{minute} {hour} {day} * {weekday}")
    assert schedule is not None
    moment = NOW + timedelta(minutes=offset)

    found = next_after(schedule, moment)

    assert found is not None
    assert found > moment
    assert starts(schedule, found)
    between = int((found - moment) / timedelta(minutes=1))
    step = max(1, between // 300)
    for minutes in range(1, between, step):
        assert not starts(schedule, moment + timedelta(minutes=minutes))


@given(st.text(max_size=30), st.datetimes(timezones=st.just(UTC)))
@settings(max_examples=examples(100), deadline=None)
def test_any_text_can_be_asked(text: str, moment: datetime) -> None:
    late = late_from(text, moment)

    assert late is None or late > moment
