"""What changed between two values, place by place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from resources.documents.reader import escape


@dataclass(frozen=True)
class Difference:
    """One place where two documents differ."""

    pointer: str
    operation: Literal["add", "remove", "replace"]
    before: Any = None
    after: Any = None


def compare(before: Any, after: Any, pointer: str = "") -> Iterator[Difference]:
    """Yield every place where two values differ; lists are compared item by item."""
    if same(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        yield from compare_keys(before, after, pointer)
    elif isinstance(before, list) and isinstance(after, list):
        old, new = dict(enumerate(before)), dict(enumerate(after))
        yield from compare_keys(old, new, pointer)
    else:
        yield Difference(pointer, "replace", before, after)


def compare_keys(before: dict[Any, Any], after: dict[Any, Any], at: str) -> Iterator[Difference]:
    """Yield the differences of two mappings, in the order of the newer one."""
    for key in (*after, *(key for key in before if key not in after)):
        pointer = f"{at}/{escape(str(key))}"
        if key not in before:
            yield Difference(pointer, "add", after=after[key])
        elif key not in after:
            yield Difference(pointer, "remove", before=before[key])
        else:
            yield from compare(before[key], after[key], pointer)


def same(before: Any, after: Any) -> bool:
    """Tell whether two values are the same JSON: true is not 1."""
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() == after.keys() and all(same(before[k], after[k]) for k in after)
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(same, before, after))
    return isinstance(before, bool) == isinstance(after, bool) and bool(before == after)


def merge(target: Any, patch: Any) -> Any:
    """Apply a merge patch (RFC 7396) and return the result; nothing is changed in place."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result
