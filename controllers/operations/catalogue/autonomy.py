"""Let a controller do by itself what people have approved every time."""

from __future__ import annotations

from collections.abc import Sequence

from controllers.operations.operation import (
    NAME,
    Context,
    Document,
    FieldChange,
    Operation,
    parameters,
)

GRANT = "grant-autonomy"


def _nothing(_: Context, __: Document) -> Sequence[FieldChange]:
    """Declare nothing: what was earned is kept beside the declaration, and ends with it."""
    return []


def _say(name: str, given: Document) -> str:
    where = f" in {given['domain']}" if given.get("domain") else ""
    return f"Let {name} {given.get('operation', 'act')}{where} without asking"


OPERATIONS = (
    Operation(
        name=GRANT,
        title="Let a controller do it without asking",
        sentence="Lets a controller do an operation in a domain without asking, until a setback.",
        says=_say,
        kind="change",
        risk="medium",
        targets=("Controller",),
        parameters=parameters(
            ("operation", "domain"),
            operation={"type": "string", "maxLength": 100},
            domain=NAME,
            approvals={"type": "integer", "minimum": 0},
        ),
        redeclares=True,
        here=True,
        changes=_nothing,
        seen="The controller's next changes of that sort run without a question.",
    ),
)
