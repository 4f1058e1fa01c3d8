"""The circuit breaker: every state with every event, and that only a person starts it again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.engine.breaker import Breaker, after_cycle, open_now, reset
from tests.rows import every_row
from tests.tiers import examples

LIMIT = 5
Event = Callable[[Breaker], Breaker]


def succeed(breaker: Breaker) -> Breaker:
    return after_cycle(breaker, True, LIMIT, "")


def fail(breaker: Breaker) -> Breaker:
    return after_cycle(breaker, False, LIMIT, "It failed.")


def pause(breaker: Breaker) -> Breaker:
    return open_now(breaker, "Paused by onError.")


CALM = Breaker()
SHAKEN = Breaker("closed", 2)
LAST = Breaker("closed", 4)
OPEN = Breaker("open", 5, "At first.")
TRIAL = Breaker("half_open", 5, "At first.")


@every_row(
    ("before", "event", "after"),
    [
        (CALM, succeed, CALM),
        (CALM, fail, Breaker("closed", 1)),
        (CALM, pause, Breaker("open", 0, "Paused by onError.")),
        (CALM, reset, CALM),
        (SHAKEN, succeed, CALM),
        (SHAKEN, fail, Breaker("closed", 3)),
        (SHAKEN, pause, Breaker("open", 2, "Paused by onError.")),
        (SHAKEN, reset, SHAKEN),
        (LAST, succeed, CALM),
        (LAST, fail, Breaker("open", 5, "It failed.")),
        (LAST, pause, Breaker("open", 4, "Paused by onError.")),
        (LAST, reset, LAST),
        (OPEN, succeed, OPEN),
        (OPEN, fail, OPEN),
        (OPEN, pause, OPEN),
        (OPEN, reset, TRIAL),
        (TRIAL, succeed, CALM),
        (TRIAL, fail, Breaker("open", 6, "It failed.")),
        (TRIAL, pause, Breaker("open", 5, "Paused by onError.")),
        (TRIAL, reset, TRIAL),
    ],
)
def test_every_state_answers_every_event(before: Breaker, event: Event, after: Breaker) -> None:
    """D-42 X-04 X-19"""
    assert event(before) == after


def test_only_failures_in_a_row_open_it() -> None:
    """D-41"""
    breaker = CALM
    for event in [fail] * 4 + [succeed] + [fail] * 4:
        breaker = event(breaker)
    assert breaker == Breaker("closed", 4)

    assert fail(breaker).state == "open"


def test_a_trial_that_fails_opens_it_however_high_the_limit() -> None:
    """X-19"""
    assert after_cycle(Breaker("half_open", 0, "x"), False, 100, "Again.").state == "open"


@pytest.mark.parametrize("limit", [1, 0, -1])
def test_the_smallest_limit_opens_at_the_first_failure(limit: int) -> None:
    assert after_cycle(CALM, False, limit, "x").state == "open"


@settings(max_examples=examples(100))
@given(st.lists(st.sampled_from([succeed, fail, pause]), max_size=30))
def test_nothing_but_a_reset_starts_an_open_breaker_again(events: list[Event]) -> None:
    """D-43"""
    breaker = OPEN
    for event in events:
        breaker = event(breaker)

    assert breaker == OPEN
    assert reset(breaker).state == "half_open"
