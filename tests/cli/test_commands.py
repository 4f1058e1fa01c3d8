"""The program as a whole: help, versions, suggestions, and quiet ends."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ioa_site import cli
from ioa_site.version import VERSION
from tests.cli.conftest import Run
from tests.cli.samples import domain, put

pytestmark = pytest.mark.sqlite

CHANGELOG = Path(__file__).resolve().parent.parent.parent / "CHANGELOG.md"


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",), ("help",)])
def test_help_lists_every_command_with_what_it_does(ioa: Run, arguments: tuple[str, ...]) -> None:
    ran = ioa(*arguments)

    assert ran.code == 0
    for name in cli.names():
        assert f"\n  {name} " in ran.out
    assert "ioa apply -f org/" in ran.out


@pytest.mark.parametrize("name", cli.names())
def test_every_command_explains_itself_with_examples(ioa: Run, name: str) -> None:
    ran = ioa(name, "--help")

    assert ran.code == 0
    assert ran.out.startswith(f"usage: ioa {name}")
    assert f"  ioa {name}" in ran.out.split("examples:")[1]


def test_help_about_a_command_is_its_help(ioa: Run) -> None:
    assert ioa("help", "apply").out == ioa("apply", "--help").out


def test_the_version_is_the_changelogs(ioa: Run) -> None:
    newest = re.search(r"^## v(\S+)", CHANGELOG.read_text(encoding="utf-8"), re.MULTILINE)

    assert newest is not None
    assert ioa("--version").out == f"ioa {VERSION}\n" == f"ioa {newest[1]}\n"


def test_an_unknown_command_suggests_the_nearest(ioa: Run) -> None:
    ran = ioa("aply", "-f", "x")

    assert ran.code == 2
    assert ran.out == ""
    assert "Did you mean apply?" in ran.err


def test_a_wrong_option_ends_with_the_usage(ioa: Run) -> None:
    ran = ioa("apply", "--nonsense")

    assert ran.code == 2
    assert "usage: ioa apply" in ran.err


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("IOA_DEBUG", "perhaps", "IOA_DEBUG must be true or false"),
        ("IOA_NONSENSE", "1", "IOA_NONSENSE is not a variable"),
        ("DATABASE_URL", "mysql://x", "DATABASE_URL must begin with"),
        ("DATABASE_URL", "postgres://nobody@127.0.0.1:1/none", "The database cannot be used: "),
        ("DATABASE_URL", "sqlite:////proc/none/x.sqlite3", "/proc/none"),
    ],
)
def test_a_wrong_setting_is_one_sentence(
    ioa_process: Run, name: str, value: str, expected: str
) -> None:
    ran = ioa_process("status", **{name: value})

    assert ran.code == 2
    assert expected in ran.err
    assert len(ran.err.strip().splitlines()) == 1
    assert "Traceback" not in ran.err


def test_the_first_command_makes_the_database_and_the_second_finds_it(
    ioa_process: Run, tmp_path: Path
) -> None:
    file = put(tmp_path / "a.yaml", domain())

    first = ioa_process("apply", "-f", file)
    second = ioa_process("apply", "-f", file)

    assert (first.code, second.code) == (0, 0)
    assert "Made the database" in first.err
    assert first.last.startswith("1 document: 1 created")
    assert second.err == ""
    assert second.last.startswith("1 document: 0 created, 0 changed, 1 unchanged")


def test_help_works_without_settings(ioa_process: Run, tmp_path: Path) -> None:
    ran = ioa_process("apply", "--help", DATABASE_URL="nonsense")

    assert ran.code == 0
    assert not (tmp_path / "data").exists()


@pytest.mark.full
def test_a_closed_pipe_ends_quietly(
    ioa_process: Run, environment: dict[str, str], tmp_path: Path
) -> None:
    many = [domain(f"domain-{number}") for number in range(400)]
    put(tmp_path / "many.yaml", *many)
    ioa_process("apply", "-f", tmp_path / "many.yaml")
    command = f"{sys.executable} -m ioa_site.cli get domains -o yaml | head -1"

    done = subprocess.run(
        ["/bin/bash", "-c", f"set -o pipefail; {command}"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.stdout == "apiVersion: ioa.dev/v0.2\n"
    assert done.stderr == ""
    assert done.returncode == cli.PIPE_CLOSED


def test_an_interrupt_ends_quietly(environment: dict[str, str]) -> None:
    program = [sys.executable, "-m", "ioa_site.cli", "validate", "-"]
    with subprocess.Popen(
        program, env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        wait_until_reading(process.pid)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=20)

    assert process.returncode == 130
    assert complaint == b""


def wait_until_reading(pid: int) -> None:
    """Wait until a process sleeps in a read from its pipe."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        call = Path(f"/proc/{pid}/wchan").read_text(encoding="ascii")
        if "pipe" in call:
            return
        time.sleep(0.05)
    pytest.skip("This system does not tell what a process waits for.")
