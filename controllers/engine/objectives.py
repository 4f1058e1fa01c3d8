"""An agent's objectives: those it declares, or the standard ones, against what it reports."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from controllers.engine.reading import convert, duration, items, number, text
from controllers.engine.types import Document, Reading, Resource

# What is expected of an agent that declares no objectives.
STANDARD: Sequence[Document] = (
    {"name": "errorRate", "operator": "lte", "value": 0.05, "unit": "ratio"},
    {"name": "overrideRate", "operator": "lte", "value": 0.2, "unit": "ratio"},
    {"name": "avgLatency", "operator": "lte", "value": 30, "unit": "s"},
    {"name": "healthScore", "operator": "gte", "value": 0.7, "unit": "ratio"},
)
_OBJECTIVE = ("name", "operator", "value", "unit")
_RATIOS = ("errorRate", "overrideRate")


class _Goal(NamedTuple):
    name: str
    operator: str
    wanted: float | None
    unit: str


def readings(agent: Resource) -> Sequence[Reading]:
    """Read what an agent reports against each of its objectives."""
    at = agent.reported_at.isoformat() if agent.reported_at else ""
    objectives = items(agent.spec, "objectives") or STANDARD
    by = agent.ref
    return [_reading(_goal(each), agent.status, at, by) for each in objectives]


def _goal(objective: Document) -> _Goal:
    """Read an objective; most agents share theirs with others."""
    given = map(objective.get, _OBJECTIVE)
    try:
        return _goal_of(*given)
    except TypeError:  # a list or an object in the place of a figure or a text
        return _goal_of.__wrapped__(*map(objective.get, _OBJECTIVE))


@lru_cache(maxsize=4096, typed=True)
def _goal_of(name: Any, operator: Any, value: Any, unit: Any) -> _Goal:
    if name == "healthScore":
        return _Goal(name, text(operator), _score(number(value)), "ratio")
    return _Goal(text(name), text(operator), number(value), text(unit))


def _reading(goal: _Goal, status: Document, at: str, by: str) -> Reading:
    name, operator, wanted, unit = goal
    measured, measured_in = _measured(status, name)
    if measured is None:
        return Reading(name, operator, wanted, None, unit, note="Nobody has reported it.")
    value = convert(measured, measured_in, unit)
    note = "" if value is not None else f"Reported in {measured_in}, wanted in {unit}."
    return Reading(name, operator, wanted, value, unit or measured_in, at, by, note)


def _measured(status: Document, name: str) -> tuple[float | None, str]:
    """Return a figure an agent reports, and its unit."""
    value = status.get(name)
    if name == "healthScore":
        return _score(number(value)), "ratio"
    if isinstance(value, str) and (time := duration(value)) is not None:
        return time.total_seconds(), "s"
    return number(value), "ratio" if name in _RATIOS else ""


def _score(value: float | None) -> float | None:
    """Take a score beyond 1 as one of 0 to 100."""
    return value / 100 if value is not None and value > 1 else value
