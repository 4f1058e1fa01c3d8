"""The words of `apply` and `diff`: what became of each document, what is wrong, the totals."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence

from ioa_site.server.terminal import Colour, complain, counted, paint, say, shown
from ioa_site.work.apply import AppliedDocument, ApplyOutcome
from ioa_site.work.changes import change_lines, leaf_lines
from resources.documents import files
from resources.documents.files import Loaded
from resources.documents.kind import Fault
from resources.usecases.specs import Action

MOST = 40
COLOURS: dict[Action, Colour] = {
    "created": "green",
    "changed": "yellow",
    "unchanged": "dim",
    "refused": "red",
    "conflict": "red",
}


def report_problems(answer: ApplyOutcome, *, verbose: bool) -> None:
    """Print all errors, then warnings and notices as far as a person wants to read them."""
    for loaded, problem in answer.problems():
        complain(problem_line("error", "red", loaded, problem))
    warnings = [(item.loaded, each) for item in answer.items for each in item.warnings]
    for loaded, problem in shortened(warnings, "warnings", verbose=verbose):
        complain(problem_line("warning", "yellow", loaded, problem))
    notices = [(each, problem) for each in answer.skipped for problem in each.problems]
    for loaded, problem in shortened(notices, "skipped files", verbose=verbose):
        complain(problem_line("notice", "blue", loaded, problem))


def problem_line(word: str, colour: Colour, loaded: Loaded, problem: Fault) -> str:
    """Write one problem with its place."""
    rule = f" [{problem.rule}]" if problem.rule else ""
    place = shown(files.where(loaded, problem))
    return f"{paint(word, colour, sys.stderr)}: {place}: {shown(problem.message)}{rule}"


def shortened(
    found: Sequence[tuple[Loaded, Fault]], word: str, *, verbose: bool
) -> Iterable[tuple[Loaded, Fault]]:
    """Yield the first of many, and say how many more there are."""
    yield from found if verbose else found[:MOST]
    if len(found) > MOST and not verbose:
        complain(f"… and {len(found) - MOST:,} more {word} (-v lists all)")


def report_results(answer: ApplyOutcome, *, verbose: bool, fields: bool) -> None:
    """Print what became of the documents: all of a small set, what moved of a large one."""
    done = [item for item in answer.items if not item.result.failed]
    small = len(done) <= MOST or verbose
    worth = done if small else [each for each in done if each.result.action != "unchanged"]
    for item in worth if verbose else worth[:MOST]:
        say(result_line(item))
        if fields:
            report_fields(item, created=verbose)
    if len(worth) > MOST and not verbose:
        say(f"… and {len(worth) - MOST:,} more (-v lists all)")
    notes = Counter(note for item in done for note in item.notes)
    for note, count in notes.items() if not small else ():
        say(f"{note}: {counted(count, 'document')}")


def result_line(item: AppliedDocument) -> str:
    """Write what became of one document."""
    result = item.result
    action = paint(f"{result.action:<9}", COLOURS[result.action])
    notes = f" ({', '.join(item.notes)})" if item.notes else ""
    return f"{action} {result.kind.lower()}/{shown(result.name)}{paint(notes, 'dim')}"


def report_fields(item: AppliedDocument, *, created: bool) -> None:
    """Print what one document would change, field by field."""
    result = item.result
    for line in change_lines(result.differences):
        say(line)
    if result.action == "changed" and not result.differences:
        say(f"    {paint('+ status: taken from the document', 'green')}")
    if result.action == "created" and created:
        document = files.upgraded(item.loaded.document)
        for part in ("metadata", "spec", "status"):
            for line in leaf_lines("+", f"/{part}", document.get(part) or {}):
                say(line)


def totals(answer: ApplyOutcome, *, dry_run: bool, seconds: float) -> str:
    """Write the last line: how many of what, and how long it took."""
    actions = Counter(item.result.action for item in answer.items)
    done = ", ".join(
        f"{actions[action]:,} {action}" for action in ("created", "changed", "unchanged")
    )
    count = len(answer.items) + len(answer.unreadable)
    took = f"({seconds:.1f} s)"
    if answer.failures and not answer.written:
        wrong = f"{answer.failures:,} of {counted(count, 'document')} cannot be applied"
        return f"{paint('Nothing was written', 'red')}: {wrong}. {took}"
    refused = f", {paint(f'{answer.failures:,} refused', 'red')}" if answer.failures else ""
    if dry_run:
        return f"{counted(count, 'document')}, dry run, nothing written: {done}{refused}. {took}"
    return f"{counted(count, 'document')}: {done}{refused}. {took}"
