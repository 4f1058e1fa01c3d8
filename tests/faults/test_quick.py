"""The most telling faults, for seconds: killed workers, an empty Redis, restarts of everything."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.product import ROOT
from tests.tiers import quick_first

# It brings its own servers, whichever database the tests run on.
pytestmark = [pytest.mark.product, pytest.mark.sqlite, pytest.mark.timeout(1_200)]

VOID = 2


def broken(file: Path, rows: str) -> subprocess.CompletedProcess[str]:
    """Run some rows."""
    command = [sys.executable, "-P", "-m", "ioa_site.cli", "faults", "--quick"]
    return subprocess.run(
        [*command, "--only", rows, "--json", str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("names", quick_first(["F4", "F6,F15,F1"]))
def test_the_product_keeps_its_promises_while_everything_breaks(
    tmp_path: Path, names: str
) -> None:
    """F1 F4 F6 F15"""
    file = tmp_path / "faults.json"
    done = broken(file, names)
    if done.returncode == VOID:
        # The machine had other things to do, so that nothing was shown either way.
        done = broken(file, names)

    rows = json.loads(file.read_text())["rows"] if file.exists() else []
    assert done.returncode == 0, (done.stdout[-3_000:], done.stderr[-3_000:])
    assert [each["verdict"] for each in rows] == ["green"] * len(names.split(","))
