"""Change what is declared: any spec by a merge patch, and how far an agent may act alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from controllers.engine.finding_text import listed, shown
from controllers.operations.operation import (
    NAME,
    REASON,
    REMOVE,
    Context,
    Document,
    FieldChange,
    Operation,
    Subject,
    parameters,
)
from controllers.operations.phrases import plain
from resources.documents import kinds
from resources.documents.differences import merge, same

TYPE = "spec.type"


def _modify(context: Context, given: Document) -> Sequence[FieldChange]:
    return [*_patched(context.target, context.target.spec, given["patch"], "spec")]


def _patched(target: Subject, present: Any, patch: Document, at: str) -> Iterator[FieldChange]:
    """Yield the changes of a merge patch, each as narrow as it can be undone."""
    for key, value in patch.items():
        path, old = f"{at}.{key}", present.get(key)
        if value is None:
            if key in present:
                yield target.change(path, REMOVE)
        elif isinstance(value, dict) and isinstance(old, dict) and _spelled(value):
            yield from _patched(target, old, value, path)
        elif key not in present or not same(old, merge(old, value)):
            yield target.change(path, merge(old, value))


def _spelled(patch: Document) -> bool:
    """Tell whether its names can be parts of a path; where one holds a dot, the whole is one."""
    return all(_is_step(key) for key in patch)


def _is_step(key: str) -> bool:
    return key != "" and "." not in key


def _leaves(patch: Document, at: str = "spec") -> Iterator[str]:
    for key, value in patch.items():
        if isinstance(value, dict) and value and _spelled(value):
            yield from _leaves(value, f"{at}.{key}")
        else:
            yield f"{at}.{key}"


def _touched(given: Document) -> tuple[str, ...]:
    return tuple(_leaves(given["patch"]))


def _take_over(context: Context, _: Document) -> Sequence[FieldChange]:
    return [context.target.change(TYPE, "supervised")]


def _release(context: Context, given: Document) -> Sequence[FieldChange]:
    return [context.target.change(TYPE, given["type"])]


def _type(_: Document) -> tuple[str, ...]:
    return (TYPE,)


def _say_change(name: str, given: Document) -> str:
    leaves = list(_wanted(given.get("patch") or {}))
    if len(leaves) != 1:
        return f"Change {listed([path for path, _ in leaves])} of {name}"
    path, value = leaves[0]
    if value is None:
        return f"Remove {path} from {name}"
    if isinstance(value, (dict, list)):
        return f"Change {path} of {name}"
    return f"Set {path} of {name} to {shown(value)}"


def _wanted(patch: Document, at: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in patch.items():
        inner = isinstance(value, dict) and value
        found += _wanted(value, f"{at}{key}.") if inner else [(f"{at}{key}", value)]
    return found


PATCH: Document = {
    "type": "object",
    "minProperties": 1,
    "propertyNames": {"pattern": "^[^.]+$"},
    "description": "A JSON merge patch of the spec: null takes a field away.",
}
OPERATIONS = (
    Operation(
        name="modify-spec",
        title="Modify the spec",
        sentence="Changes fields of what is declared, by a merge patch.",
        says=_say_change,
        kind="change",
        risk="medium",
        redeclares=True,
        targets=tuple(kind.name for kind in kinds.ALL),
        parameters=parameters(["patch"], patch=PATCH, reason=REASON),
        changes=_modify,
        touches=_touched,
        opposite="modify-spec",
        seen="The next revision declares it, and what is observed follows.",
    ),
    Operation(
        name="take-over",
        title="Take over",
        sentence="Puts an agent under supervision: from then on a person approves what it wants.",
        says=plain("Put {name} under supervision"),
        kind="change",
        risk="medium",
        redeclares=True,
        targets=("Agent",),
        parameters=parameters(agent=NAME, reason=REASON),
        changes=_take_over,
        touches=_type,
        opposite="release",
        seen="What the agent proposes waits for a person.",
    ),
    Operation(
        name="release",
        title="Release",
        sentence="Lets an agent act by itself again, as far as its new type says.",
        says=plain("Let {name} act as {to} again"),
        kind="change",
        risk="high",
        redeclares=True,
        targets=("Agent",),
        parameters=parameters(
            ["type"],
            agent=NAME,
            type={"enum": ["autonomous", "advisory", "reactive"]},
            reason=REASON,
        ),
        changes=_release,
        touches=_type,
        opposite="take-over",
        seen="The agent acts as its type allows.",
    ),
)
