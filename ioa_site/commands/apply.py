"""Apply documents: make what they declare true."""

from __future__ import annotations

import argparse
import time

from ioa_site.commands import Needs, add_paths
from ioa_site.server.progress import Bar

HELP = "apply documents: files, folders or standard input"
EPILOG = """examples:
  ioa apply -f org/                   a folder, with everything below it
  ioa apply -f org/ --dry-run         show every field that would change, write nothing
  ioa apply -f a.yaml -f b.json       single files
  cat a.yaml | ioa apply -f -         standard input

All documents are written together or, when one of them is wrong, none; --keep-going writes those
that are right. Documents of v0.1 are migrated. A status in a document is taken only for a resource
that has none: what was reported stays. Names that do not exist yet are warnings.

The first command makes the database. An older SQLite file is brought up to date; an older
PostgreSQL is left alone until `ioa up` is started. Ends with 1 when anything was refused."""
NEEDS: Needs = "store"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    add_paths(parser)
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    parser.add_argument(
        "--keep-going", action="store_true", help="write what is right, report the rest"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="list every document")
    parser.add_argument("--progress", action="store_true", help="show progress off a terminal too")


def run(options: argparse.Namespace) -> int:
    """Apply and report."""
    from ioa_site.server.terminal import say
    from ioa_site.work import apply, reports

    began = time.monotonic()
    bar = Bar(forced=options.progress)
    answer = apply.answer(
        options.paths, bar=bar, dry_run=options.dry_run, keep_going=options.keep_going
    )
    bar.clear()
    reports.report_problems(answer, verbose=options.verbose)
    if answer.written or not answer.failures or options.keep_going:
        reports.report_results(answer, verbose=options.verbose, fields=options.dry_run)
    say(reports.totals(answer, dry_run=options.dry_run, seconds=time.monotonic() - began))
    return 1 if answer.failures else 0
