"""Try another rule on a controller's past."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ioa_site.commands import Needs
from ioa_site.server.terminal import complain, counted, paint, say, shown, table

if TYPE_CHECKING:
    from controllers.trust.policy_replay import Replay

HELP = "try another threshold, weight or rule on a controller's past; changes nothing"
EPILOG = """examples:
  ioa replay domain-health --threshold 0.3
  ioa replay domain-health --weight kpi=2 --weight budget=0
  ioa replay domain-health --file domain-health.yaml     a document as it would be declared

Prints which proposals would appear or vanish, which would have run or been asked about, and which
decisions of people that contradicts; and how far back what is kept reaches."""
NEEDS: Needs = "store"
FAILED = 1
MOST = 20


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("controller", metavar="CONTROLLER", help="its name")
    parser.add_argument("--threshold", type=float, metavar="NUMBER", help="from 0 to 1")
    parser.add_argument(
        "--weight", action="append", default=[], metavar="NAME=NUMBER", help="such as kpi=2"
    )
    parser.add_argument("--file", metavar="PATH", help="a Controller as it would be declared")


def run(options: argparse.Namespace) -> int:
    """Try it, and print what would have been different."""
    from ioa_site.work import replays
    from resources.documents.problems import Problem

    try:
        found = replays.run(options.controller, options.threshold, options.weight, options.file)
    except Problem as problem:
        complain(f"{paint('refused', 'red', sys.stderr)}: {shown(problem.message)}")
        return FAILED
    print_found(found)
    return 0


def print_found(found: Replay) -> None:
    """Print what would have been different."""
    from ioa_site.work.replays import lists_of

    since = f"since {found.since:%Y-%m-%d %H:%M} UTC" if found.since else "nothing is kept"
    say(paint(f"{found.controller}: {counted(found.points, 'point')}, {since}", "bold"))
    for title, heads, rows in lists_of(found):
        say(f"{title}: {len(rows)}")
        for line in table(rows[:MOST], heads) if rows else ():
            say(f"  {line}")
        if len(rows) > MOST:
            say(f"  … and {len(rows) - MOST:,} more")
    for each in found.limits:
        complain(f"{paint('note', 'yellow', sys.stderr)}: {shown(each)}")
