"""Measure what a cycle costs against the least that could do its work."""

from __future__ import annotations

import argparse
import os
import platform
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ioa_site.commands import Needs, Stop
from ioa_site.server.progress import Bar
from ioa_site.server.terminal import complain, say, table

if TYPE_CHECKING:
    from bench.figures import Figure
    from bench.suite import Plan

HELP = "run the benchmark suite; ends with 1 when a figure is beyond where it fails"
EPILOG = """examples:
  ioa bench --quick                     10,000 resources, a few minutes
  ioa bench --json figures.json         everything, for scripts too
  ioa bench --only B1,B3 --database sqlite

Databases are made for the run, in the folder for temporary files (TMPDIR), and deleted after it.
Everything is measured in CPU time of the process and its database, against hand-written floors,
pair by pair in fresh processes. PostgreSQL needs `./ioa setup --dev`, which brings a server."""
NEEDS: Needs = "nothing"
NAMES = tuple(f"B{number}" for number in range(1, 12))
DATABASES = ("sqlite", "postgres")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("--quick", action="store_true", help="only 10,000 resources, 3 pairs")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures here too")
    parser.add_argument("--only", metavar="B1,B3", type=names, help="measure only these figures")
    parser.add_argument("--database", choices=(*DATABASES, "both"), default="both")
    parser.add_argument("--pairs", type=int, metavar="N", help="runs of each kind, 5 unless quick")


def names(text: str) -> frozenset[str]:
    """Read the names of figures."""
    found = frozenset(text.upper().split(","))
    if not found <= set(NAMES):
        raise argparse.ArgumentTypeError(f"known figures are {', '.join(NAMES)}")
    return found


def run(options: argparse.Namespace) -> int:
    """Measure, print the table, and say whether anything fails."""
    try:
        from bench.figures import HEADS, as_document, as_rows
    except ModuleNotFoundError:
        raise Stop("The benchmark is part of a clone, not of an installed package.") from None
    import orjson

    chosen = DATABASES if options.database == "both" else (options.database,)
    machines: list[str] = []
    failures: list[str] = []
    figures = [
        each for name in chosen for each in measure(name, plan_of(options), machines, failures)
    ]
    for line in table(as_rows(figures), HEADS):
        say(line)
    if options.json:
        found = {"machines": machines, "figures": as_document(figures)}
        options.json.write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2) + b"\n")
    for each in failures:
        complain(each)
    return 1 if failures or any(each.verdict == "FAILS" for each in figures) else 0


def plan_of(options: argparse.Namespace) -> Plan:
    """Decide what is measured."""
    from bench.suite import Plan

    figures = options.only or frozenset(NAMES)
    if options.quick:
        small = Plan(
            figures,
            sizes=(10_000,),
            pending=(1_000, 10_000),
            edited=10_000,
            shared=10_000,
            calls=200,
            rounds=5,
            minutes=2.5,
        )
        return replace(small, pairs=options.pairs or 3)
    return Plan(figures, pairs=options.pairs or 5)


def measure(name: str, plan: Plan, machines: list[str], failures: list[str]) -> list[Figure]:
    """Measure one database; one that cannot be measured is said loudly and left out."""
    import tempfile

    from bench.databases import Unavailable, started
    from bench.suite import Suite

    bar = Bar(forced=True)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="ioa-bench-") as folder,
            started(name, Path(folder)) as database,
        ):
            machines.append(machine(database.version))
            say(machines[-1])
            suite = Suite(
                database,
                Path(folder),
                plan,
                lambda what, done, total: bar(f"{name} {what}", done, total),
            )
            figures = list(suite.measure())
            failures.extend(suite.failures)
            return figures
    except Unavailable as reason:
        complain(str(reason))
        return []
    finally:
        bar.clear()


def machine(database: str) -> str:
    """Say where the figures come from."""
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{os.cpu_count()} cores, {python}, {database}; load before the runs {load}"
