"""Pause and resume an agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from controllers.operations.operation import (
    NAME,
    Context,
    Document,
    FieldChange,
    Operation,
    Subject,
    parameters,
)
from controllers.operations.phrases import plain

PATH = "spec.state"


def _declare(state: str) -> Callable[[Context, Document], Sequence[FieldChange]]:
    def changes(context: Context, _: Document) -> Sequence[FieldChange]:
        return [context.target.change(PATH, state)]

    return changes


def _declared(state: str) -> Callable[[Subject], bool]:
    return lambda agent: agent.spec.get("state") == state


def _touches(_: Document) -> tuple[str, ...]:
    return (PATH, "status.state")


OPERATIONS = (
    Operation(
        name="pause",
        title="Pause",
        sentence="Declares that an agent is to rest; one that is declared so is told to.",
        says=plain("Pause {name}"),
        kind="change",
        risk="low",
        targets=("Agent",),
        parameters=parameters(agent=NAME),
        changes=_declare("paused"),
        declared=_declared("paused"),
        touches=_touches,
        opposite="resume",
        seen="The agent reports that it is paused.",
    ),
    Operation(
        name="resume",
        title="Resume",
        sentence="Declares that an agent is to run; one that is declared so is told to.",
        says=plain("Resume {name}"),
        kind="change",
        risk="low",
        targets=("Agent",),
        parameters=parameters(agent=NAME),
        changes=_declare("running"),
        declared=_declared("running"),
        touches=_touches,
        opposite="pause",
        seen="The agent reports that it is running, idle or learning.",
    ),
)
