"""A new answer, or a new operation, is one file: nothing else has to be touched."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import tiers

pytestmark = [pytest.mark.sqlite, pytest.mark.timeout(600), pytest.mark.full]

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("controllers", "resources", "ioa_site", "ioa_client", "ioa_mcp", "templates", "static")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.png", "*.pyc")
# Tests of the checkout that go through whatever answers and operations there are.
ANSWERS = (
    "tests/decisions/test_lifecycle.py::test_the_states_and_verbs_are_those_of_the_specification",
    "tests/decisions/test_lifecycle.py::test_what_is_closed_only_ever_opens_to_be_undone",
    "tests/web/test_deciding_pages.py::test_every_form_that_is_offered_can_be_opened",
    "tests/reference/test_pages.py::test_every_event_has_a_payload_that_is_known",
    "tests/reference/test_pages.py::test_every_kind_command_and_event_has_its_place",
    "tests/api/test_description.py",
)
OPERATIONS = (
    "tests/decisions/test_catalogue.py",
    "tests/api/test_description.py",
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy the checkout, without what has been made of it."""
    for name in (*PARTS, "tests", "docs", "deploy"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=LEFT_OUT)
    for name in ("pyproject.toml", "manage.py", "README.md", "CHANGELOG.md", "ioa"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def run(folder: Path, *command: str) -> str:
    """Run Python in the copy; what fails says why."""
    # What the run that this is a part of has set is not meant for another.
    of_this_run = ("PYTEST", tiers.VARIABLE)
    known = {key: value for key, value in os.environ.items() if not key.startswith(of_this_run)}
    found = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=known | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, f"{found.stdout[-6000:]}\n{found.stderr[-3000:]}"
    return found.stdout


def played(folder: Path, names: Sequence[str]) -> str:
    """Run tests in the copy."""
    return run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *names)


def pages(folder: Path) -> dict[str, str]:
    """Make the pages of the reference in the copy, and read them."""
    run(folder, "-m", "tests.catalogue")
    found = [*(folder / "docs" / "reference").glob("*.md"), folder / "docs" / "operations.md"]
    return {each.name: each.read_text(encoding="utf-8") for each in found}


def test_a_new_answer_is_a_new_file(copy: Path) -> None:
    here = Path(__file__).with_name("acknowledge.py")
    shutil.copy(here, copy / "controllers" / "decisions" / "answers")

    written = pages(copy)
    said = played(copy, ["tests/exercises/acknowledge_seen.py", *ANSWERS])

    assert "\n## acknowledge\n" in written["answers.md"]
    assert "| `proposal.acknowledged` | acknowledged [it] |" in written["events.md"]
    assert " passed" in said
    assert " skipped" not in said


@pytest.mark.quick
def test_a_new_operation_is_a_new_file(copy: Path) -> None:
    here = Path(__file__).with_name("cap_tokens.py")
    shutil.copy(here, copy / "controllers" / "operations" / "catalogue")

    written = pages(copy)
    said = played(copy, ["tests/exercises/cap_tokens_seen.py", *OPERATIONS])

    assert (
        "| `cap-tokens` | Sets the daily tokens of an agent to a number. |"
        in (written["operations.md"])
    )
    assert " passed" in said
    assert " skipped" not in said
