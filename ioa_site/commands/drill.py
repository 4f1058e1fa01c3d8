"""Try whether people can still step in."""

from __future__ import annotations

import argparse
import sys

from ioa_site.commands import Needs
from ioa_site.server.terminal import complain, paint, say, shown

HELP = "try on the live system whether a pause stops an effect"
EPILOG = """examples:
  ioa drill platform-governance        try it now, and print what each step found
  ioa drill --all                      for every Governance

A drill makes a canary, pauses it, tries an effect under the pause, lifts the pause and removes the
canary. It touches nothing else. Only a drill that passed moves status.lastOverrideTest; one that
fails rings. Declare spec.humanOverride.drillEvery, and the loop drills by itself.

Ends with 0 when all passed, or else with 1."""
NEEDS: Needs = "store"
FAILED = 1


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("governance", metavar="GOVERNANCE", nargs="?", help="its name")
    which.add_argument("--all", action="store_true", help="every Governance")


def run(options: argparse.Namespace) -> int:
    """Run the drills, and return the worst of what came of them."""
    from ioa_site.work import drills

    names = drills.everything() if options.all else [options.governance]
    if not names:
        say("There is no Governance.")
    return FAILED if False in [shown_drill(name) for name in names] else 0


def shown_drill(name: str) -> bool:
    """Run one drill and print it; tell whether it passed."""
    from ioa_site.work import drills
    from resources.documents.problems import Problem

    try:
        drill = drills.run(name.removeprefix("governance/"))
    except Problem as problem:
        complain(f"{paint('refused', 'red', sys.stderr)}: {shown(problem.message)}")
        return False
    say(paint(f"{drill}, {drill.governance}: {drill.state}", "bold"))
    for each in drill.evidence:
        say(f"  {each['step']:<11} {shown(each['found'])}")
    if drill.problem:
        complain(f"{paint('error', 'red', sys.stderr)}: {shown(drill.problem)}")
    return drill.state == drill.State.PASSED
