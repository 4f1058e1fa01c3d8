"""The table of behaviours, made of `behaviours.yaml` and of the ids that tests name.

`python -m tests.behaviours` writes `docs/behaviours.md`; with `--missing` it lists the behaviours
that have neither a test nor a reason for having none. A test names the behaviours it shows in the
first line of its docstring, before anything else: `I-46 I-67`.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from resources.yaml_text import read_yaml

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "behaviours.md"
WORDS = Path(__file__).with_name("behaviours.yaml")
IDS = re.compile(r"(?:[A-Z]-\d{1,3}\b[ ,]*)+")

HEAD = """\
# Behaviours

What the product was asked to do, each behaviour with the tests that show it. Made by
`python -m tests.behaviours` of `tests/behaviours.yaml` and of the tests; do not edit it.

"""

Tests = Mapping[str, list[str]]


@dataclass(frozen=True)
class Book:
    """Every behaviour by its id, and why some have no test, or not a whole one."""

    sections: Mapping[str, Mapping[str, str]]
    answers: Mapping[str, str]
    reasons: Mapping[str, list[str]]

    @cached_property
    def titles(self) -> dict[str, str]:
        """All behaviours, in their order."""
        return {id_: title for rows in self.sections.values() for id_, title in rows.items()}

    @cached_property
    def reason_of(self) -> dict[str, str]:
        """Why a behaviour is left out, by its id."""
        return {id_: reason for reason, ids in self.reasons.items() for id_ in ids}


def read_book() -> Book:
    """Read the words for all behaviours."""
    given = read_yaml(WORDS.read_text(encoding="utf-8"))
    return Book(given["behaviours"], given["answers"], given["reasons"])


def read_tests(folder: Path = ROOT / "tests") -> dict[str, list[str]]:
    """Return the tests that name each id, in the order of their files."""
    found = defaultdict(list)
    for path in sorted(folder.rglob("test_*.py")):
        for name, ids in named_in(path.read_text(encoding="utf-8")):
            for id_ in ids:
                found[id_].append(f"{path.relative_to(folder.parent)}::{name}")
    return dict(found)


def named_in(source: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the tests of a module that name ids, each with its ids."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            said = IDS.match(ast.get_docstring(node) or "")
            if said and node.name.startswith("test_"):
                yield node.name, re.findall(r"[A-Z]-\d+", said[0])


def missing(book: Book, tests: Tests) -> list[str]:
    """Return the behaviours that have neither a test nor a reason for having none."""
    return [id_ for id_ in book.titles if id_ not in tests and id_ not in book.reason_of]


def table(book: Book, tests: Tests) -> str:
    """Write the whole page."""
    parts = [HEAD, *summary(book, tests)]
    for title, rows in book.sections.items():
        parts += [f"\n## {title}\n\n| Id | Behaviour | Shown by |\n|---|---|---|\n"]
        parts += [row(id_, words, tests, book.reason_of) for id_, words in rows.items()]
    parts += ["\n## Where the sources contradict each other\n\n"]
    parts += ["| Id | Answer | Shown by |\n|---|---|---|\n"]
    parts += [row(id_, words, tests, {}) for id_, words in book.answers.items()]
    return "".join(parts)


def summary(book: Book, tests: Tests) -> Iterator[str]:
    """Count, for each section, what is shown, what partly, and what is left out."""
    columns = ("shown", "partly", "left out", "missing")
    yield f"| | Behaviours | {' | '.join(each.capitalize() for each in columns)} |\n"
    yield f"|---|{'---|' * (len(columns) + 1)}\n"
    for title, rows in {**book.sections, "All": book.titles}.items():
        counts = Counter(standing(id_, book, tests) for id_ in rows)
        figures = " | ".join(str(counts[each]) for each in columns)
        yield f"| {title} | {len(rows)} | {figures} |\n"


def standing(id_: str, book: Book, tests: Tests) -> str:
    """Say how far a behaviour is shown."""
    if id_ in tests:
        return "partly" if id_ in book.reason_of else "shown"
    return "left out" if id_ in book.reason_of else "missing"


def row(id_: str, words: str, tests: Tests, reasons: Mapping[str, str]) -> str:
    """Write one line of the table."""
    shown = [f"`{each}`" for each in tests.get(id_, ())]
    reason = [reasons[id_]] if id_ in reasons else []
    return f"| {id_} | {words} | {'<br>'.join([*shown, *reason])} |\n"


def main(arguments: list[str]) -> int:
    """Write the table, or list what is missing."""
    parser = argparse.ArgumentParser(prog="python -m tests.behaviours", description=__doc__)
    parser.add_argument("--missing", action="store_true", help="list behaviours without a test")
    options = parser.parse_args(arguments)
    book, tests = read_book(), read_tests()
    if options.missing:
        lines = [f"{id_}  {book.titles[id_]}\n" for id_ in missing(book, tests)]
        sys.stdout.writelines(lines)
        return 1 if lines else 0
    TABLE.write_text(table(book, tests), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
