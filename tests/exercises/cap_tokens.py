"""Cap the daily tokens of an agent at a number."""

from __future__ import annotations

from collections.abc import Sequence

from controllers.engine.document_values import figure
from controllers.operations.operation import (
    NAME,
    Context,
    Document,
    FieldChange,
    Operation,
    parameters,
)

LIMIT = "spec.tokenBudget.maxDaily"


def _cap(context: Context, given: Document) -> Sequence[FieldChange]:
    return [context.target.change(LIMIT, given["tokens"])]


def _touches(_: Document) -> tuple[str, ...]:
    return (LIMIT,)


def _say(name: str, given: Document) -> str:
    return f"Cap {name} at {figure(given.get('tokens', 0))} tokens a day"


OPERATIONS = (
    Operation(
        name="cap-tokens",
        title="Cap the tokens of",
        sentence="Sets the daily tokens of an agent to a number.",
        says=_say,
        kind="change",
        risk="low",
        targets=("Agent",),
        parameters=parameters(["tokens"], agent=NAME, tokens={"type": "integer", "minimum": 1}),
        changes=_cap,
        touches=_touches,
        seen="The agent spends no more than that.",
    ),
)
