"""Prove and write out the ledger."""

from __future__ import annotations

import argparse
from pathlib import Path

from ioa_site.commands import Needs
from ioa_site.server.progress import Bar
from ioa_site.server.terminal import complain, counted, paint, say, shown

HELP = "verify the ledger, or write it out as CloudEvents"
EPILOG = """examples:
  ioa audit verify                            prove chains, payloads and checkpoints
  ioa audit export -o ledger.jsonl            one CloudEvents document on each line
  ioa audit export --since 1200 | wc -l       only what came after entry 1200

verify ends with 1 and prints each finding when anything was changed, removed or put in."""
NEEDS: Needs = "store"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("verify", help="prove that nothing was touched")
    export = verbs.add_parser("export", help="write entries as JSON lines")
    export.add_argument("-o", "--output", metavar="FILE", default="-", help="a file (- is stdout)")
    export.add_argument(
        "--since", type=int, default=0, metavar="N", help="only entries with an id above N"
    )
    export.add_argument("--progress", action="store_true", help="show progress off a terminal too")


def run(options: argparse.Namespace) -> int:
    """Do what the verb says."""
    return verify() if options.verb == "verify" else export(options)


def verify() -> int:
    """Print every finding, then the verdict."""
    from resources.store import evidence

    bar = Bar()
    bar("verify", 0)
    verdict = evidence.verify()
    bar.clear()
    for finding in verdict.findings:
        say(f"{paint('finding', 'red')}: {shown(finding)}")
    entries = counted(verdict.events, "entry", "entries")
    size = f"{entries}, {counted(verdict.streams, 'stream')}"
    checked = f"{size}, {counted(verdict.checkpoints, 'checkpoint')}"
    if verdict.ok:
        say(f"{paint('The ledger is whole', 'green')}: {checked}.")
        return 0
    findings = counted(len(verdict.findings), "finding")
    say(f"{paint('The ledger was touched', 'red')}: {findings} in {checked}.")
    return 1


def export(options: argparse.Namespace) -> int:
    """Write the entries."""
    from ioa_site.work import audit

    bar = Bar(forced=options.progress)
    if options.output == "-":
        audit.export_to_output(since=options.since, bar=bar)
        bar.clear()
        return 0
    count = audit.export_to(Path(options.output), since=options.since, bar=bar)
    bar.clear()
    complain(f"Wrote {counted(count, 'entry', 'entries')} to {shown(options.output)}.")
    return 0
