"""Run `ioa` inside the test, or as its own process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ioa_site.cli import main

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The last line of the answer."""
        return self.out.rstrip().splitlines()[-1]


Run = Callable[..., Ran]


@pytest.fixture
def ioa(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a way to run `ioa` in this process."""

    def run(*arguments: object) -> Ran:
        capsys.readouterr()
        code = main([str(each) for each in arguments])
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return run


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which `ioa` has an SQLite file of its own."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return kept | {"IOA_DATA_DIR": str(tmp_path / "data"), "PYTHONPATH": str(ROOT)}


@pytest.fixture
def ioa_process(environment: dict[str, str]) -> Run:
    """Return a way to run `ioa` as its own process."""

    def run(*arguments: object, before: str = "", **extra: str) -> Ran:
        program = [sys.executable, "-P", "-m", "ioa_site.cli"]
        if before:
            script = f"{before}\nfrom ioa_site.cli import main\nraise SystemExit(main())"
            program = [sys.executable, "-c", script]
        done = subprocess.run(
            [*program, *map(str, arguments)],
            env=environment | extra,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run
