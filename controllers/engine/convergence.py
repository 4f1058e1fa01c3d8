"""The story of one drift of one resource, so that no controller goes on for ever.

Drifting, converging once an action was performed, settling once the drift is gone, converged once
it stayed away. Too many actions, errors or hours: exhausted. Actions that make it worse, whose
effect does not last, or that another controller undoes: thrashing. Both are parked until a new
generation, or until a person asks for another try.

In an episode `since` is the first action, from which the deadline counts; `settled_at` is when the
drift went away; while the state is unknown, `reason` is the state it goes back to. A converged
episode keeps only what it takes to recognise a relapse. What was done at one look, `acted` and
`failed`, comes back with the observation of the next and is then counted, not kept.
"""

from __future__ import annotations

from datetime import datetime
from math import copysign
from typing import Literal, NamedTuple

from controllers.engine.terms import PLACES, Episode, Limits

# The smallest useful step of a fraction: a part of the larger number, or what a score can tell.
PART = 0.01
GRAIN = 10**-PLACES


class Observation(NamedTuple):
    """What one look at a resource adds; `acted` and `failed` speak of the cycle before it."""

    drifted: bool | None
    score: float | None = None
    # The digest of a changing action that was performed, or nothing.
    acted: str = ""
    failed: bool = False
    # Whether anything but our own action changed since the last look.
    outside: bool = False
    generation_changed: bool = False
    # Whether the next action waits for a person; that stops the clock of the deadline.
    waiting: bool = False
    # Another controller that changed the resource since the last look.
    rival: str = ""


def advance(episode: Episode, seen: Observation, limits: Limits, now: datetime) -> Episode:
    """Carry an episode on by one look."""
    if episode.parked:
        if not seen.generation_changed:
            return episode
        episode = Episode("drifting")
    was = episode.reason if episode.state == "unknown" else episode.state
    if seen.drifted is False:
        return _settled(episode, was, seen, limits, now)
    before = episode
    if seen.drifted and was in ("settling", "converged"):
        before = _returned(episode, was, limits, now)
    after = _counted(before, was, seen, now)
    end = _end(episode, after, seen, limits, now)
    return after._replace(state=end[0], reason=end[1], rival=seen.rival) if end else after


def bounded(current: float, desired: float, strategy: str) -> float:
    """Return the next value on the way: all of the gap if immediate, else about a quarter."""
    if strategy == "immediate" or current == desired:
        return desired
    if isinstance(desired, int) and (isinstance(current, int) or current.is_integer()):
        return _whole_step(int(current), desired)
    try:
        here, there = float(current), float(desired)
    except OverflowError:
        return desired
    # Quarters before the difference: the gap itself may be too large for a float.
    quarter = abs(there / 4 - here / 4)
    step = max(quarter, PART * max(abs(here), abs(there)), GRAIN)
    return desired if quarter * 4 <= step else here + copysign(step, there - here)


def _whole_step(current: int, desired: int) -> int:
    gap = desired - current
    step = max(abs(gap) // 4, 1)
    return current + step if gap > 0 else current - step


def _settled(
    episode: Episode, was: str, seen: Observation, limits: Limits, now: datetime
) -> Episode:
    if was == "converged":
        return episode if episode.state == was else episode._replace(state="converged", reason="")
    # What goes away while no action is under way goes away by itself.
    tried = seen.acted or ("" if was == "drifting" else episode.tried)
    relapses = episode.relapses if tried == episode.tried else 0
    settled_at = episode.settled_at or now
    if now - settled_at < limits.settling:
        return Episode(
            state="settling",
            since=_clock(episode, seen, now),
            iterations=episode.iterations,
            relapses=relapses,
            settled_at=settled_at,
            tried=tried,
        )
    return Episode(relapses=relapses, settled_at=settled_at, tried=tried) if tried else Episode()


def _returned(episode: Episode, was: str, limits: Limits, now: datetime) -> Episode:
    """Reopen an episode whose drift is back; it relapsed if an action had made it go, lately."""
    if was == "settling":
        relapsed = bool(episode.tried)
        return episode._replace(
            iterations=episode.iterations + relapsed,
            relapses=episode.relapses + relapsed,
            settled_at=None,
        )
    if episode.settled_at and now - episode.settled_at <= limits.deadline:
        return Episode(relapses=episode.relapses + 1, tried=episode.tried)
    return Episode()


def _counted(before: Episode, was: str, seen: Observation, now: datetime) -> Episode:
    state, reason = _named(was, seen)
    best, regressions = _progress(before, seen)
    performed = bool(seen.acted)
    another = performed and seen.acted != before.tried
    # A return of what the same action had cured is a relapse already.
    again = was in ("settling", "converged") and not another
    undone = performed and seen.rival != "" and not again
    return Episode(
        state=state,
        since=_clock(before, seen, now),
        iterations=before.iterations + performed,
        regressions=regressions,
        relapses=(0 if another else before.relapses) + undone,
        errors=before.errors + 1 if seen.failed else 0 if performed else before.errors,
        best=best,
        settled_at=None if performed else before.settled_at,
        reason=reason,
        tried=seen.acted or before.tried,
    )


def _named(
    was: str, seen: Observation
) -> tuple[Literal["unknown", "converging", "drifting"], str]:
    if seen.drifted is None:
        return "unknown", "converging" if seen.acted else was
    if seen.acted or (was == "converging" and not seen.waiting):
        return "converging", ""
    return "drifting", ""


def _clock(before: Episode, seen: Observation, now: datetime) -> datetime | None:
    if seen.waiting:
        return None
    return before.since or (now if seen.acted or seen.failed else None)


def _progress(before: Episode, seen: Observation) -> tuple[float | None, int]:
    """Return the score to beat, and how often in a row an action made it worse than that."""
    best, score = before.best, seen.score
    if score is None:
        return best, before.regressions
    begun = seen.acted or before.iterations
    if best is None or not begun or seen.outside or seen.generation_changed:
        return score, before.regressions
    if score < best:
        return score, 0
    return best, before.regressions + bool(seen.acted and score > best)


def _end(
    before: Episode, after: Episode, seen: Observation, limits: Limits, now: datetime
) -> tuple[Literal["thrashing", "exhausted"], str] | None:
    """Say how an episode ends; only what grew by this look can end it, never the waiting."""
    if seen.failed and after.errors >= limits.errors:
        return "exhausted", "ErrorLimit"
    if before.relapses < after.relapses >= limits.regressions:
        return "thrashing", "Relapsed"
    if before.regressions < after.regressions >= limits.regressions:
        return "thrashing", "Regressed"
    if before.iterations < after.iterations >= limits.iterations:
        return "exhausted", "MaxIterations"
    if seen.drifted and after.since and now - after.since >= limits.deadline:
        return "exhausted", "Deadline"
    return None
