"""What a hook says: its verb, and the small, bounded part of CEL that its checks may use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from resources.documents.expressions.checker import EVENT, check, measure, warnings
from resources.documents.expressions.parser import Parser
from resources.documents.expressions.syntax import KINDS, TARGET, Invalid, Node, below

__all__ = ["checker", "syntax"]

LONGEST = 1_000

_VERB = re.compile(r"\s*(\S*)\s*")
_REFRESH = re.compile(r"(\w+)\.status((?:\.[A-Za-z_]\w*)+)\s*", re.ASCII)
_EVENT = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)+", re.ASCII)


class Check(NamedTuple):
    """`check` or `verify`: something that must be true."""

    condition: Node
    warnings: tuple[str, ...] = ()


class Refresh(NamedTuple):
    """`refresh`: a time below the status of the target."""

    steps: tuple[str, ...]


class Emit(NamedTuple):
    """`emit`: an event."""

    event: str


class Unknown(NamedTuple):
    """A verb that nobody knows; such a hook is skipped."""

    verb: str


Action = Check | Refresh | Emit | Unknown


def action_of(hook: Mapping[str, Any]) -> str:
    """Give the action of a hook; an event alone stands for emitting it."""
    action, event = hook.get("action"), hook.get("event")
    if isinstance(action, str):
        return action
    return f"emit {event}" if isinstance(event, str) else ""


def read_action(text: str, target_kind: str) -> Action:
    """Read what a hook does for a target of this kind, or raise Invalid."""
    if len(text) > LONGEST:
        raise Invalid(f"must have at most {LONGEST:,} characters")
    found = _VERB.match(text)
    verb, start = (found[1], found.end()) if found else ("", 0)
    if verb in ("check", "verify"):
        condition = parse(text, start)
        return Check(condition, tuple(warnings(condition)))
    if verb == "refresh":
        return _refresh(text[start:], target_kind)
    if verb == "emit":
        return _emit(text[start:].strip())
    return Unknown(verb)


def read_condition(text: str) -> Check:
    """Read what must be true of an event; a bare name is one of its payload."""
    if len(text) > LONGEST:
        raise Invalid(f"must have at most {LONGEST:,} characters")
    written = Parser(text, 0).whole()
    measure(written)
    condition = below(written, "payload", EVENT)
    check(condition, EVENT)
    return Check(condition, tuple(warnings(condition)))


def parse(text: str, start: int = 0) -> Node:
    """Read an expression that is bounded and whose parts fit together, or raise Invalid."""
    node = Parser(text, start).whole()
    check(node)
    return node


def _refresh(text: str, target_kind: str) -> Refresh:
    found = _REFRESH.fullmatch(text)
    if not found:
        raise Invalid("must refresh a field of a status, such as target.status.lastEvaluation")
    root = found[1]
    if root not in TARGET and KINDS.get(root) != target_kind:
        raise Invalid(f"must refresh its target, and {root} is another resource")
    return Refresh(tuple(found[2].split(".")[1:]))


def _emit(event: str) -> Emit:
    if not _EVENT.fullmatch(event):
        raise Invalid("must emit an event such as product.feature-released")
    return Emit(event)
