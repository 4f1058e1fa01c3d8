"""What can be said of an expression before it runs: its bounds, its paths, its types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from resources.documents.expressions.syntax import (
    DEEPEST,
    KINDS,
    ORDER,
    TARGET,
    Binary,
    Call,
    Invalid,
    Items,
    Literal,
    Node,
    Path,
    Unary,
    children,
)

MOST_NODES = 64
# Words in rising order, on the scales of urgency, severity and health.
LEVELS: Mapping[str, float] = {
    **{"none": 0.0, "low": 1.0, "medium": 2.0, "high": 3.0, "critical": 4.0},
    **{"info": 0.0, "warning": 1.0, "error": 2.0},
    **{"healthy": 0.0, "degraded": 1.0},
}

_TRUTH, _NUMBER, _TEXT, _LIST, _NULL = "true or false", "a number", "text", "a list", "null"
_TIME, _ANYTHING = "a time", ""
_CONSTANTS = {bool: _TRUTH, float: _NUMBER, str: _TEXT}
_SIDES = {"&&": _TRUTH, "||": _TRUTH, **dict.fromkeys("+-*/", _NUMBER)}
# Where paths may start, and where they go on to from there; None is anywhere.
Roots = Mapping[str, tuple[str, ...] | None]
_NOW: Roots = {"now": ()}
RESOURCES: Roots = {
    **dict.fromkeys((*TARGET, *KINDS), ("metadata", "spec", "status")),
    "controller": ("metadata", "spec"),
    "cycle": ("score", "dimensions"),
    **_NOW,
}
# What a condition about an event may look at.
EVENT: Roots = {"payload": None, **_NOW}
_METADATA = ("name", "labels", "generation")


def check(node: Node, roots: Roots = RESOURCES) -> None:
    """Refuse an expression that is too large, or that could never say true or false."""
    measure(node)
    for path in _paths(node):
        _place(path, roots)
    _expect(node, _TRUTH)


def measure(node: Node) -> None:
    """Refuse an expression that is too large."""
    if _count(node, 1) > MOST_NODES:
        raise Invalid(f"must have at most {MOST_NODES} parts")


def warnings(node: Node) -> Iterator[str]:
    """Find places that do something else than their author expects."""
    if isinstance(node, Binary) and node.operator in ORDER:
        yield from _by_alphabet(node)
    for child in children(node):
        yield from warnings(child)


def _count(node: Node, depth: int) -> int:
    if depth > DEEPEST:
        raise Invalid(f"must not nest more than {DEEPEST} deep")
    own = 1 + len(node.steps) if isinstance(node, Path) else 1
    return own + sum(_count(child, depth + 1) for child in children(node))


def _expect(node: Node, *wanted: str) -> str:
    found = _type(node)
    if found and found not in wanted:
        raise Invalid(f"needs {' or '.join(wanted)} at character {node.at}, not {found}")
    return found


def _type(node: Node) -> str:
    match node:
        case Literal(value):
            return _CONSTANTS.get(type(value), _NULL)
        case Path():
            return _TIME if node.root in _NOW else _ANYTHING
        case Items(items):
            for item in items:
                _type(item)
            return _LIST
        case Call():
            return _type_of_call(node)
        case Unary(operator, operand):
            wanted = _TRUTH if operator == "!" else _NUMBER
            _expect(operand, wanted)
            return wanted
        case Binary():
            return _type_of_binary(node)


def _paths(node: Node) -> Iterator[Path]:
    if isinstance(node, Path):
        yield node
    for child in children(node):
        yield from _paths(child)


def _place(path: Path, roots: Roots) -> None:
    """Refuse a path to where nothing can be."""
    root, steps, at = path
    if root not in roots:
        known = ", ".join(roots)
        raise Invalid(f"does not know {root} at character {at}; a path starts with {known}")
    parts = roots[root]
    if parts is None:
        return
    if not parts and steps:
        raise Invalid(f"cannot look into {root} at character {at}")
    if parts and (not steps or steps[0] not in parts):
        raise Invalid(f"must go on from {root} at character {at} to {_one_of(parts)}")
    if steps[:1] == ("metadata",) and steps[1:2] and steps[1] not in _METADATA:
        raise Invalid(f"can see only {_one_of(_METADATA)} of metadata at character {at}")


def _type_of_call(call: Call) -> str:
    name, argument, at = call
    if name == "size":
        _expect(argument, _TEXT, _LIST)
        return _NUMBER
    if name == "level":
        _expect(argument, _TEXT)
        if isinstance(argument, Literal) and argument.value not in LEVELS:
            raise Invalid(
                f"has no level at character {argument.at}; known are {', '.join(LEVELS)}"
            )
        return _NUMBER
    _type(argument)
    if not (isinstance(argument, Path) and argument.steps and isinstance(argument.steps[-1], str)):
        raise Invalid(f"needs a path that ends with a name in has() at character {at}")
    return _TRUTH


def _type_of_binary(node: Binary) -> str:
    operator, left, right, at = node
    if operator in _SIDES:
        _expect(left, _SIDES[operator])
        _expect(right, _SIDES[operator])
        return _SIDES[operator]
    if operator == "in":
        _type(left)
        _expect(right, _LIST)
        return _TRUTH
    known = sorted({_type(left), _type(right)} - {_ANYTHING})
    if len(known) > 1:
        raise Invalid(f"cannot compare {known[0]} with {known[1]} at character {at}")
    if operator in ORDER and known and known[0] not in (_NUMBER, _TEXT, _TIME):
        raise Invalid(f"cannot put {known[0]} in order at character {at}")
    return _TRUTH


def _by_alphabet(node: Binary) -> Iterator[str]:
    for path, word in ((node.left, node.right), (node.right, node.left)):
        if isinstance(path, Path) and isinstance(word, Literal) and word.value in LEVELS:
            yield (
                f"puts words in the order of the alphabet at character {node.at}; "
                f"write level({path}) and level('{word.value}')"
            )


def _one_of(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
