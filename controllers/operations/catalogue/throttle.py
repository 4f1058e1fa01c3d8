"""Throttle one agent, or the agents of a budget: a share of their full daily tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from controllers.engine import document_values
from controllers.engine.document_values import full_allowance, items, section, text
from controllers.engine.finding_text import listed
from controllers.operations.operation import (
    NAME,
    NAMES,
    REMOVE,
    Context,
    Document,
    FieldChange,
    Impossible,
    Operation,
    Reach,
    Subject,
    parameters,
)
from controllers.operations.phrases import names, percent

LIMIT, MARK = "spec.tokenBudget.maxDaily", "spec.tokenBudget.throttled"
FACTOR: Document = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}


def throttled(agent: Subject, factor: float) -> Iterator[FieldChange]:
    """Set the daily tokens of an agent to a share of what they are when nothing is throttled."""
    full = full_allowance(section(agent.spec, "tokenBudget"))
    if full is None:
        raise Impossible(f"agent/{agent.name} declares no daily tokens that could be lowered.")
    if factor < 1:
        yield agent.change(LIMIT, document_values.throttled(full, factor))
        yield agent.change(MARK, {"full": full, "factor": factor})
    elif "throttled" in section(agent.spec, "tokenBudget"):
        yield agent.change(LIMIT, full)
        yield agent.change(MARK, REMOVE)


def _one(context: Context, given: Document) -> Sequence[FieldChange]:
    return [*throttled(context.target, given["factor"])]


def _many(context: Context, given: Document) -> Sequence[FieldChange]:
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


def _say_one(name: str, given: Document) -> str:
    if given.get("factor") == 1:
        return f"Give {name} its full daily tokens back"
    return f"Throttle {name} to {percent(given.get('factor'))} of its daily tokens"


def _say_many(name: str, given: Document) -> str:
    agents = names(given, "agents")
    whom = listed(agents) or f"the agents of {given.get('domain') or name}"
    own = "its" if len(agents) == 1 else "their"
    if given.get("factor") == 1:
        return f"Give {whom} {own} full daily tokens back"
    share = percent(given.get("factor"))
    return f"Throttle {whom} to {share} of {own} daily tokens, for {name}"


OPERATIONS = (
    Operation(
        name="throttle",
        title="Throttle",
        sentence="Lowers the daily tokens of an agent to a share of its full allowance; 1 gives"
        " it back.",
        says=_say_one,
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
        says=_say_many,
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
