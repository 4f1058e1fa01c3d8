"""The words of expressions: tokens, and the nodes a condition is made of."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from typing import NamedTuple

DEEPEST = 16
# Where a path may start, and the kind of resource it then speaks of.
KINDS: Mapping[str, str] = {
    "domain": "Domain",
    "agent": "Agent",
    "decision": "Decision",
    "telemetry": "Telemetry",
    "governance": "Governance",
    "workflow": "Workflow",
    "securityPolicy": "SecurityPolicy",
    "budget": "Budget",
    "memory": "Memory",
}
TARGET = ("target", "self")
ORDER = ("<", "<=", ">", ">=")

_TOKEN = re.compile(
    r"""(?P<number> (?: \d+ (?: \.\d+ )? | \.\d+ ) (?: [eE][+-]?\d+ )? )
    | (?P<text> "(?: [^"\\\r\n] | \\. )*" | '(?: [^'\\\r\n] | \\. )*' )
    | (?P<name> [A-Za-z_][A-Za-z0-9_]* )
    | (?P<mark> && | \|\| | [=!<>]= | [-!<>+*/()\[\],.] )""",
    re.ASCII | re.VERBOSE,
)
_SPACE = re.compile(r"[ \t\r\n]*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class Invalid(ValueError):
    """What a hook says cannot be used; the message is one plain sentence."""


class Token(NamedTuple):
    """A piece of text; `at` counts its place from one."""

    kind: str
    text: str
    at: int


class Literal(NamedTuple):
    """A number, a text, true, false or null."""

    value: bool | float | str | None
    at: int


class Path(NamedTuple):
    """A place in a resource: where it starts, then names and places in lists."""

    root: str
    steps: tuple[str | int, ...]
    at: int

    def __str__(self) -> str:
        return self.root + "".join(map(_step, self.steps))


class Items(NamedTuple):
    """A list that is written out."""

    items: tuple[Node, ...]
    at: int


class Call(NamedTuple):
    """One of the three functions."""

    name: str
    argument: Node
    at: int


class Unary(NamedTuple):
    """`!` or `-` before something."""

    operator: str
    operand: Node
    at: int


class Binary(NamedTuple):
    """An operator between two sides."""

    operator: str
    left: Node
    right: Node
    at: int


Node = Literal | Path | Items | Call | Unary | Binary


def children(node: Node) -> tuple[Node, ...]:
    """Give what stands directly below a node."""
    match node:
        case Items(items):
            return items
        case Call(_, below) | Unary(_, below):
            return (below,)
        case Binary(_, left, right):
            return (left, right)
        case _:
            return ()


def below(node: Node, root: str, known: Container[str]) -> Node:
    """Let every path that starts at no known place start below a root."""
    match node:
        case Path(start, steps, at) if start not in known:
            return Path(root, (start, *steps), at)
        case Items(items, at):
            return Items(tuple(below(each, root, known) for each in items), at)
        case Call(name, argument, at):
            return Call(name, below(argument, root, known), at)
        case Unary(operator, operand, at):
            return Unary(operator, below(operand, root, known), at)
        case Binary(operator, left, right, at):
            return Binary(operator, below(left, root, known), below(right, root, known), at)
        case _:
            return node


def tokens(text: str, start: int) -> Iterator[Token]:
    """Cut a text into tokens, the last of which is its end."""
    position = _after_space(text, start)
    while position < len(text):
        found = _TOKEN.match(text, position)
        if not found:
            raise Invalid(_strange(text[position], position + 1))
        yield Token(found.lastgroup or "", found[0], position + 1)
        position = _after_space(text, found.end())
    yield Token("end", "", len(text) + 1)


def _after_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position


def _strange(character: str, at: int) -> str:
    if character in "'\"":
        return f"has a text without an end at character {at}"
    return f"does not expect {character!r} at character {at}"


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _NAME.fullmatch(step) else f"[{step!r}]"
