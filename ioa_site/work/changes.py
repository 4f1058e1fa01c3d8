"""Changes in the words a person reads: `~ spec.driftThreshold: 0.15 → 0.2`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ioa_site.server.terminal import Colour, as_value, paint, shown
from resources.documents.differences import Difference
from resources.documents.reader import escape

PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def change_lines(differences: Iterable[Difference]) -> Iterator[str]:
    """Yield a line for each field that differs; what comes or goes whole is shown leaf by leaf."""
    for each in differences:
        path = dotted(each.pointer)
        if each.operation == "replace":
            values = f"{as_value(each.before)} → {as_value(each.after)}"
            yield coloured(f"~ {path}: {values}", "yellow")
        elif each.operation == "add":
            yield from leaf_lines("+", each.pointer, each.after)
        else:
            yield from leaf_lines("-", each.pointer, each.before)


def leaf_lines(sign: str, pointer: str, value: Any) -> Iterator[str]:
    """Yield a line for each leaf of a value that appears or disappears."""
    colour: Colour = "green" if sign == "+" else "red"
    for place, leaf in leaves(value, pointer):
        yield coloured(f"{sign} {dotted(place)}: {as_value(leaf)}", colour)


def leaves(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    """Yield every innermost value with its pointer; an empty container counts as one."""
    if isinstance(value, dict) and value:
        for key, child in value.items():
            yield from leaves(child, f"{pointer}/{escape(str(key))}")
    elif isinstance(value, list) and value:
        for index, child in enumerate(value):
            yield from leaves(child, f"{pointer}/{index}")
    else:
        yield pointer, value


def dotted(pointer: str) -> str:
    """Write a JSON pointer as a path: `spec.kpis[0].name`, `metadata.labels["a/b"]`."""
    path = ""
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if key.isdecimal():
            path += f"[{key}]"
        elif PLAIN_KEY.fullmatch(key):
            path += f".{key}" if path else key
        else:
            path += f"[{as_value(key)}]"
    return shown(path)


def coloured(line: str, colour: Colour) -> str:
    """Indent and colour one line of a change."""
    return f"    {paint(line, colour)}"
