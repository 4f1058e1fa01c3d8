"""The table of behaviours, made of `behaviours.yaml` and of the ids that tests name.

`python -m tests.behaviours` writes `docs/behaviours.md`; with `--missing` it lists the behaviours
that nobody has shown from outside. A test names the behaviours it shows in the first line of its
docstring, before anything else: `I-46 I-67`. Only a test that goes through the outside shows one
(`tests/outside.py`); the others are named beside it.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from resources.documents.yaml_text import read_yaml
from tests.outside import FOLDERS, from_outside, reaching_inside

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "behaviours.md"
WORDS = Path(__file__).with_name("behaviours.yaml")
IDS = re.compile(r"(?:[A-Z]-\d{1,3}\b[ ,]*)+")

HEAD = """\
# Behaviours

What the product was asked to do, and what shows it. A behaviour counts as shown only by a test
that drives a running product by command line, HTTP and pages: those of `tests/promises`, and
journeys that do not reach inside. *Not shown yet* says what happens instead, or that no such test
looks at it; *left out* says why it is not ours. Made by `python -m tests.behaviours` of
`tests/behaviours.yaml` and of the tests; do not edit it.

"""
STANDINGS = ("shown", "not shown yet", "left out")
INSIDE_ONLY = "no test from outside looks at it."
MOST_INSIDE = 1

Tests = Mapping[str, list[str]]


@dataclass(frozen=True)
class Book:
    """Every behaviour and every answer by its id, and why some are not shown."""

    sections: Mapping[str, Mapping[str, str]]
    answers: Mapping[str, str]
    pending: Mapping[str, str]
    left_out: Mapping[str, str]

    @cached_property
    def titles(self) -> dict[str, str]:
        """All behaviours, in their order."""
        return {id_: title for rows in self.sections.values() for id_, title in rows.items()}

    @cached_property
    def known(self) -> dict[str, str]:
        """All behaviours and answers."""
        return {**self.titles, **self.answers}


def read_book() -> Book:
    """Read the words for all behaviours."""
    given = read_yaml(WORDS.read_text(encoding="utf-8"))
    pending, left_out = by_id(given["not shown yet"]), by_id(given["left out"])
    return Book(given["behaviours"], given["answers"], pending, left_out)


def by_id(reasons: Mapping[str, list[str]]) -> dict[str, str]:
    """Return the reason of each id."""
    return {id_: reason for reason, ids in reasons.items() for id_ in ids}


@cache
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


def outside(id_: str, tests: Tests) -> list[str]:
    """Return the tests that show a behaviour."""
    return [each for each in tests.get(id_, ()) if from_outside(each)]


def standing(id_: str, book: Book, tests: Tests) -> str:
    """Say how a behaviour stands."""
    if id_ in book.left_out:
        return "left out"
    return "shown" if outside(id_, tests) and id_ not in book.pending else "not shown yet"


def missing(book: Book, tests: Tests) -> list[str]:
    """Return the behaviours that nobody has shown yet."""
    return [id_ for id_ in book.titles if standing(id_, book, tests) == "not shown yet"]


def table(book: Book, tests: Tests) -> str:
    """Write the whole page."""
    parts = [HEAD, *summary(book, tests)]
    for title, rows in groups(book).items():
        first = "Answer" if rows is book.answers else "Behaviour"
        parts += [f"\n## {title}\n\n| Id | {first} | Shown from outside by | Tested inside by |\n"]
        parts += ["|---|---|---|---|\n"]
        parts += [row(id_, words, book, tests) for id_, words in rows.items()]
    return "".join([*parts, *ending()])


def groups(book: Book) -> dict[str, Mapping[str, str]]:
    """Return the behaviours by their section, and the answers after them."""
    return {**book.sections, "Where the sources contradict each other": book.answers}


def summary(book: Book, tests: Tests) -> Iterator[str]:
    """Count, for each section, how its behaviours stand."""
    yield f"| | Behaviours | {' | '.join(each.capitalize() for each in STANDINGS)} |\n"
    yield f"|---|{'---|' * (len(STANDINGS) + 1)}\n"
    for title, rows in {**book.sections, "All": book.titles}.items():
        counts = Counter(standing(id_, book, tests) for id_ in rows)
        figures = " | ".join(str(counts[each]) for each in STANDINGS)
        yield f"| {title} | {len(rows)} | {figures} |\n"


def row(id_: str, words: str, book: Book, tests: Tests) -> str:
    """Write one line of the table."""
    return f"| {id_} | {words} | {evidence(id_, book, tests)} | {within(id_, tests)} |\n"


def evidence(id_: str, book: Book, tests: Tests) -> str:
    """Name the tests that show a behaviour, or say why none does."""
    how = standing(id_, book, tests)
    if how == "shown":
        return "<br>".join(f"`{each.removeprefix('tests/')}`" for each in outside(id_, tests))
    reason = book.left_out.get(id_) or book.pending.get(id_) or INSIDE_ONLY
    return f"{how.capitalize()}: {reason}"


def within(id_: str, tests: Tests) -> str:
    """Name a test that looks at it inside, and count the others."""
    found = [each for each in tests.get(id_, ()) if not from_outside(each)]
    named = [f"`{each.removeprefix('tests/')}`" for each in found[:MOST_INSIDE]]
    more = [f"{len(found) - MOST_INSIDE} more"] if len(found) > MOST_INSIDE else []
    return " and ".join([*named, *more]) or "nothing"


def ending() -> Iterator[str]:
    """Name the journeys that show nothing, because they reach inside."""
    yield "\n## Journeys that reach inside\n\n"
    yield "They import the product's modules, or modules that do, and show nothing here.\n\n"
    for path in sorted((ROOT / FOLDERS[1]).glob("test_*.py")):
        if reaching_inside(path):
            yield f"- `{path.relative_to(ROOT / 'tests')}`\n"


def main(arguments: list[str]) -> int:
    """Write the table, or list what is missing."""
    parser = argparse.ArgumentParser(prog="python -m tests.behaviours", description=__doc__)
    parser.add_argument("--missing", action="store_true", help="list what is not shown")
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
