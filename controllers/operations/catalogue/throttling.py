"""Throttle one agent, or the agents of a budget: a share of their full daily tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from controllers.engine import reading
from controllers.engine.reading import full_allowance, items, section, text
from controllers.operations.operation import (
    NAME,
    NAMES,
    REMOVE,
    Change,
    Context,
    Document,
    Impossible,
    Operation,
    Reach,
    Subject,
    parameters,
)

LIMIT, MARK = "spec.tokenBudget.maxDaily", "spec.tokenBudget.throttled"
FACTOR: Document = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}


def throttled(agent: Subject, factor: float) -> Iterator[Change]:
    """Set the daily tokens of an agent to a share of what they are when nothing is throttled."""
    full = full_allowance(section(agent.spec, "tokenBudget"))
    if full is None:
        raise Impossible(f"agent/{agent.name} declares no daily tokens that could be lowered.")
    if factor < 1:
        yield agent.change(LIMIT, reading.throttled(full, factor))
        yield agent.change(MARK, {"full": full, "factor": factor})
    elif "throttled" in section(agent.spec, "tokenBudget"):
        yield agent.change(LIMIT, full)
        yield agent.change(MARK, REMOVE)


def _one(context: Context, given: Document) -> Sequence[Change]:
    return [*throttled(context.target, given["factor"])]


def _many(context: Context, given: Document) -> Sequence[Change]:
    budget = context.target
    shares = {text(each.get("name")) for each in items(budget.spec, "agents")}
    strangers = [
        each.name
        for each in context.others
        if each.name not in shares and each.domain != budget.domain
    ]
    if strangers:
        raise Impossible(f"{', '.join(strangers)} does not spend from budget/{budget.name}.")
    able = [
        each
        for each in context.others
        if full_allowance(section(each.spec, "tokenBudget")) is not None
    ]
    if not able:
        raise Impossible("None of these agents declares daily tokens that could be lowered.")
    return [change for each in able for change in throttled(each, given["factor"])]


def _agents(budget: Subject, given: Document) -> Reach:
    """Return whom it is about: those named, or else every agent of the budget's domain."""
    return Reach("Agent", tuple(given.get("agents", ())), budget.domain)


def _touches(_: Document) -> tuple[str, ...]:
    return (LIMIT, MARK)


OPERATIONS = (
    Operation(
        name="throttle",
        title="Throttle",
        sentence="Lowers the daily tokens of an agent to a share of its full allowance; 1 gives"
        " it back.",
        kind="change",
        risk="low",
        targets=("Agent",),
        parameters=parameters(["factor"], agent=NAME, factor=FACTOR),
        changes=_one,
        touches=_touches,
        opposite="throttle",
        seen="The agent spends no more than the lowered allowance.",
    ),
    Operation(
        name="throttle-agents",
        title="Throttle agents",
        sentence="Lowers the daily tokens of the agents of a budget, of those that declare any,"
        " to a share of their full allowance; 1 gives it back.",
        kind="change",
        risk="low",
        targets=("Budget",),
        parameters=parameters(["factor"], budget=NAME, domain=NAME, agents=NAMES, factor=FACTOR),
        changes=_many,
        reach=_agents,
        touches=_touches,
        opposite="throttle-agents",
        seen="The budget is projected to end its period within its limits.",
    ),
)
