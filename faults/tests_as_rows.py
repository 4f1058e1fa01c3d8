"""Rows that a test shows already: it is run by its name, and what passed is counted."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from faults.run import Run
from tests.journeys.product import ROOT

PATIENCE = 1_800


def by_tests(
    database: str, quick: tuple[str, ...], thorough: tuple[str, ...] = ()
) -> Callable[[Run], None]:
    """Return what runs tests by their names; `thorough` are run in place of the quick ones."""

    def act(run: Run) -> None:
        names = quick if run.quick else (thorough or quick)
        absent = [each for each in names if not Path(ROOT, each.partition("::")[0]).exists()]
        if absent:
            run.missing = f"{absent[0]} is not built."
            return
        judge(run, database, names)

    return act


def judge(run: Run, database: str, names: tuple[str, ...]) -> None:
    """Run tests, and count those that passed."""
    command = [sys.executable, "-m", "tests.services", "--only", database, *names]
    command += ["-n", "0", "-q", "-p", "no:randomly", "-m", "slow or not slow"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    found = re.search(r"(\d+) passed", done.stdout)
    run.strike(int(found[1]) if found else 0)
    if done.returncode:
        lines = [each for each in done.stdout.splitlines() if each.startswith(("FAILED", "ERROR"))]
        run.breach(f"{', '.join(names)} fails: {' '.join(lines)[:300] or done.stderr[-300:]}")
    run.done = f"{run.faults} tests passed: {', '.join(names)}"
