"""What makes a declaration guard less than the one before: such a change needs a second person."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from resources.documents.kind import SEVERITIES, Document, Fault
from resources.documents.paths import at, objects


def weaker(
    before: Document, after: Document, path: str, strength: Callable[[Any], float]
) -> Iterator[Fault]:
    """Say whether the value at a path guards less than before; nothing there is None."""
    was, becomes = (next((value for _, value in at(d, path)), None) for d in (before, after))
    if strength(becomes) < strength(was):
        said = f"{path} would go from {json.dumps(was)} to {json.dumps(becomes)}"
        yield Fault(_pointer(path), said)


def rank(order: Sequence[Any], usual: Any) -> Callable[[Any], float]:
    """Measure words by their place in an order, the weakest first."""
    return lambda value: order.index(value if value in order else usual)


def lost(
    before: Document, after: Document, path: str, kept: Callable[[Document, Document], bool]
) -> Iterator[Fault]:
    """Name the rules of a list that no later rule does the work of; `kept(old, new)` tells."""
    later = list(objects(after, f"{path}[]"))
    for rule in objects(before, f"{path}[]"):
        if not any(kept(rule, each) for each in later):
            yield Fault(_pointer(path), f"{path} would lose or weaken {json.dumps(rule)}")


def as_loud(old: Document, new: Document) -> bool:
    """Tell whether an alert still reaches everybody, and is meant as seriously."""
    severity = rank(SEVERITIES, "info")
    reached = set(old.get("channels", ())) <= set(new.get("channels", ()))
    return reached and severity(new.get("severity")) >= severity(old.get("severity"))


def _pointer(path: str) -> str:
    return "/" + path.replace(".", "/")
