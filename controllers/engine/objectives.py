"""An agent's objectives: those it declares, or the standard ones, against what it reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from controllers.engine.reading import (
    LARGEST,
    MEETS,
    Meets,
    convert,
    duration,
    items,
    number,
    text,
)
from controllers.engine.types import Document, Reading, Resource

# What is expected of an agent that declares no objectives.
STANDARD: Sequence[Document] = (
    {"name": "errorRate", "operator": "lte", "value": 0.05, "unit": "ratio"},
    {"name": "overrideRate", "operator": "lte", "value": 0.2, "unit": "ratio"},
    {"name": "avgLatency", "operator": "lte", "value": 30, "unit": "s"},
    {"name": "healthScore", "operator": "gte", "value": 0.7, "unit": "ratio"},
)
_SCORE = "healthScore"
_RATIOS = ("errorRate", "overrideRate", _SCORE)


class _Goal(NamedTuple):
    name: str
    operator: str
    wanted: float | None
    unit: str
    # The unit of a plain number that is reported.
    reported_in: str
    # How a plain number is compared as it is, and the largest one for which that holds.
    meets: Meets | None
    most: float


class _Goals(dict[tuple[Any, ...], _Goal]):
    """Objectives as they were read before: many agents share theirs with others."""

    MOST = 4_096

    def __missing__(self, declared: tuple[Any, ...]) -> _Goal:
        if len(self) >= self.MOST:
            self.clear()
        self[declared] = _read(*declared[:-1])
        return self[declared]


_GOALS = _Goals()


def readings(agent: Resource) -> Sequence[Reading]:
    """Read what an agent reports against each of its objectives."""
    return _readings(map(_goal, _objectives(agent)), agent)


def unmet(agent: Resource) -> tuple[int, Sequence[Reading]]:
    """Count the objectives an agent meets, and read what it reports against the others."""
    status, met, others = agent.status, 0, []
    for each in _objectives(agent):
        name, comparison, wanted, unit, _, meets, most = goal = _goal(each)
        value = status.get(name)
        if meets is None or type(value) is not float or value > most:
            meets = MEETS.get(comparison)
            measured, measured_in = _measured(value, goal)
            value = None if measured is None else convert(measured, measured_in, unit)
        if value is None or wanted is None or meets is None or not meets(value, wanted):
            others.append(goal)
        else:
            met += 1
    return met, _readings(others, agent) if others else ()


def _objectives(agent: Resource) -> Sequence[Document]:
    return items(agent.spec, "objectives") or STANDARD


def _goal(objective: Document) -> _Goal:
    get = objective.get
    name, operator, value, unit = get("name"), get("operator"), get("value"), get("unit")
    try:
        # True is 1 and would be found in its place.
        return _GOALS[name, operator, value, unit, type(value)]
    except TypeError:  # a list or an object in the place of a figure or a text
        return _read(name, operator, value, unit)


def _read(name: Any, operator: Any, value: Any, unit: Any) -> _Goal:
    comparison, wanted, wanted_in = text(operator), number(value), text(unit)
    meets, reported_in, most = MEETS.get(comparison), "", LARGEST
    if name in _RATIOS:
        reported_in = "ratio"
    if name == _SCORE:
        wanted, wanted_in, most = _score(wanted), reported_in, 1.0
    plain = wanted_in in ("", reported_in) and wanted is not None and wanted > -LARGEST
    found = (text(name), comparison, wanted, wanted_in, reported_in)
    return _Goal(*found, meets if plain else None, most)


def _readings(goals: Iterable[_Goal], agent: Resource) -> Sequence[Reading]:
    reported_at = agent.reported_at
    at = reported_at.isoformat() if reported_at else ""
    return [_reading(each, agent.status, at, agent.ref) for each in goals]


def _reading(goal: _Goal, status: Document, at: str, by: str) -> Reading:
    name, operator, wanted, unit = goal[:4]
    measured, measured_in = _measured(status.get(name), goal)
    if measured is None:
        return Reading(name, operator, wanted, None, unit, note="Nobody has reported it.")
    value = convert(measured, measured_in, unit)
    note = "" if value is not None else f"Reported in {measured_in}, wanted in {unit}."
    return Reading(name, operator, wanted, value, unit or measured_in, at, by, note)


def _measured(value: Any, goal: _Goal) -> tuple[float | None, str]:
    """Return the figure an agent reports for a goal, and its unit."""
    if goal.name == _SCORE:
        return _score(number(value)), goal.reported_in
    if type(value) is str and (time := duration(value)) is not None:
        return time.total_seconds(), "s"
    return number(value), goal.reported_in


def _score(value: float | None) -> float | None:
    """Take a score beyond 1 as one of 0 to 100."""
    return value / 100 if value is not None and value > 1 else value
