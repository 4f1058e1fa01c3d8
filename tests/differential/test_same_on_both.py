"""The same commands on SQLite and on PostgreSQL have the same answers and leave the same rows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.browsing.stage import servers
from tests.differential.commands import commands
from tests.journeys.product import ROOT
from tests.tiers import examples, quick_first

pytestmark = [pytest.mark.postgres, pytest.mark.timeout(900)]


class Player:
    """A process that plays commands on its own database."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def hear(self) -> Any:
        """Return its next answer."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "The player ended."
        return orjson.loads(line)

    def play(self, command: Mapping[str, Any]) -> Any:
        """Let it play one command."""
        self.tell(command)
        return self.hear()

    def tell(self, command: Mapping[str, Any]) -> None:
        """Give it a command."""
        assert self.process.stdin is not None
        self.process.stdin.write(orjson.dumps(command) + b"\n")
        self.process.stdin.flush()


@contextmanager
def playing(data: Path, given: Mapping[str, str]) -> Iterator[Player]:
    """Start a player, on SQLite unless a database is given."""
    left_out = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    own = {"IOA_DATA_DIR": str(data), "IOA_API_RATE": "1000000", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.differential.player"]
    with subprocess.Popen(
        command,
        env={**kept, **own, **given},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        try:
            yield Player(process)
        finally:
            process.kill()


def compare(seed: int, count: int, folder: Path) -> None:
    """Play random commands on both and hold every answer against the other."""
    with (
        servers() as given,
        playing(folder / "embedded", {}) as embedded,
        playing(folder / "scaled", {"DATABASE_URL": given["DATABASE_URL"]}) as scaled,
    ):
        agents = embedded.hear()
        assert scaled.hear() == agents
        endings = [{"do": "states"}, {"do": "ledger"}]
        for number, command in enumerate([*commands(seed, count, agents), *endings]):
            for player in (embedded, scaled):
                player.tell(command)
            first, second = embedded.hear(), scaled.hear()
            assert first == second, f"seed {seed}, command {number}: {command}"


@pytest.mark.parametrize("seed", quick_first([1, 2, 3]))
def test_the_same_commands_have_the_same_answers_states_and_ledger(
    seed: int, tmp_path: Path
) -> None:
    compare(seed, examples(150), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_so_do_many_more(seed: int, tmp_path: Path) -> None:
    compare(seed, 500, tmp_path)
