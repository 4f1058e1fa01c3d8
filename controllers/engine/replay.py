"""Replay: what another threshold, weight or aggregation would have made of what was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from controllers.engine import diff
from controllers.engine.terms import Controller, Dimension


class Point(NamedTuple):
    """What was once found about a resource: when, how far off, and of what that is made."""

    at: datetime
    score: float | None
    drifted: bool
    # The score of each dimension; nothing where nothing was looked at.
    figures: Mapping[str, float | None]


class Replayed(NamedTuple):
    """The same point under both rules; without a score nothing can be said."""

    at: datetime
    before: bool
    score: float | None
    after: bool


class Episode(NamedTuple):
    """A time in which a resource drifts under the new rule, and whether it did in truth."""

    began: datetime
    # The worst of it.
    score: float
    known: bool


def rescored(controller: Controller, point: Point) -> Replayed:
    """Weigh what was found anew; what nobody knew then stays unknown."""
    if point.score is None:
        return Replayed(point.at, point.drifted, None, point.drifted)
    dimensions = [
        Dimension(name, score, of=score is not None) for name, score in point.figures.items()
    ]
    score, drifted = diff.reweighed(controller, dimensions)
    return Replayed(point.at, point.drifted, score, drifted)


def replayed(controller: Controller, points: Iterable[Point]) -> list[Replayed]:
    """Weigh the points of one resource anew, in their order."""
    return [rescored(controller, each) for each in points]


def episodes(points: Sequence[Replayed]) -> list[Episode]:
    """Return the times in which a resource drifts under the new rule, one after the other."""
    found: list[Episode] = []
    drifting = False
    for each in points:
        if each.after and not drifting:
            found.append(Episode(each.at, each.score or 0.0, each.before))
        elif each.after:
            last = found[-1]
            worst = max(last.score, each.score or 0.0)
            found[-1] = Episode(last.began, worst, last.known or each.before)
        drifting = each.after
    return found


def at(points: Sequence[Replayed], moment: datetime) -> Replayed | None:
    """Return what was known at a moment: the last point before it, or at it."""
    return next((each for each in reversed(points) if each.at <= moment), None)
