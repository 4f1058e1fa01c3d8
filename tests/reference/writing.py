"""How the pages of the reference write tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table."""
    lines = [line(heads), "|---" * len(heads) + "|", *map(line, rows)]
    return "\n".join(lines) + "\n"


def line(cells: Sequence[str]) -> str:
    """Write one line of a table."""
    return f"| {' | '.join(each.replace('|', chr(92) + '|') for each in cells)} |"


def code(word: str) -> str:
    """Write a word as it is typed."""
    return f"`{word}`"


def listed(words: Iterable[str]) -> str:
    """Write words as they are typed, one after the other."""
    return ", ".join(map(code, words))
