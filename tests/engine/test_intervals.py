"""When work is tried again, and when a cycle is due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.engine.due_times import LONGEST, NOT_READY, backoff, is_due, next_due

NOON = datetime(2026, 5, 17, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
FIVE = timedelta(minutes=5)

moments = st.timedeltas(timedelta(days=-9000), timedelta(days=9000)).map(NOON.__add__)
spans = st.timedeltas(timedelta(milliseconds=1), timedelta(days=400))


def test_delays_double_from_one_second_and_stop_at_five_minutes() -> None:
    """F-12 F-20"""
    delays = [backoff(attempt, 0).total_seconds() for attempt in range(1, 13)]

    assert delays == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]


def test_a_first_failure_after_a_success_waits_one_second_again() -> None:
    """F-21"""
    assert backoff(1, 0) == timedelta(seconds=1)


@pytest.mark.parametrize("attempt", [10, 32, 100, 10**9, 10**100])
def test_no_number_of_failures_passes_the_longest_delay(attempt: int) -> None:
    """D-32"""
    assert backoff(attempt, 0) == LONGEST
    assert backoff(attempt, 1) == timedelta(seconds=330)


@pytest.mark.parametrize("attempt", [0, -1, -(10**9)])
def test_a_count_below_one_still_waits(attempt: int) -> None:
    """D-32"""
    assert backoff(attempt, 0) == timedelta(seconds=1)


@given(st.integers(1, 40), st.floats(0, 1))
def test_jitter_adds_up_to_a_tenth_and_takes_nothing_away(attempt: int, jitter: float) -> None:
    """F-20"""
    plain = backoff(attempt, 0)

    assert plain <= backoff(attempt, jitter) <= plain * 1.1


def test_jitter_spreads_work_that_failed_together() -> None:
    assert backoff(5, 0.25) < backoff(5, 0.5) < backoff(5, 0.75)


@pytest.mark.parametrize(("jitter", "same"), [(-3.0, 0.0), (1e308, 1.0)])
def test_jitter_out_of_range_is_the_nearest_that_is_in_range(jitter: float, same: float) -> None:
    assert backoff(3, jitter) == backoff(3, same)


def test_what_is_not_ready_waits_ten_seconds() -> None:
    """F-35"""
    assert timedelta(seconds=10) == NOT_READY


def test_a_resource_is_due_when_its_interval_has_passed() -> None:
    """I-40"""
    assert not is_due(NOON, FIVE, NOON + 2 * MINUTE)
    assert not is_due(NOON, FIVE, NOON + FIVE - timedelta.resolution)
    assert is_due(NOON, FIVE, NOON + FIVE)


def test_what_never_ran_is_due() -> None:
    assert is_due(None, FIVE, NOON)


def test_a_clock_set_back_does_not_stop_the_loop() -> None:
    assert is_due(NOON + timedelta(days=365), FIVE, NOON)
    assert not is_due(NOON + timedelta(seconds=1), FIVE, NOON)


@pytest.mark.parametrize(
    ("took", "due"),
    [
        (timedelta(0), FIVE),
        (2 * MINUTE, FIVE),
        (FIVE, 2 * FIVE),
        (12 * MINUTE, 15 * MINUTE),
        (61 * MINUTE, 65 * MINUTE),
    ],
)
def test_a_cycle_longer_than_its_interval_piles_nothing_up(
    took: timedelta, due: timedelta
) -> None:
    """I-63"""
    assert next_due(NOON, FIVE, NOON + took) == NOON + due


def test_three_intervals_bring_three_cycles() -> None:
    """I-63"""
    start, cycles = NOON, 0
    for minute in range(1, 16):
        now = NOON + minute * MINUTE
        if is_due(start, FIVE, now):
            start, cycles = now, cycles + 1

    assert cycles == 3


@given(moments, spans, moments)
def test_the_next_due_moment_is_on_the_grid_and_within_one_interval(
    start: datetime, interval: timedelta, now: datetime
) -> None:
    due = next_due(start, interval, now)

    assert now < due <= now + interval
    assert (due - start) % interval == timedelta(0)


@given(moments, spans, st.timedeltas(timedelta(0), timedelta(days=4000)))
def test_what_reached_its_next_due_moment_is_due(
    start: datetime, interval: timedelta, took: timedelta
) -> None:
    assert is_due(start, interval, next_due(start, interval, start + took))


@pytest.mark.parametrize("interval", [timedelta(0), -FIVE])
def test_without_an_interval_it_is_due_now(interval: timedelta) -> None:
    assert next_due(NOON, interval, NOON + MINUTE) == NOON + MINUTE
    assert is_due(NOON, interval, NOON)


def test_an_interval_beyond_the_calendar_is_never_due() -> None:
    due = next_due(NOON, timedelta.max, NOON + MINUTE)

    assert due == datetime.max.replace(tzinfo=UTC)
    assert not is_due(NOON, timedelta.max, NOON + timedelta(days=10_000))
