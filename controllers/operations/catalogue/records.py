"""What becomes of decisions and memories; the control plane itself keeps them and their state."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from controllers.engine.document_values import text
from controllers.operations.operation import (
    NAME,
    REMOVE,
    Context,
    Document,
    FieldChange,
    Impossible,
    Operation,
    Subject,
    parameters,
)
from controllers.operations.phrases import plain

STATE, PHASE = "status.state", "spec.status"
CLOSED = ("deprecated", "superseded")


def _archive(context: Context, given: Document) -> Sequence[FieldChange]:
    """Archive a decision, and declare it closed if it is not."""
    decision, phase = context.target, text(context.target.spec.get("status"))
    if phase == "reversed":
        raise Impossible(f"decision/{decision.name} is reversed, which closes it already.")
    changes = _moved(decision, given, "archived")
    if decision.spec.get("supersededBy") and phase != "superseded":
        return [decision.change(PHASE, "superseded"), *changes]
    return changes if phase in CLOSED else [decision.change(PHASE, "deprecated"), *changes]


def _restore(context: Context, given: Document) -> Sequence[FieldChange]:
    decision, state = context.target, given["to"]
    changes = _moved(decision, given, state)
    phase = state or "active"
    if decision.spec.get("status") == phase:
        return changes
    return [decision.change(PHASE, phase), *changes]


def _moved(target: Subject, given: Document, state: str) -> list[FieldChange]:
    """Move the state; one that is neither where it was seen nor where it goes is left alone."""
    present, seen = text(target.status.get("state")), given.get("from")
    if present == state:
        return []
    if seen is not None and present != seen:
        said = f"{target.kind.lower()}/{target.name} is {present or 'without a state'}"
        raise Impossible(f"{said}, not {seen or 'without a state'} any more.")
    return [target.change(STATE, state or REMOVE)]


def _remember(state: str = "") -> Callable[[Context, Document], Sequence[FieldChange]]:
    def changes(context: Context, given: Document) -> Sequence[FieldChange]:
        return _moved(context.target, given, state or given["to"])

    return changes


def _decision(_: Document) -> tuple[str, ...]:
    return (PHASE, STATE)


def _memory(_: Document) -> tuple[str, ...]:
    return (STATE,)


def _states(*words: str) -> Document:
    return {"enum": list(words)}


DECIDED = _states("proposed", "active", "reversed", "archived", "")
KEPT = _states("active", "archived", "superseded", "expired")
OPERATIONS = (
    Operation(
        name="archive",
        title="Archive",
        sentence="Marks a decision as archived, and declares it closed.",
        says=plain("Archive {name}"),
        kind="change",
        risk="medium",
        targets=("Decision",),
        parameters=parameters(decision=NAME, **{"from": DECIDED, "to": _states("archived")}),
        changes=_archive,
        touches=_decision,
        opposite="restore",
        seen="The decision is archived, and what is declared about it agrees.",
    ),
    Operation(
        name="restore",
        title="Restore",
        sentence="Brings an archived decision back, in its state and in what is declared.",
        says=plain("Bring {name} back as {to}"),
        kind="change",
        risk="medium",
        targets=("Decision",),
        parameters=parameters(
            ["to"],
            decision=NAME,
            **{"from": DECIDED, "to": _states("proposed", "active", "reversed", "")},
        ),
        changes=_restore,
        touches=_decision,
        opposite="archive",
        seen="The decision has the state it is brought back to.",
    ),
    Operation(
        name="archive-memory",
        title="Archive a memory",
        sentence="Marks a memory as archived: it is kept, and no longer offered.",
        says=plain("Archive {name}"),
        kind="change",
        risk="low",
        targets=("Memory",),
        parameters=parameters(memory=NAME, **{"from": KEPT, "to": _states("archived")}),
        changes=_remember("archived"),
        touches=_memory,
        opposite="restore-memory",
        seen="The memory is archived.",
    ),
    Operation(
        name="supersede-memory",
        title="Supersede a memory",
        sentence="Marks a memory as superseded by a newer one.",
        says=plain("Mark {name} as superseded"),
        kind="change",
        risk="low",
        targets=("Memory",),
        parameters=parameters(memory=NAME, **{"from": KEPT, "to": _states("superseded")}),
        changes=_remember("superseded"),
        touches=_memory,
        opposite="restore-memory",
        seen="The memory is superseded.",
    ),
    Operation(
        name="expire-memory",
        title="Expire a memory",
        sentence="Marks a memory as expired, so that whoever holds a copy forgets it.",
        says=plain("Expire {name}"),
        kind="change",
        risk="medium",
        reversible=False,
        destructive=True,
        targets=("Memory",),
        parameters=parameters(memory=NAME, **{"from": KEPT, "to": _states("expired")}),
        changes=_remember("expired"),
        touches=_memory,
        seen="The memory is expired.",
    ),
    Operation(
        name="restore-memory",
        title="Restore a memory",
        sentence="Gives a memory back the state it had.",
        says=plain("Bring {name} back as {to}"),
        kind="change",
        risk="low",
        targets=("Memory",),
        parameters=parameters(
            ["to"],
            memory=NAME,
            **{"from": KEPT, "to": _states("active", "archived", "superseded")},
        ),
        changes=_remember(),
        touches=_memory,
        seen="The memory has the state it is brought back to.",
    ),
)
