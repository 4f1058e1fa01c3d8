"""Scale the agents of a domain: declare that more of them are to run, or fewer."""

from __future__ import annotations

from collections.abc import Sequence

from controllers.engine.document_values import texts
from controllers.engine.finding_text import shown
from controllers.operations.operation import (
    NAME,
    Context,
    Document,
    FieldChange,
    Impossible,
    Operation,
    Reach,
    Subject,
    parameters,
)

PATH = "spec.state"
AT_WORK = ("running", "idle", "learning")
COUNT: Document = {"type": "number", "minimum": 0}


def _scale(context: Context, given: Document) -> Sequence[FieldChange]:
    more = round(given["to"] - given["from"])
    bound = _in_order(context)
    if more > 0:
        able, state = [each for each in bound if _may_begin(each)], "running"
    else:
        able = [each for each in reversed(bound) if each.spec.get("state") != "paused"]
        state = "paused"
    if len(able) < abs(more):
        raise Impossible(_too_few(context.target.name, len(able), state))
    return [each.change(PATH, state) for each in able[: abs(more)]]


def _in_order(context: Context) -> list[Subject]:
    """Return the agents bound to the domain, in the order it declares them."""
    known = {each.name: each for each in context.others}
    names = dict.fromkeys(texts(context.target.spec, "agents"))
    return [known[name] for name in names if name in known]


def _may_begin(agent: Subject) -> bool:
    """Tell whether to declare that an agent runs would say anything new."""
    return agent.status.get("state") not in AT_WORK and agent.spec.get("state") != "running"


def _too_few(domain: str, able: int, state: str) -> str:
    if state == "running":
        left = "the rest is declared to run already and needs a restart"
    else:
        left = "the rest is declared to rest already"
    return f"Only {able} agents of domain/{domain} could be declared {state}: {left}."


def _bound(domain: Subject, _: Document) -> Reach | None:
    names = tuple(dict.fromkeys(texts(domain.spec, "agents")))
    return Reach("Agent", names) if names else None


def _touches(_: Document) -> tuple[str, ...]:
    return (PATH, "status.activeAgents")


def _say_scale(name: str, given: Document) -> str:
    before, after = (shown(given.get(key)) for key in ("from", "to"))
    return f"Scale {name} from {before} to {after} active agents"


OPERATIONS = (
    Operation(
        name="scale-agents",
        title="Scale agents",
        sentence="Declares that more agents of a domain are to run, or fewer.",
        says=_say_scale,
        kind="change",
        risk="low",
        targets=("Domain",),
        parameters=parameters(["from", "to"], domain=NAME, **{"from": COUNT, "to": COUNT}),
        changes=_scale,
        reach=_bound,
        touches=_touches,
        opposite="scale-agents",
        seen="The domain reports as many active agents as were asked for.",
    ),
)
