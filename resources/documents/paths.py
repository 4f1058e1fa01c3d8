"""Reading and editing documents by path: `spec.steps[].agent` is the agent of every step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

_MAX_DEPTH = 250


def at(value: Any, path: str, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Give (JSON pointer, value) for each place a path names; `[]` enters every list item."""
    head, _, rest = path.partition(".")
    if not head:
        yield pointer, value
        return
    name = head.removesuffix("[]")
    if not isinstance(value, dict) or name not in value:
        return
    child, below = value[name], f"{pointer}/{name}"
    if name == head:
        yield from at(child, rest, below)
    elif isinstance(child, list):
        for index, item in enumerate(child):
            yield from at(item, rest, f"{below}/{index}")


def texts(document: Any, path: str) -> Iterator[tuple[str, str]]:
    """Give (JSON pointer, text) for each place a path names that holds a text."""
    return ((pointer, value) for pointer, value in at(document, path) if isinstance(value, str))


def objects(document: Any, path: str) -> Iterator[dict[str, Any]]:
    """Give each object at a path, to be read or edited."""
    return (value for _, value in at(document, path) if isinstance(value, dict))


def rewrite(document: Any, path: str, change: Callable[[Any], Any]) -> None:
    """Replace each value a path names by `change(value)`."""
    parent, _, last = path.rpartition(".")
    name = last.removesuffix("[]")
    for holder in objects(document, parent):
        if name == last and name in holder:
            holder[name] = change(holder[name])
        elif isinstance(holder.get(name), list):
            holder[name] = [change(item) for item in holder[name]]


def from_text(make: Callable[[str], Any]) -> Callable[[Any], Any]:
    """Turn `make`, which takes a text, into a change that leaves every other value alone."""
    return lambda value: make(value) if isinstance(value, str) else value


def rename(document: Any, path: str, name: str) -> None:
    """Give the key at a path another name, unless that name is taken."""
    parent, _, last = path.rpartition(".")
    for holder in objects(document, parent):
        if last in holder and name not in holder:
            holder[name] = holder.pop(last)


def without_nulls(value: Any, keep: tuple[str, ...] = (), path: str = "", depth: int = 0) -> Any:
    """Copy a value without the keys that hold null, save at or below the paths of `keep`."""
    if depth > _MAX_DEPTH:
        return value
    if isinstance(value, list):
        return [without_nulls(item, keep, f"{path}[]", depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    below = {name: f"{path}.{name}" if path else str(name) for name in value}
    return {
        name: without_nulls(child, keep, below[name], depth + 1)
        for name, child in value.items()
        if child is not None or below[name].startswith(keep)
    }
