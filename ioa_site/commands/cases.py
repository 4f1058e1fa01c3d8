"""Play cases drawn from the API's own description against the running product."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ioa_site.commands import Needs, Stop
from ioa_site.server.progress import Bar
from ioa_site.server.terminal import complain, say, shown, table

if TYPE_CHECKING:
    from cases.judging import Finding
    from cases.playing import Tally

HELP = "play cases drawn from the API's description; ends with 1 when an answer breaks it"
EPILOG = """examples:
  ioa cases                                  20,000 cases on each database, about half an hour
  ioa cases --database sqlite --seed 7       the same cases again: a seed draws the same ones
  ioa cases --cases 1500                     a first look; fewer than 20,000 are void

Each database gets a product of its own with the example organisation at work, started for the run
and deleted after it. Cases that fit the description and cases that do not are sent by an
administrator, a manager, an agent, an outside controller, somebody with a forged token and nobody,
most of them about things that are there. No answer may be a server error, have a status, a type, a
header or a shape that is not described, or refuse without a sentence; and what is refused leaves
nothing in the ledger. Ends with 1 on any finding, with 2 when the run is void."""
NEEDS: Needs = "nothing"
DATABASES = ("sqlite", "postgres")
ENOUGH = 20_000
VOID = 2
HEADS = ("operation", "cases")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("--database", choices=(*DATABASES, "both"), default="both")
    parser.add_argument(
        "--cases", type=int, default=ENOUGH, metavar="N", help="on each database (%(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="S", help="which cases are drawn (%(default)s)"
    )
    parser.add_argument(
        "--callers", type=int, default=4, metavar="N", help="cases at once (%(default)s)"
    )


def run(options: argparse.Namespace) -> int:
    """Play on each database, and say what was found."""
    try:
        from cases import running
    except ModuleNotFoundError:
        raise Stop(
            "Cases are part of a clone: `./ioa setup --dev` brings what they need."
        ) from None
    chosen = DATABASES if options.database == "both" else (options.database,)
    plan, codes = running.Plan(options.cases, options.seed, options.callers), set()
    for name in chosen:
        bar = Bar(forced=True)
        try:
            tally = running.run(name, plan, bar, show)
        except running.Unavailable as reason:
            complain(f"{name} was NOT looked at: {reason}")
            codes.add(VOID)
            continue
        finally:
            bar.clear()
        codes.add(told(name, tally, options.seed))
    return 1 if 1 in codes else max(codes)


def show(finding: Finding) -> None:
    """Print a finding as soon as there is one, with the call that shows it."""
    say(f"FOUND {finding.operation}: {finding.title}")
    for line in f"{finding.detail}\n{finding.example}".splitlines():
        say(f"  {shown(line, 2_000)}")
    sys.stdout.flush()


def told(name: str, tally: Tally, seed: int) -> int:
    """Print what came of one database, and return the code it ends with."""
    for line in table([(each, f"{times:,}") for each, times in tally.operations.items()], HEADS):
        say(line)
    for finding in tally.findings.values():
        say(f"FOUND {finding.times} times: {finding.operation}: {finding.title}")
    for counts in (tally.classes, tally.modes, tally.callers):
        say(", ".join(f"{each} {times:,}" for each, times in counts.items()))
    untouched = [each for each, times in tally.operations.items() if not times]
    say(
        f"{name}: {tally.cases:,} cases of {len(tally.operations)} operations (seed {seed}),"
        f" {len(tally.findings)} findings"
    )
    if tally.findings:
        return 1
    if tally.cases < ENOUGH or untouched:
        say(f"VOID: only {ENOUGH:,} cases and more, of every operation, are a proof.")
        return VOID
    return 0
