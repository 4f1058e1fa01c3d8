"""What becomes of work that went wrong."""

from __future__ import annotations

from datetime import timedelta

import pytest

from controllers.engine.errors import (
    POISON,
    Blocked,
    Conflict,
    EngineError,
    ErrorClass,
    Fenced,
    NotReady,
    Permanent,
    Stopped,
    TimedOut,
    Transient,
    Verdict,
    classify,
    verdict,
)
from tests.rows import every_row

CLASSES: list[tuple[type[EngineError], ErrorClass]] = [
    (Transient, "Transient"),
    (NotReady, "NotReady"),
    (Permanent, "Permanent"),
    (TimedOut, "TimedOut"),
    (Blocked, "Blocked"),
    (Conflict, "Conflict"),
    (Fenced, "Fenced"),
    (Stopped, "Stopped"),
]
UNCOUNTED = [NotReady, Blocked, Conflict, Fenced, Stopped]
COUNTED = [Transient, TimedOut, EngineError, ValueError, KeyboardInterrupt]


class BadReference(Permanent):
    pass


@every_row(("error", "name"), CLASSES)
def test_every_error_knows_its_class(error: type[EngineError], name: ErrorClass) -> None:
    """F-45"""
    assert classify(error("so it is")) == name


def test_a_narrower_error_has_the_class_it_narrows() -> None:
    assert classify(BadReference("No such domain.")) == "Permanent"


@pytest.mark.parametrize(
    "error",
    [ValueError("x"), TimeoutError(), MemoryError(), KeyboardInterrupt(), EngineError("x")],
)
def test_what_nobody_foresaw_is_transient(error: BaseException) -> None:
    """F-33 A provider that timed out is no cycle that timed out."""
    assert classify(error) == "Transient"


def test_an_error_says_what_happened() -> None:
    error = Permanent("No such domain.")

    assert (str(error), error.message) == ("No such domain.", "No such domain.")


def test_a_transient_error_backs_off_and_counts() -> None:
    """F-12 F-33"""
    delays = [verdict(Transient("x"), attempts, 0) for attempts in (1, 2, 3, 4)]

    assert delays == [Verdict(timedelta(seconds=s), True, False) for s in (1, 2, 4, 8)]


def test_a_timed_out_cycle_backs_off_and_counts() -> None:
    assert verdict(TimedOut("x"), 3, 0) == Verdict(timedelta(seconds=4), True, False)


def test_jitter_reaches_the_delay() -> None:
    assert verdict(Transient("x"), 1, 1).retry_after == timedelta(seconds=1.1)


def test_what_is_not_ready_waits_ten_seconds_and_does_not_count() -> None:
    """F-35"""
    assert verdict(NotReady("x"), 1, 0.5) == Verdict(timedelta(seconds=10), False, False)


def test_a_permanent_error_parks_at_once() -> None:
    """F-34"""
    assert verdict(Permanent("x"), 1, 0) == Verdict(None, True, True)


@pytest.mark.parametrize("error", [Conflict("x"), Stopped("x")])
def test_a_conflict_and_handed_back_work_are_tried_again_at_once_and_do_not_count(
    error: EngineError,
) -> None:
    assert verdict(error, 1, 0.5) == Verdict(timedelta(0), False, False)


@pytest.mark.parametrize("error", [Blocked("x"), Fenced("x")])
def test_what_is_blocked_or_fenced_waits_for_a_change_and_does_not_count(
    error: EngineError,
) -> None:
    assert verdict(error, 1, 0.5) == Verdict(None, False, False)


@pytest.mark.parametrize("error", COUNTED)
def test_work_that_fails_ten_times_in_a_row_is_parked(error: type[BaseException]) -> None:
    assert POISON == 10
    assert not verdict(error(), POISON - 1, 0).parked
    assert verdict(error(), POISON, 0) == Verdict(None, True, True)
    assert verdict(error(), 10**9, 0).parked


@pytest.mark.parametrize("error", UNCOUNTED)
def test_what_does_not_count_never_parks(error: type[EngineError]) -> None:
    """F-35"""
    assert verdict(error("x"), 10**9, 0) == verdict(error("x"), 1, 0)
    assert not verdict(error("x"), 10**9, 0).parked


@every_row("error", [*COUNTED, *UNCOUNTED])
def test_parked_work_has_no_time_to_be_tried_again(error: type[BaseException]) -> None:
    for attempts in (0, 1, POISON):
        decided = verdict(error(), attempts, 0)
        assert not (decided.parked and decided.retry_after is not None)
