"""Steps towards a value: bounded, monotone, and they arrive."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from controllers.engine.convergence import bounded

numbers = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False)


def walk(current: float, desired: float) -> list[float]:
    passed = [current]
    while passed[-1] != desired and len(passed) < 4_000:
        passed.append(bounded(passed[-1], desired, "gradual"))
    return passed


def test_a_gap_of_ten_is_closed_in_small_steps() -> None:
    """I-16"""
    assert walk(0, 10) == [0, 2, 4, 5, 6, 7, 8, 9, 10]
    assert walk(10, 0) == [10, 8, 6, 5, 4, 3, 2, 1, 0]


def test_a_large_gap_shrinks_by_a_quarter() -> None:
    """I-16"""
    assert walk(0, 1_000)[:4] == [0, 250, 437, 577]


@pytest.mark.parametrize(("current", "desired"), [(0, 10), (10, 0), (0.2, 0.8), (3, 10**400)])
def test_immediate_closes_the_whole_gap(current: float, desired: float) -> None:
    """I-17"""
    assert bounded(current, desired, "immediate") == desired


def test_a_word_nobody_knows_is_taken_as_gradual() -> None:
    assert bounded(0, 100, "") == bounded(0, 100, "sideways") == bounded(0, 100, "gradual") == 25


def test_whole_numbers_stay_whole_even_if_they_were_reported_as_fractions() -> None:
    step = bounded(3.0, 13, "gradual")

    assert (step, type(step)) == (5, int)


def test_a_fraction_is_not_rushed() -> None:
    """I-16"""
    assert bounded(0.0, 1.0, "gradual") == 0.25
    assert bounded(0.001, 0.005, "gradual") == pytest.approx(0.002)


def test_the_last_millionth_is_one_step() -> None:
    assert bounded(3e-6, 0.0, "gradual") == pytest.approx(2e-6)
    assert bounded(1e-6, 0.0, "gradual") == 0


@given(numbers, numbers)
@example(-1e308, 1e308)
@example(1e308, -1.7e308)
@example(0.0, 5e-324)
@example(10**400, -(10**400))
@example(0.5, 10**400)
@example(float("inf"), 3)
@example(float("inf"), float("inf"))
@example(float("-inf"), float("inf"))
@example(2.5, 13)
@example(1e308, 0.0)
def test_every_step_comes_nearer_none_goes_too_far_and_the_last_arrives(
    current: float, desired: float
) -> None:
    """I-16"""
    passed = walk(current, desired)

    low, high = min(current, desired), max(current, desired)
    assert passed[-1] == desired
    assert all(low <= each <= high for each in passed)
    for before, after in pairwise(passed):
        assert before < after if current < desired else before > after


@given(numbers, numbers)
def test_what_is_there_already_stays(current: float, desired: float) -> None:
    assert bounded(desired, desired, "gradual") == desired
    assert bounded(current, current, "immediate") == current


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_a_step_is_a_quarter_of_the_gap_or_the_smallest_useful_one(
    current: float, desired: float
) -> None:
    """I-16"""
    gap = abs(desired - current)
    smallest = max(abs(current), abs(desired)) / 100

    step = abs(bounded(current, desired, "gradual") - current)

    assert step <= max(gap / 4, smallest, 1e-6) * (1 + 1e-9)
