"""An agent's objectives and allowances, against what it reports of itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from controllers.engine.document_values import (
    LARGEST,
    MEETS,
    Meets,
    budget_limits,
    convert,
    duration,
    full_allowance,
    items,
    number,
    period,
    section,
    text,
    used,
)
from controllers.engine.terms import Document, Reading, Related, Resource, Spend

# What is expected of an agent that declares no objectives.
STANDARD: Sequence[Document] = (
    {"name": "errorRate", "operator": "lte", "value": 0.05, "unit": "ratio"},
    {"name": "overrideRate", "operator": "lte", "value": 0.2, "unit": "ratio"},
    {"name": "avgLatency", "operator": "lte", "value": 30, "unit": "s"},
    {"name": "healthScore", "operator": "gte", "value": 0.7, "unit": "ratio"},
)
_SCORE = "healthScore"
_ALLOWANCES = {"daily": "maxDaily", "monthly": "maxMonthly"}
_TOKENS = {window: f"{window} tokens" for window in _ALLOWANCES}
# As the type itself would, without a detour.
_spend = partial(tuple.__new__, Spend)
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
        name, _, wanted, _, _, meets, most = goal = _goal(each)
        value = status.get(name)
        if meets is None or wanted is None or type(value) is not float or value > most:
            well = _meets(value, goal)
        else:
            well = meets(value, wanted)
        if well:
            met += 1
        else:
            others.append(goal)
    return met, _readings(others, agent) if others else ()


def all_met(spec: Document, status: Document) -> int | None:
    """Count the objectives if each of them is met; None when one may not be."""
    declared, goals, get = spec.get("objectives") or STANDARD, _GOALS, status.get
    for each in declared:
        wish = each["value"]
        goal = goals[each["name"], each["operator"], wish, each.get("unit"), type(wish)]
        name, _, wanted, _, _, meets, most = goal
        value = get(name)
        if meets is None or wanted is None or type(value) is not float or value > most:
            if not _meets(value, goal):
                return None
        elif not meets(value, wanted):
            return None
    return len(declared)


def _meets(reported: Any, goal: _Goal) -> bool:
    """Compare what is reported in some other way than as a plain number of the same unit."""
    meets, wanted = MEETS.get(goal.operator), goal.wanted
    measured, measured_in = _measured(reported, goal)
    if meets is None or wanted is None or measured is None:
        return False
    value = convert(measured, measured_in, goal.unit)
    return value is not None and meets(value, wanted)


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


def spent(
    name: str, spec: Document, status: Document, related: Related, now: datetime
) -> Sequence[Spend]:
    """Set what an agent used against its own limit, and against its shares of budgets."""
    consumed = section(status, "costConsumed")
    if not consumed:
        return ()
    found = _own_tokens(spec, consumed, now)
    for budget, shares in related.once(_shares):
        share = shares.get(name)
        if share is not None:
            found += _share(consumed, budget, share, now)
    return found


def _own_tokens(spec: Document, consumed: Document, now: datetime) -> list[Spend]:
    """Set the tokens of an agent against its own limit for the period it reports."""
    declared = section(spec, "tokenBudget")
    span = period(consumed.get("period"), now)
    window = span.window if span else _only_window(declared)
    # What throttling took away is not held against it a second time.
    daily = window == "daily" and "throttled" in declared
    limit = (
        full_allowance(declared) if daily else number(declared.get(_ALLOWANCES.get(window, "")))
    )
    tokens = number(consumed.get("tokens"))
    if tokens is None or limit is None:
        return []
    return [_spend((_TOKENS[window], tokens, limit, "tokens"))]


def _only_window(declared: Document) -> str:
    windows = [window for window, key in _ALLOWANCES.items() if key in declared]
    return windows[0] if len(windows) == 1 else ""


def _shares(related: Related) -> Sequence[tuple[Resource, Mapping[str, float | None]]]:
    """Return the budgets that are divided, each with the share of every agent it names."""
    divided = []
    for budget in related.get("Budget", ()):
        # Of two for the same agent the first counts.
        named = [(text(each.get("name")), each) for each in items(budget.spec, "agents")]
        shares = {name: number(each.get("allocation")) for name, each in reversed(named) if name}
        if shares:
            divided.append((budget, shares))
    return divided


def _share(consumed: Document, budget: Resource, share: float, now: datetime) -> list[Spend]:
    """Set what an agent used against its share of a budget, where both speak of one period."""
    span = period(consumed.get("period"), now)
    if span is None or span != period(budget.spec.get("period"), now):
        return []
    # Tokens before money: the prices of models differ too much to keep a share of both.
    return [
        Spend(f"share of {budget.name}", amount, share * limit.most, limit.unit)
        for limit in budget_limits(budget, now)[:1]
        if (amount := used(consumed, limit)) is not None
    ]
