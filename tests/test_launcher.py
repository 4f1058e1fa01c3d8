"""The launcher, run for real in a copy whose locks hold no or one package."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

# One run is enough: nothing here depends on the database.
pytestmark = [pytest.mark.sqlite, pytest.mark.timeout(300), pytest.mark.full]

ROOT = Path(__file__).resolve().parent.parent
OWN_VARIABLES = ("PIP_", "IOA_")
CLEAN_ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(OWN_VARIABLES)}
ABSENT = "ioa-control-absent==1.0 --hash=sha256:" + "0" * 64 + "\n"
CLI = """
import os, sys
print("cli", os.getcwd(), sys.argv[1:])
sys.exit(int(sys.argv[-1]) if sys.argv[-1].isdigit() else 0)
"""
SERVICES = 'import sys; print("tests", sys.argv[1:])'


class Result(NamedTuple):
    code: int
    stdout: str
    stderr: str


class Checkout:
    """A copy of the launcher with stub commands behind it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stamp = folder / ".venv" / ".ioa-lock"
        for package, module, text in (("ioa_site", "cli", CLI), ("tests", "services", SERVICES)):
            (folder / package).mkdir(parents=True)
            (folder / package / "__init__.py").touch()
            (folder / package / f"{module}.py").write_text(text)
        shutil.copy(ROOT / "ioa", folder)
        self.lock("")

    def lock(self, text: str) -> None:
        for name in ("requirements.lock", "requirements-dev.lock"):
            (self.folder / name).write_text(text)

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, variables.pop("program", self.folder / "ioa"), *arguments],
            cwd=variables.pop("cwd", self.folder),
            env=CLEAN_ENVIRONMENT | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, **variables: str) -> Result:
        with self.start(*arguments, **variables) as process:
            stdout, stderr = process.communicate()
        return Result(process.returncode, stdout, stderr)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "a folder with spaces")


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Give a checkout whose environment was made; tests leave it usable."""
    checkout = Checkout(tmp_path_factory.mktemp("started") / "a folder with spaces")
    first = checkout.run("status")
    assert "Preparing" in first.stderr
    assert first.stdout == f"cli {checkout.folder} ['status']\n"
    return checkout


def _sentence(result: Result) -> str:
    """Return the only line a failure may add to the announcements of what is being done."""
    announcements = ("Preparing", "The package index")
    lines = [x for x in result.stderr.splitlines() if not x.startswith(announcements)]
    assert result.code == 1
    assert len(lines) == 1, result.stderr
    return lines[0]


@pytest.mark.quick
def test_a_second_start_does_nothing_but_run_the_command(started: Checkout) -> None:
    before = started.stamp.stat().st_mtime_ns

    result = started.run("apply", "7")

    assert result == Result(7, f"cli {started.folder} ['apply', '7']\n", "")
    assert started.stamp.stat().st_mtime_ns == before


def test_it_works_from_another_folder_and_through_a_link(
    started: Checkout, tmp_path: Path
) -> None:
    link = tmp_path / "linked ioa"
    link.symlink_to(started.folder / "ioa")
    (tmp_path / "ioa_site.py").write_text("raise SystemExit('the wrong module')")

    result = started.run("status", cwd=str(tmp_path), program=str(link))

    assert result == Result(0, f"cli {tmp_path} ['status']\n", "")


@pytest.mark.full
@pytest.mark.parametrize("changed", ["lock", "folder"])
def test_an_environment_that_does_not_fit_is_rebuilt(started: Checkout, changed: str) -> None:
    left_over = started.folder / ".venv" / "lib" / "left-over"
    left_over.touch()
    if changed == "lock":
        started.lock("# changed\n")
    else:
        stamp = started.stamp.read_text()
        started.stamp.write_text(stamp.replace(str(started.folder), "/where/it/was"))

    result = started.run("status")

    assert "Preparing" in result.stderr
    assert result.code == 0
    assert not left_over.exists()


def test_the_tests_add_their_packages_to_the_environment(started: Checkout) -> None:
    lines = started.stamp.read_text().splitlines(keepends=True)
    started.stamp.write_text("".join(x for x in lines if "requirements-dev" not in x))

    tested = started.run("test", "-k", "drift")
    back = started.run("status")

    assert tested.stdout == "tests ['-k', 'drift']\n"
    assert "Preparing" not in tested.stderr
    assert "requirements-dev.lock" in started.stamp.read_text()
    assert back.stderr == ""


@pytest.mark.full
def test_an_interrupted_setup_is_repaired_once_by_two_starts_at_once(
    checkout: Checkout, tmp_path: Path
) -> None:
    environment = {"IOA_VENV": str(tmp_path / "elsewhere")}
    stamp = tmp_path / "elsewhere" / ".ioa-lock"
    with checkout.start("setup", "--dev", **environment) as interrupted:
        assert interrupted.stderr is not None
        assert "Preparing" in interrupted.stderr.readline()
        time.sleep(0.5)
        interrupted.kill()
    assert not stamp.exists()

    with (
        checkout.start("setup", "--dev", **environment) as one,
        checkout.start("setup", "--dev", **environment) as other,
    ):
        said = one.communicate()[1] + other.communicate()[1]

    assert (one.returncode, other.returncode) == (0, 0)
    assert said.count("Preparing") == 1
    assert "requirements-dev.lock" in stamp.read_text()
    assert not (checkout.folder / ".venv").exists()


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_help_installs_nothing(checkout: Checkout, arguments: list[str]) -> None:
    result = checkout.run(*arguments)

    assert result.code == 0
    assert "up --demo" in result.stdout
    assert not (checkout.folder / ".venv").exists()


def test_no_package_index_is_one_sentence(checkout: Checkout) -> None:
    checkout.lock(ABSENT)

    result = checkout.run(
        "up", PIP_CONFIG_FILE=os.devnull, PIP_INDEX_URL="http://127.0.0.1:9/", PIP_RETRIES="1"
    )

    assert "no package index can be reached" in _sentence(result)
    assert not checkout.stamp.exists()


def test_a_package_nobody_has_is_one_sentence(checkout: Checkout) -> None:
    checkout.lock(ABSENT)

    result = checkout.run("up", PIP_CONFIG_FILE=os.devnull, PIP_NO_INDEX="1")

    assert "ioa-control-absent==1.0" in _sentence(result)


def test_a_folder_with_other_files_is_left_alone(checkout: Checkout, tmp_path: Path) -> None:
    precious = tmp_path / "home" / "thesis.txt"
    precious.parent.mkdir()
    precious.touch()

    result = checkout.run("up", IOA_VENV=str(precious.parent))

    assert "holds other files" in _sentence(result)
    assert precious.exists()


def test_a_folder_that_only_looks_like_an_environment_is_left_alone(
    checkout: Checkout, tmp_path: Path
) -> None:
    precious = tmp_path / ".local" / "bin" / "program"
    precious.parent.mkdir(parents=True)
    precious.touch()

    result = checkout.run("up", IOA_VENV=str(tmp_path / ".local"))

    assert "holds other files" in _sentence(result)
    assert precious.exists()


def _contents(folder: Path) -> dict[str, str | bytes | None]:
    """Return everything below a folder, with its bytes or where it leads."""
    return {
        str(path.relative_to(folder)): os.readlink(path)
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else None
        for path in folder.rglob("*")
    }


MARKS = {
    "finished": {".ioa-owner": "root {}\n", ".ioa-lock": "root {}\npython /usr/bin/python3\n"},
    "interrupted": {".ioa-owner": "root {}\n"},
    "finished by an older launcher": {".ioa-lock": "root {}\npython /usr/bin/python3\n"},
    "interrupted under an older launcher": {
        "lib/python3.11/site-packages/ioa-control.pth": "{}\n"
    },
}


def _environment(folder: Path, root: Path, marks: str) -> Path:
    """Lay what a launcher leaves of an environment that it made for a checkout."""
    (folder / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (folder / "lib" / "left-over").touch()
    for name, text in MARKS[marks].items():
        (folder / name).write_text(text.format(root))
    return folder


@pytest.mark.parametrize("marks", MARKS)
@pytest.mark.parametrize("place", ["its own folder", "elsewhere", "below the one that asks"])
def test_the_environment_of_another_checkout_is_left_alone(
    checkout: Checkout, tmp_path: Path, marks: str, place: str
) -> None:
    parent = checkout.folder if place == "below the one that asks" else tmp_path
    other = Checkout(parent / "other")
    folder = tmp_path / "shared" if place == "elsewhere" else other.folder / ".venv"
    _environment(folder, other.folder, marks)
    before = _contents(tmp_path)

    result = checkout.run("up", IOA_VENV=str(folder))

    sentence = _sentence(result)
    assert f"{folder} is the environment of the checkout in {other.folder}:" in sentence
    assert "name another folder in IOA_VENV" in sentence
    assert _contents(tmp_path) == before


def test_a_real_environment_of_another_checkout_is_left_alone(
    started: Checkout, checkout: Checkout
) -> None:
    before = _contents(started.folder)

    result = checkout.run("setup", "--dev", IOA_VENV=str(started.folder / ".venv"))

    assert str(started.folder) in _sentence(result)
    assert _contents(started.folder) == before
    assert started.run("status").stderr == ""


@pytest.mark.parametrize("named", [True, False])
def test_an_environment_made_by_hand_is_left_alone(
    checkout: Checkout, tmp_path: Path, named: bool
) -> None:
    folder = tmp_path / "by hand" if named else checkout.folder / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    before = _contents(tmp_path)

    result = checkout.run("up", **({"IOA_VENV": str(folder)} if named else {}))

    assert f"{folder} is an environment that ./ioa did not make: remove it" in _sentence(result)
    assert _contents(tmp_path) == before


@pytest.mark.parametrize("marks", ["interrupted", "interrupted under an older launcher"])
def test_an_interrupted_preparation_is_finished_by_the_next_start(
    checkout: Checkout, tmp_path: Path, marks: str
) -> None:
    folder = _environment(tmp_path / "elsewhere", checkout.folder, marks)

    result = checkout.run("status", IOA_VENV=str(folder))

    assert result.stdout == f"cli {checkout.folder} ['status']\n"
    assert (folder / ".ioa-owner").read_text() == f"root {checkout.folder}\n"
    assert not (folder / "lib" / "left-over").exists()


@pytest.mark.parametrize("how", ["moved", "copied"])
def test_the_environment_that_came_along_with_a_checkout_is_made_anew(
    checkout: Checkout, tmp_path: Path, how: str
) -> None:
    origin = tmp_path / "where it was"
    if how == "copied":
        origin.mkdir()
    folder = _environment(checkout.folder / ".venv", origin, "finished")

    result = checkout.run("status")

    assert result.stdout == f"cli {checkout.folder} ['status']\n"
    assert (folder / ".ioa-owner").read_text() == f"root {checkout.folder}\n"
    assert not (folder / "lib" / "left-over").exists()


def test_a_folder_that_cannot_be_made_is_one_sentence(checkout: Checkout) -> None:
    result = checkout.run("up", IOA_VENV="/proc/nowhere/environment")

    assert "/proc" in _sentence(result)


def test_a_python_without_venv_is_one_sentence(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['ensurepip'] = None")

    result = checkout.run("up", PYTHONPATH=str(tmp_path))

    assert "python3-venv" in _sentence(result)


def test_an_old_python_is_one_sentence(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.version_info = (3, 9, 2)")

    result = checkout.run("up", PYTHONPATH=str(tmp_path))

    assert "Python 3.11 or newer is needed and this is 3.9" in _sentence(result)


def test_an_old_python_can_read_the_launcher() -> None:
    tree = ast.parse((ROOT / "ioa").read_text())

    newer = (ast.JoinedStr, ast.NamedExpr, ast.Match, ast.AnnAssign)
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, newer)] == []


def test_the_tests_run_on_the_versions_that_users_get() -> None:
    pins = re.compile(r"^[\w.-]+==\S+", re.MULTILINE)

    runtime = set(pins.findall((ROOT / "requirements.lock").read_text()))
    development = set(pins.findall((ROOT / "requirements-dev.lock").read_text()))

    assert runtime
    assert runtime <= development
