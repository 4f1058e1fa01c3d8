"""Run a controller's cycle."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ioa_site.commands import Needs, Stop
from ioa_site.server.progress import Bar
from ioa_site.server.terminal import complain, counted, paint, say, shown, table

if TYPE_CHECKING:
    from ioa_site.work.reconcile import Act, CycleReport, Unwell

HELP = "run a controller's cycle, or show what it would find and plan"
EPILOG = """examples:
  ioa reconcile domain-health                     ask the running loop for a cycle
  ioa reconcile domain-health --wait              run it now and print what came of it
  ioa reconcile domain-health --dry-run           what it would find and plan; changes nothing
  ioa reconcile --all --exit-code                 a step of a build that fails on drift
  ioa reconcile domain-health --reset-breaker "The exchange answers again."

--wait needs no server: the command runs the cycle itself, or waits for the worker that already
does. A controller whose cycles failed too often in a row stops until a person resets it.

Ends with 0, or with 1 when anything went wrong. With --exit-code it also runs (or, with --dry-run,
looks) and ends with 2 when anything is drifted."""
NEEDS: Needs = "store"
FAILED = 1
DRIFTED = 2
MOST = 40
WIDEST = 110


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("controller", metavar="CONTROLLER", nargs="?", help="its name")
    parser.add_argument("--all", action="store_true", help="every controller that is run here")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--wait", action="store_true", help="run the cycle now and print it")
    how.add_argument("--dry-run", action="store_true", help="only show what it would do")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; the record keeps it")
    parser.add_argument("--exit-code", action="store_true", help="end with 2 when there is drift")
    parser.add_argument(
        "--reset-breaker", metavar="REASON", help="let a stopped controller try one cycle first"
    )
    parser.add_argument("--progress", action="store_true", help="show progress off a terminal too")


def run(options: argparse.Namespace) -> int:
    """Do it for each controller, and return the worst of what came of it."""
    from ioa_site.work import reconcile
    from resources.documents.problems import Problem

    if bool(options.controller) == options.all:
        raise Stop("Give the name of a controller, or --all.")
    if options.reset_breaker is not None and (options.all or options.dry_run):
        raise Stop("--reset-breaker is for one controller, and not for a dry run.")
    names = reconcile.everything() if options.all else [reconcile.called(options.controller)]
    codes = []
    for name in names:
        try:
            codes.append(treat(name, options))
        except Problem as problem:
            complain(f"{paint('refused', 'red', sys.stderr)}: {shown(problem.message)}")
            codes.append(FAILED)
    if not names:
        say("There are no controllers.")
    return FAILED if FAILED in codes else max(codes, default=0)


def treat(name: str, options: argparse.Namespace) -> int:
    """Do what the options say with one controller."""
    from ioa_site.work import reconcile

    if options.reset_breaker is not None:
        reconcile.reset(name, options.reset_breaker)
    if options.dry_run:
        found = reconcile.look(name)
    elif options.wait or options.exit_code:
        bar = Bar(forced=options.progress)
        found = reconcile.run(name, options.reason, bar)
        bar.clear()
    else:
        alive = reconcile.ask(name, options.reason)
        say(f"Asked controller/{name} for a cycle: the loop will run it.")
        if not alive:
            complain("No loop is running: start it with `ioa up`, or run the cycle with --wait.")
        return 0
    print_found(found)
    if found.problem:
        return FAILED
    return DRIFTED if options.exit_code and found.drifted else 0


def print_found(found: CycleReport) -> None:
    """Print what came of a cycle."""
    say(paint(shown(found.title), "bold"))
    for line in table(found.phases, ("PHASE", "WHAT", "TIME")):
        say(f"  {line}")
    if found.problem:
        complain(f"{paint('error', 'red', sys.stderr)}: {shown(found.problem)}")
    print_unwell(found.unwell, found.not_shown)
    print_acts(found.acts)


def print_unwell(unwell: tuple[Unwell, ...], not_shown: int) -> None:
    """Print what is not as declared, the worst first."""
    if not unwell:
        say(paint("Nothing is drifted or unknown", "green"))
        return
    say(paint(f"{counted(len(unwell) + not_shown, 'resource')} not as declared", "yellow"))
    rows = [(each.score, each.resource, shown(each.message, WIDEST)) for each in unwell]
    for line in table(rows, ("DRIFT", "RESOURCE", "WHY")):
        say(f"  {line}")
    if not_shown:
        say(f"  … and {not_shown:,} more")


def print_acts(acts: tuple[Act, ...]) -> None:
    """Print what was done or planned."""
    if not acts:
        return
    say(paint(counted(len(acts), "action"), "bold"))
    rows = [(each.result, each.operation, each.target, shown(each.why, WIDEST)) for each in acts]
    for line in table(rows[:MOST], ("RESULT", "ACTION", "RESOURCE", "WHY")):
        say(f"  {line}")
    if len(acts) > MOST:
        say(f"  … and {len(acts) - MOST:,} more")
