"""CEL programs: a condition that was checked, compiled once and asked about many resources.

The text that CEL compiles is written anew from our own tree, with a variable in the place of each
path. So CEL sees nothing that our checker did not see, and is given nothing but what it asks for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from cel_expr_python import cel

from controllers.engine.document_values import moment
from controllers.engine.terms import Document
from resources.documents.expressions.checker import LEVELS
from resources.documents.expressions.syntax import (
    Binary,
    Call,
    Invalid,
    Items,
    Literal,
    Node,
    Path,
    Unary,
)

Ask = Callable[[Document], tuple[bool | None, Document]]
Steps = tuple[str | int, ...]
# Gives what CEL shall see of a path and what people shall see of it; raises if nothing is there.
Reader = Callable[[Document, str, Steps], tuple[Any, Any]]

_ENVIRONMENT = cel.NewEnv()
_NOW = "now"
_LEVELS = json.dumps(LEVELS)
_UNREADABLE = (LookupError, TypeError, ValueError, OverflowError)


class Program(NamedTuple):
    """A compiled condition and where its paths start."""

    check: Ask
    roots: frozenset[str]


class _Key(NamedTuple):
    root: str
    steps: Steps
    read: Reader


class _Variable(NamedTuple):
    name: str
    shown: str
    key: _Key


def compile_condition(condition: Node) -> Program:
    """Compile a condition; its check answers true, false or None, with the values it saw."""
    names: dict[_Key, str] = {}
    text = _written(condition, names)
    try:
        program = _ENVIRONMENT.compile(text, disable_check=True)
    except RuntimeError as error:
        raise Invalid("cannot be compiled") from error
    variables = tuple(
        _Variable(name, str(Path(key.root, key.steps, 0)), key) for key, name in names.items()
    )
    return Program(_asking(program, variables), frozenset(key.root for key in names))


def _asking(program: cel.Expression, variables: tuple[_Variable, ...]) -> Ask:
    def check(context: Document) -> tuple[bool | None, Document]:
        given: dict[str, Any] = {}
        observed: dict[str, Any] = {}
        for name, shown, (root, steps, read) in variables:
            try:
                given[name], observed[shown] = read(context, root, steps)
            except _UNREADABLE:
                # A variable without a value is an error to CEL, which `&&` and `||` may absorb.
                observed.setdefault(shown, None)
        try:
            answer = program.eval(data=given).value()
        except Exception:  # whatever a library does with a strange value, nothing is known then
            answer = None
        return (answer if isinstance(answer, bool) else None), observed

    return check


def _written(node: Node, names: dict[_Key, str]) -> str:
    """Write a node as CEL, and name the variables it needs."""
    match node:
        case Literal(value):
            return json.dumps(value, ensure_ascii=False)
        case Path(root, steps):
            return _named(names, root, steps, _moment if root == _NOW else _value)
        case Items(items):
            return f"[{', '.join([_written(item, names) for item in items])}]"
        case Call():
            return _written_call(node, names)
        case Unary(operator, operand):
            return f"{operator}{_written(operand, names)}"
        case Binary(operator, left, right):
            first = _written_side(left, right, names)
            return f"({first} {operator} {_written_side(right, left, names)})"


def _written_side(side: Node, other: Node, names: dict[_Key, str]) -> str:
    """What is compared with `now` is a time, too."""
    if isinstance(side, Path) and isinstance(other, Path) and other.root == _NOW:
        return _named(names, side.root, side.steps, _moment)
    return _written(side, names)


def _written_call(call: Call, names: dict[_Key, str]) -> str:
    name, argument, _ = call
    if name == "has" and isinstance(argument, Path):
        return _named(names, argument.root, argument.steps, _presence)
    written = _written(argument, names)
    return f"{_LEVELS}[{written}]" if name == "level" else f"double(size({written}))"


def _named(names: dict[_Key, str], root: str, steps: Steps, read: Reader) -> str:
    return names.setdefault(_Key(root, steps, read), f"v{len(names)}")


def _found(context: Document, root: str, steps: Steps) -> Any:
    found = context[root]
    for step in steps:
        if isinstance(step, int) and not isinstance(found, list):
            raise LookupError(step)
        found = found[step]
    return found


def _value(context: Document, root: str, steps: Steps) -> tuple[Any, Any]:
    found = _found(context, root, steps)
    if isinstance(found, int) and not isinstance(found, bool):
        # CEL never mixes whole and decimal numbers; all of ours are decimal, as in JSON.
        return float(found), found
    if isinstance(found, str) and "\0" in found:
        raise ValueError("The library would cut this text at the NUL.")
    return found, found


def _presence(context: Document, root: str, steps: Steps) -> tuple[Any, Any]:
    holder = _found(context, root, steps[:-1])
    if not isinstance(holder, Mapping):
        raise LookupError(root)
    return steps[-1] in holder, holder.get(steps[-1])


def _moment(context: Document, root: str, steps: Steps) -> tuple[Any, Any]:
    found = _found(context, root, steps)
    read = moment(found)
    return (read.timestamp() if read else None), found
