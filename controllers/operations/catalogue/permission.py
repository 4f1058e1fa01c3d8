"""Let an agent do one thing, once: people answer, and the agent gets a permit."""

from __future__ import annotations

from collections.abc import Sequence

from controllers.engine.document_values import figure, number
from controllers.operations.operation import (
    NAME,
    Context,
    Document,
    FieldChange,
    Operation,
    parameters,
)
from resources.documents import kinds

PERMIT = "permit-operation"


def _nothing(_: Context, __: Document) -> Sequence[FieldChange]:
    """Declare nothing: whoever asked finds the answer and gets a permit."""
    return []


def _touches(given: Document) -> tuple[str, ...]:
    """Say what of the target it concerns: its data, or what it does."""
    return (f"data.{given.get('on', '')}",)


def _say(_: str, given: Document) -> str:
    target = str(given.get("on", "")).partition("/")[2]
    tokens = number(given.get("tokens"))
    cost = f", for {figure(tokens)} tokens" if tokens else ""
    return f"Let {given.get('by', 'an agent')} {given.get('operation', 'act')} {target} once{cost}"


AMOUNT: Document = {"type": "number", "minimum": 0}
OPERATIONS = (
    Operation(
        name=PERMIT,
        title="Let an agent do something once",
        sentence="Gives an agent a permit for one operation that it asked about.",
        says=_say,
        kind="change",
        risk="medium",
        targets=tuple(kind.name for kind in kinds.ALL),
        parameters=parameters(
            ("by", "operation", "on", "request"),
            by=NAME,
            operation={"type": "string", "maxLength": 100},
            on={"type": "string", "maxLength": 300},
            tokens={"type": "integer", "minimum": 0},
            cost=AMOUNT,
            currency={"type": "string", "maxLength": 8},
            request={"type": "string", "maxLength": 64},
            time={"type": "integer", "minimum": 1},
        ),
        changes=_nothing,
        touches=_touches,
        here=True,
        seen="The agent redeems its permit.",
    ),
)
