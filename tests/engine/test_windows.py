"""A window opens by the clock on the wall of its zone, also when that clock is changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from controllers.engine.due_times import Opening, Window, opened, upcoming, window
from tests.rows import every_row
from tests.tiers import examples

BRUSSELS = ZoneInfo("Europe/Brussels")


def read(text: str, zone: str = "Europe/Brussels", length: str = "1h") -> Window:
    found = window(text, zone, length)
    assert found is not None
    return found


def wall(text: str, zone: ZoneInfo = BRUSSELS, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold)


def spell(opening: Opening | None) -> str:
    return f"{opening.start:%m-%d %H:%M} to {opening.end:%m-%d %H:%M}" if opening else "closed"


WEEKEND = read("0 18 * * 5", length="62h")


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-11-13T17:59:59", False),
        ("2026-11-13T18:00", True),
        ("2026-11-14T12:00", True),
        ("2026-11-16T07:59:59", True),
        ("2026-11-16T08:00", False),
        ("2026-11-18T12:00", False),
    ],
)
def test_a_weekend_is_closed_before_its_start_and_at_its_end(moment: str, expected: bool) -> None:
    assert (opened(WEEKEND, wall(moment)) is not None) is expected


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        # Winter time: one hour before UTC.
        ("2026-11-14T12:00", "11-13 17:00 to 11-16 07:00"),
        # Summer time: two hours.
        ("2026-07-11T12:00", "07-10 16:00 to 07-13 06:00"),
        # The clock goes forward on Sunday, and back on Sunday: Monday at eight is Monday at eight.
        ("2026-03-28T12:00", "03-27 17:00 to 03-30 06:00"),
        ("2026-10-24T12:00", "10-23 16:00 to 10-26 07:00"),
    ],
)
def test_a_weekend_ends_when_the_clock_on_the_wall_says_so(moment: str, expected: str) -> None:
    assert spell(opened(WEEKEND, wall(moment))) == expected


def test_a_start_that_the_clock_jumps_over_still_opens_the_window() -> None:
    night = read("30 2 * * *", length="1h")
    late = read("55 2 * * *", length="10m")

    # Half past two does not exist on 29 March; an hour after half past one is half past three.
    assert spell(opened(night, datetime(2026, 3, 29, 1, 45, tzinfo=UTC))) == (
        "03-29 01:30 to 03-29 02:30"
    )
    assert spell(opened(late, datetime(2026, 3, 29, 2, 0, tzinfo=UTC))) == (
        "03-29 01:55 to 03-29 02:05"
    )


def test_what_the_clock_shows_twice_counts_from_the_first_to_the_last() -> None:
    night = read("30 2 * * *", length="15m")
    expected = "10-25 00:30 to 10-25 01:45"

    assert spell(opened(night, wall("2026-10-25T02:35"))) == expected
    assert spell(opened(night, wall("2026-10-25T02:35", fold=1))) == expected
    assert opened(night, wall("2026-10-25T02:50", fold=1)) is None


def test_a_zone_that_skipped_a_whole_day_loses_no_window() -> None:
    samoa = read("0 12 * * *", "Pacific/Apia", "1h")

    found = upcoming(samoa, datetime(2011, 12, 30, 8, tzinfo=UTC))

    assert spell(found) == "12-30 22:00 to 12-30 23:00"
    assert found is not None
    assert opened(samoa, found.start) == found


def test_windows_that_overlap_stay_open() -> None:
    always = read("0 * * * *", length="90m")
    at = wall("2026-11-14T12:20")

    assert spell(opened(always, at)) == "11-14 11:00 to 11-14 12:30"
    assert all(opened(always, at + timedelta(minutes=each)) for each in range(0, 3000, 7))


def test_the_next_opening_is_the_first_that_starts_later() -> None:
    assert spell(upcoming(WEEKEND, wall("2026-11-13T18:00"))) == "11-20 17:00 to 11-23 07:00"
    assert spell(upcoming(WEEKEND, wall("2026-11-13T17:59"))) == "11-13 17:00 to 11-16 07:00"
    assert upcoming(read("0 0 30 2 *"), wall("2026-11-13T18:00")) is None


@every_row(
    ("text", "zone", "length"),
    [
        ("0 18 * *", "UTC", "1h"),
        ("0 18 * * 5", "Europe/Atlantis", "1h"),
        ("0 18 * * 5", "Europe", "1h"),
        ("0 18 * * 5", "", "1h"),
        ("0 18 * * 5", "../../etc/passwd", "1h"),
        ("0 18 * * 5", "/etc/localtime", "1h"),
        ("0 18 * * 5", "UTC", "soon"),
        ("0 18 * * 5", "UTC", "0s"),
        ("0 18 * * 5", "UTC", "permanent"),
        ("0 18 * * 5", "UTC", "32d"),
    ],
)
def test_nonsense_is_no_window(text: str, zone: str, length: str) -> None:
    assert window(text, zone, length) is None


@pytest.mark.parametrize(
    "moment", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
)
def test_the_ends_of_time_can_be_asked(moment: datetime) -> None:
    for zone in ("Pacific/Apia", "America/New_York"):
        often = read("* * * * *", zone, "1m")

        for found in (opened(often, moment), upcoming(often, moment)):
            assert found is None or found.start < found.end


CRONS = st.sampled_from(["0 18 * * 5", "30 2 * * *", "*/20 * * * *", "15 1,3 * * 0", "0 0 1 * *"])
ZONES = st.sampled_from(
    ["Europe/Brussels", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"]
)
LENGTHS = st.sampled_from(["5m", "45m", "3h", "62h"])


def opens(found: Window, moment: datetime) -> bool:
    """Tell by looking at every minute of the last days whether a window is open."""
    length = found.length + timedelta(hours=4)
    for minutes in range(int(length / timedelta(minutes=1))):
        shown = (moment - timedelta(minutes=minutes)).astimezone(found.zone)
        starts = shown.hour * 60 + shown.minute in found.schedule.minutes
        if starts and not shown.fold and found.schedule.on(shown.date()):
            over = shown.replace(tzinfo=None) + found.length
            ends = [over.replace(tzinfo=found.zone, fold=fold).astimezone(UTC) for fold in (0, 1)]
            if moment < max(ends):
                return True
    return False


@given(CRONS, ZONES, LENGTHS, st.integers(0, 1_000_000))
@settings(max_examples=examples(60), deadline=None)
def test_it_is_open_when_a_clock_watched_by_the_minute_says_so(
    text: str, zone: str, length: str, offset: int
) -> None:
    found = read(text, zone, length)
    moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=offset)

    # A clock that is watched never shows the minutes that are jumped over.
    before = (moment - timedelta(days=4)).astimezone(found.zone)
    assume(before.utcoffset() == moment.astimezone(found.zone).utcoffset())

    assert (opened(found, moment) is not None) == opens(found, moment)


@given(CRONS, ZONES, LENGTHS, st.integers(0, 1_000_000))
@settings(max_examples=examples(60), deadline=None)
def test_what_comes_next_is_open_once_it_has_come(
    text: str, zone: str, length: str, offset: int
) -> None:
    found = read(text, zone, length)
    moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=offset)

    following = upcoming(found, moment)

    assert following is not None
    assert moment < following.start < following.end
    now_open = opened(found, following.start)
    assert now_open is not None
    assert now_open.start >= following.start or now_open.end >= following.end
