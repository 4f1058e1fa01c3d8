"""Restart an agent, or let it report anew."""

from __future__ import annotations

from controllers.operations.operation import NAME, Document, Operation, parameters
from controllers.operations.phrases import plain


def _touches(_: Document) -> tuple[str, ...]:
    return ("status.state",)


OPERATIONS = (
    Operation(
        name="restart",
        title="Restart",
        sentence="Lets an agent stop and begin again with what is declared.",
        says=plain("Restart {name}"),
        kind="change",
        risk="low",
        targets=("Agent",),
        parameters=parameters(agent=NAME),
        executor="agent",
        touches=_touches,
        seen="The agent reports a good state and the model that is declared.",
    ),
    Operation(
        name="refresh-status",
        title="Refresh the status",
        sentence="Lets the one who answers for a resource look again and report.",
        says=plain("Ask {name} to report again"),
        kind="change",
        risk="low",
        targets=("Agent", "Workflow"),
        parameters=parameters(agent=NAME, workflow=NAME),
        executor="agent",
        seen="A report arrives that is younger than the request.",
    ),
)
