"""Figures, moments and units are read from documents of any shape."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.engine import document_values
from resources.documents.durations import PERMANENT
from tests.rows import every_row
from tests.tiers import examples

NOW = datetime(2026, 11, 16, 0, 30, tzinfo=UTC)
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats(allow_nan=False)
    | st.text(max_size=10)
    | st.sampled_from(["5m", "2026-11", "2026-11-16T00:30:00Z", "permanent", "ms"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@every_row(
    ("value", "expected"),
    [
        (0, 0),
        (-2.5, -2.5),
        (10**400, document_values.LARGEST),
        (-(10**400), -document_values.LARGEST),
        (float("inf"), document_values.LARGEST),
        (1e308, document_values.LARGEST),
        (True, None),
        ("5", None),
        (None, None),
        ([1], None),
    ],
)
def test_only_figures_are_figures(value: object, expected: float | None) -> None:
    assert document_values.number(value) == expected


def test_a_whole_figure_stays_whole() -> None:
    assert isinstance(document_values.number(3), int)


@every_row(
    ("value", "expected"),
    [
        ("2026-11-16T00:30:00Z", NOW),
        ("2026-11-16t00:30:00z", NOW),
        ("2026-11-16T01:30:00+01:00", NOW),
        ("2026-11-16T00:30:00", NOW),
        ("2026-11-16", datetime(2026, 11, 16, tzinfo=UTC)),
        ("yesterday", None),
        ("2026-13-45T00:00:00Z", None),
        (20261116, None),
    ],
)
def test_moments_are_read_in_their_zone_or_in_utc(
    value: object, expected: datetime | None
) -> None:
    assert document_values.moment(value) == expected


def test_a_moment_no_calendar_reaches_is_none() -> None:
    assert document_values.later(NOW, PERMANENT) is None
    assert document_values.later(NOW, timedelta(1)) == NOW + timedelta(1)


def test_the_soonest_moment_is_still_to_come() -> None:
    hours = [NOW + timedelta(hours=each) for each in (3, -1, 0, 2)]

    assert document_values.soonest([None, *hours], NOW) == NOW + timedelta(hours=2)
    assert document_values.soonest([None, NOW], NOW) is None


@every_row(
    ("value", "expected"),
    [
        (3, "3"),
        (3.0, "3"),
        (238_800_000, "238,800,000"),
        (1075.1, "1,075.1"),
        (0.061, "0.061"),
        (-0.5, "-0.5"),
        (0.00012, "0.00012"),
        (1e20, "1e+20"),
        (0, "0"),
    ],
)
def test_figures_are_written_for_people(value: float, expected: str) -> None:
    assert document_values.figure(value) == expected


@given(ANYTHING, ANYTHING, st.text(max_size=4))
@settings(max_examples=examples(200), deadline=None)
def test_reading_never_fails(value: Any, other: Any, unit: str) -> None:
    document = {"here": value, "there": other}
    amount = document_values.number(value)

    assert isinstance(document_values.text(value), str)
    assert isinstance(document_values.section(document, "here"), dict)
    assert all(isinstance(each, dict) for each in document_values.items(document, "here"))
    assert all(isinstance(each, str) for each in document_values.texts(document, "there"))
    end = document_values.later(NOW, document_values.duration(value) or timedelta(0))
    assert end is None or end >= NOW
    assert document_values.period(value, NOW) is None or isinstance(value, str)
    if amount is not None:
        assert document_values.convert(amount, unit, unit) == amount
        assert document_values.quantity(amount, unit).startswith(document_values.figure(amount))


@given(st.floats(-1e9, 1e9), st.sampled_from(["ms", "s", "m", "h", "d", "percent", "ratio"]))
@settings(max_examples=examples(100), deadline=None)
def test_a_conversion_can_be_taken_back(value: float, unit: str) -> None:
    there = "s" if unit in ("ms", "s", "m", "h", "d") else "%"

    converted = document_values.convert(value, unit, there)

    assert converted is not None
    assert document_values.convert(converted, there, unit) == pytest.approx(value)


def test_a_share_of_an_allowance_is_what_people_compute() -> None:
    assert document_values.throttled(1_500_000, 0.58) == 870_000
    assert document_values.throttled(7, 0.5) == 3
