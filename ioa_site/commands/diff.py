"""Show what applying documents would change."""

from __future__ import annotations

import argparse

from ioa_site.commands import Needs, add_paths
from ioa_site.server.progress import Bar

HELP = "show what applying documents would change"
EPILOG = """examples:
  ioa diff -f org/
  ioa get agents -o yaml | ioa diff -f -

Prints each field as `~ path: before → after`, `+ path: value` or `- path: value`; writes nothing.
Ends with 0 when nothing would change, 1 when something would, 2 when there are errors."""
NEEDS: Needs = "store"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    add_paths(parser)


def run(options: argparse.Namespace) -> int:
    """Print the differences."""
    from ioa_site.server.terminal import say
    from ioa_site.work import apply, reports

    bar = Bar()
    answer = apply.answer(options.paths, bar=bar, dry_run=True)
    bar.clear()
    reports.report_problems(answer, verbose=False)
    moved = [each for each in answer.items if each.result.action in ("created", "changed")]
    for item in moved:
        say(reports.result_line(item))
        reports.report_fields(item, created=True)
    if answer.failures:
        return 2
    return 1 if moved else 0
