"""Two texts side by side: a table for everyone, which the editor script turns into a diff view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from django import template

register = template.Library()

CONTEXT_LINES = 3
Opcode = tuple[str, int, int, int, int]
Numbered = tuple[int, str]


@dataclass(frozen=True)
class Row:
    """One line of the table; `change` is same, changed, added, removed or gap."""

    change: str
    left: Numbered | None = None
    right: Numbered | None = None


def compare(left: str, right: str) -> list[Row]:
    """The changed lines of two texts with a little context; a gap row where lines are left out."""
    before, after = left.splitlines(), right.splitlines()
    rows: list[Row] = []
    ended = (0, 0)
    for group in SequenceMatcher(a=before, b=after).get_grouped_opcodes(CONTEXT_LINES):
        if (group[0][1], group[0][3]) != ended:
            rows.append(Row("gap"))
        rows.extend(row for opcode in group for row in _rows(opcode, before, after))
        ended = (group[-1][2], group[-1][4])
    if rows and ended != (len(before), len(after)):
        rows.append(Row("gap"))
    return rows


def _rows(opcode: Opcode, before: list[str], after: list[str]) -> Iterator[Row]:
    _, left_from, left_to, right_from, right_to = opcode
    lefts = list(enumerate(before[left_from:left_to], left_from + 1))
    rights = list(enumerate(after[right_from:right_to], right_from + 1))
    for left, right in zip_longest(lefts, rights):
        yield Row(_change(opcode[0], left, right), left, right)


def _change(operation: str, left: Numbered | None, right: Numbered | None) -> str:
    if operation == "equal":
        return "same"
    if left is None:
        return "added"
    return "removed" if right is None else "changed"


def summary(rows: list[Row]) -> str:
    """What differs, in one sentence: "2 lines changed, 1 added."."""
    counts = Counter(row.change for row in rows)
    parts = [f"{counts[word]} {word}" for word in ("changed", "added", "removed") if counts[word]]
    if not parts:
        return "No line differs."
    number, _, rest = parts[0].partition(" ")
    first = f"{number} {'line' if number == '1' else 'lines'} {rest}"
    return ", ".join([first, *parts[1:]]) + "."


@register.inclusion_tag("partials/sides.html")
def side_by_side(
    left: str, right: str, left_title: str = "Saved", right_title: str = "New"
) -> dict[str, object]:
    """Show `left` and `right` beside each other; load editor.css and vendor/editor.js with it."""
    rows = compare(left, right)
    return {
        "left": left,
        "right": right,
        "left_title": left_title,
        "right_title": right_title,
        "rows": rows,
        "summary": summary(rows),
    }
