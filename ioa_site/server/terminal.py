"""Words on a terminal: colour only where it helps, and never a control character from outside."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Literal, TextIO

import orjson

Colour = Literal["red", "green", "yellow", "blue", "dim", "bold"]

CODES: dict[Colour, int] = {
    "red": 31,
    "green": 32,
    "yellow": 33,
    "blue": 34,
    "dim": 2,
    "bold": 1,
}
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def say(text: str = "") -> None:
    """Write a line of the answer."""
    sys.stdout.write(f"{text}\n")


def complain(text: str) -> None:
    """Write a line about the answer, beside it."""
    sys.stderr.write(f"{text}\n")


def paint(text: str, colour: Colour, stream: TextIO | None = None) -> str:
    """Colour a text where a person will see it."""
    target = stream or sys.stdout
    if (
        not text
        or not target.isatty()
        or os.environ.get("NO_COLOR")
        or os.environ.get("TERM") == "dumb"
    ):
        return text
    return f"\x1b[{CODES[colour]}m{text}\x1b[0m"


def shown(text: str, most: int = 0) -> str:
    """Make a text from outside safe to print on one line, cut at `most` characters."""
    cut = text if not most or len(text) <= most else f"{text[: most - 1]}…"
    return CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", cut)


def as_value(value: object, most: int = 100) -> str:
    """Spell a value in a line."""
    return shown(orjson.dumps(value).decode(), most)


def counted(number: int, word: str, plural: str = "") -> str:
    """Write a number with its word: `1 document`, `2 documents`."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


def table(rows: Iterable[Sequence[str]], heads: Sequence[str]) -> Iterable[str]:
    """Yield the lines of a table, each column as wide as its widest cell."""
    cells = [[shown(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    for position, row in enumerate([heads, *cells]):
        padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        line = "  ".join(padded).rstrip()
        yield paint(line, "bold") if position == 0 else line
