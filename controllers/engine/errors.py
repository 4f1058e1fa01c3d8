"""What can go wrong in a cycle, and what becomes of the work it went wrong with."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import ClassVar, Literal, NamedTuple

from controllers.engine.due_times import NOT_READY, backoff

ErrorClass = Literal[
    "Transient", "NotReady", "Permanent", "TimedOut", "Blocked", "Conflict", "Fenced", "Stopped"
]

POISON = 10


class EngineError(Exception):
    """Something went wrong; the class says what becomes of it, the message says it to people."""

    named: ClassVar[ErrorClass] = "Transient"

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message


class Transient(EngineError):
    """It may well work the next time."""


class NotReady(EngineError):
    """It is not wrong, only too early."""

    named = "NotReady"


class Permanent(EngineError):
    """It cannot work until what was declared changes."""

    named = "Permanent"


class TimedOut(EngineError):
    """The cycle ran out of its own time."""

    named = "TimedOut"


class Blocked(EngineError):
    """Somebody or some rule does not allow it now."""

    named = "Blocked"


class Conflict(EngineError):
    """Somebody else wrote first; another look decides."""

    named = "Conflict"


class Fenced(EngineError):
    """The lease was lost; another worker has the work."""

    named = "Fenced"


class Stopped(EngineError):
    """The process was told to stop; the work is handed back."""

    named = "Stopped"


class Verdict(NamedTuple):
    """What becomes of failed work: when it is tried again, if at all, and whether it counts.

    Without a time it waits for something to change; parked work waits for a new generation or a
    person.
    """

    retry_after: timedelta | None
    counts: bool
    parked: bool


_PARKED = Verdict(None, counts=True, parked=True)
_LEFT_ALONE = Verdict(None, counts=False, parked=False)
_AT_ONCE = Verdict(timedelta(0), counts=False, parked=False)
_FIXED: Mapping[ErrorClass, Verdict] = {
    "NotReady": Verdict(NOT_READY, counts=False, parked=False),
    "Permanent": _PARKED,
    "Blocked": _LEFT_ALONE,
    "Conflict": _AT_ONCE,
    "Fenced": _LEFT_ALONE,
    "Stopped": _AT_ONCE,
}


def classify(error: BaseException) -> ErrorClass:
    """Name the class of an error; what nobody foresaw is transient."""
    return error.named if isinstance(error, EngineError) else "Transient"


def verdict(error: BaseException, attempts: int, jitter: float) -> Verdict:
    """Decide about work that failed `attempts` times in a row, this time included."""
    fixed = _FIXED.get(classify(error))
    if fixed is not None:
        return fixed
    if attempts >= POISON:
        return _PARKED
    return Verdict(backoff(attempts, jitter), counts=True, parked=False)
