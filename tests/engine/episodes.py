"""Stories of drift to be told in tests."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from controllers.engine.convergence import Observation, advance
from controllers.engine.terms import Episode, Limits

NOON = datetime(2026, 5, 17, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
USUAL = Limits()
SETTLING = Limits(settling=3 * MINUTE)

GONE = Observation(False, 0.05)
DRIFT = Observation(True, 0.5)
ACTED = Observation(True, 0.5, acted="scale")
CURED = Observation(False, 0.05, acted="scale")
FAILED = Observation(True, 0.5, failed=True)
WAITING = Observation(True, 0.5, waiting=True)
UNKNOWN = Observation(None)


def story(
    looks: Iterable[Observation], limits: Limits = USUAL, episode: Episode | None = None
) -> list[Episode]:
    """Look once a minute; return every episode on the way."""
    told = [episode or Episode()]
    for minute, seen in enumerate(looks):
        told.append(advance(told[-1], seen, limits, NOON + minute * MINUTE))
    return told[1:]


def states(told: list[Episode]) -> list[str]:
    return [each.state for each in told]


def scores(*values: float, acted: str = "scale", outside: bool = False) -> list[Observation]:
    first, *others = values
    told = [Observation(True, value, acted=acted, outside=outside) for value in others]
    return [Observation(True, first), *told]
