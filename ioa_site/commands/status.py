"""Show the state of the organisation."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ioa_site.commands import Needs
from ioa_site.server.terminal import Colour, counted, paint, say, shown

if TYPE_CHECKING:
    from ioa_site.work.overview import Ledger, Listing

HELP = "show what there is, what is in a bad state and how far the ledger is signed"
EPILOG = """examples:
  ioa status
  ioa status -v          every condition in a bad state, not only the first
  ioa status -o json     for scripts"""
NEEDS: Needs = "store"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("-v", "--verbose", action="store_true", help="list everything")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text")


def run(options: argparse.Namespace) -> int:
    """Print the state."""
    from dataclasses import asdict

    from ioa_site.work import overview
    from resources.documents.files import as_json

    found = overview.look(everything=options.verbose)
    if options.output == "json":
        say(as_json(asdict(found)).rstrip())
        return 0
    print_counts(found.counts)
    print_listing(found.bad, "condition in a bad state", "conditions in a bad state", "yellow")
    print_listing(
        found.dangling, "resource names something missing", "resources name something missing"
    )
    print_ledger(found.ledger)
    return 0


def print_counts(counts: dict[str, int]) -> None:
    """Print how many of each kind there are."""
    say(paint(counted(sum(counts.values()), "resource"), "bold"))
    for name, count in counts.items():
        if count:
            say(f"  {name:<15} {count:>8,}")
    if not any(counts.values()):
        say("  Apply some with `ioa apply -f FOLDER`.")


def print_listing(found: Listing, one: str, many: str, colour: Colour = "red") -> None:
    """Print findings, or that there are none."""
    if not found.total:
        say(paint(f"No {many}", "green"))
        return
    say(paint(counted(found.total, one, many), colour))
    for each in found.first:
        detail = f": {shown(each.message)}" if each.message else ""
        say(f"  {shown(each.resource)} {shown(each.condition)}{detail}")
    if found.total > len(found.first):
        say(f"  … and {found.total - len(found.first):,} more (-v lists all)")


def print_ledger(ledger: Ledger) -> None:
    """Print how far the ledger goes and how far it is signed."""
    from ioa_site.work import caller
    from ioa_site.work.names import ago

    now = caller.now()
    last = f", the last {ago(ledger.last_event, now)} ago" if ledger.last_event else ""
    size = f"{counted(ledger.events, 'entry', 'entries')} in {counted(ledger.streams, 'stream')}"
    say(f"Ledger: {size}{last}")
    if ledger.checkpoint_at is None:
        say("No checkpoint yet: `ioa up` signs one every minute")
        return
    age = ago(ledger.checkpoint_at, now)
    unsigned = counted(ledger.unsigned, "entry", "entries")
    say(f"Checkpoint {ledger.checkpoint:,}, {age} ago, {unsigned} not signed yet")
