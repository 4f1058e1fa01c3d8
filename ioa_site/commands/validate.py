"""Check documents by themselves and against each other, without a server or a database."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator

from ioa_site.commands import Needs
from ioa_site.server.progress import Bar
from ioa_site.server.terminal import Colour, counted, paint, say, shown
from resources.documents import files, limits, validation
from resources.documents.files import Loaded
from resources.documents.kind import Fault, Severity

HELP = "check documents without a server or database"
EPILOG = """examples:
  ioa validate org/                      a folder, with everything below it
  ioa validate agents/a.yaml b.json      single files
  cat a.yaml | ioa validate -            standard input

Checks each document by its schema and the names in the whole set against each other. Numbers in
brackets are the cross-reference rules. Ends with 1 when there is an error."""
NEEDS: Needs = "nothing"

COLOURS: dict[Severity, Colour] = {"error": "red", "warning": "yellow", "info": "blue"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="file, folder or -")
    parser.add_argument("--progress", action="store_true", help="show progress off a terminal too")


def run(options: argparse.Namespace) -> int:
    """Print every problem, then the totals."""
    bar = Bar(forced=options.progress)
    loaded = files.load_paths(options.paths, lambda done, total: bar("read", done, total))
    found = list(problems(loaded, bar))
    bar.clear()
    for each, problem in found:
        say(described(each, problem))
    say(summary(loaded, Counter(problem.severity for _, problem in found)))
    return 1 if any(problem.severity == "error" for _, problem in found) else 0


def problems(loaded: list[Loaded], bar: Bar) -> Iterator[tuple[Loaded, Fault]]:
    """Yield every problem of a set, document by document."""
    current = [files.upgraded(each.document) for each in loaded]
    between = validation.cross_check(current, known=())
    for position, (each, document) in enumerate(zip(loaded, current, strict=True)):
        bar("check", position + 1, len(loaded))
        within = [*each.problems, *(inside(document) if each.document is not None else ())]
        for problem in (*within, *between[position]):
            yield each, problem


def inside(document: object) -> Iterator[Fault]:
    """Yield the problems inside one document."""
    found = validation.check(document)  # type: ignore[arg-type]
    yield from found
    if isinstance(document, dict) and not any(each.severity == "error" for each in found):
        yield from limits.sizes(document)


def described(loaded: Loaded, problem: Fault) -> str:
    """Write a problem as a line."""
    severity = paint(problem.severity, COLOURS[problem.severity])
    rule = f" [{problem.rule}]" if problem.rule else ""
    place = files.where(loaded, problem)
    return f"{severity}: {shown(place)}: {shown(problem.message)}{rule}"


def summary(loaded: list[Loaded], severities: Counter[Severity]) -> str:
    """Write the totals."""
    checked = sum(each.document is not None or each.failed for each in loaded)
    parts = [counted(severities["error"], "error"), counted(severities["warning"], "warning")]
    parts += [counted(severities["info"], "note")] if severities["info"] else []
    colour: Colour = "red" if severities["error"] else "green"
    return f"{counted(checked, 'document')} checked: {paint(', '.join(parts), colour)}."
