"""What the product is made of, and what it promises: written down, and held against the code."""

from __future__ import annotations

import ast
import csv
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.sqlite

ROOT = Path(__file__).resolve().parent.parent.parent
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
REQUIREMENT = re.compile(r"\d{1,2}\.\d\.\d{1,2}")
MET = ("yes", "partly", "no")
FIELDS = ["requirement", "level", "about", "met", "test", "note"]


@pytest.fixture(scope="module")
def inventory() -> dict[str, Any]:
    ran = subprocess.run(
        [str(ROOT / "deploy" / "sbom.sh")], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_the_inventory_names_every_pinned_package_with_its_digests(
    inventory: dict[str, Any],
) -> None:
    pinned = set(re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", LOCK, re.MULTILINE))

    listed = {(each["name"], each["version"]) for each in inventory["components"]}

    assert {name for name, _ in listed} == {re.sub(r"[-_.]+", "-", n).lower() for n, _ in pinned}
    assert len(listed) == len(pinned) > 60
    digests = {each["content"] for part in inventory["components"] for each in part["hashes"]}
    assert digests == set(re.findall(r"sha256:([0-9a-f]{64})", LOCK))
    assert all(part["hashes"] for part in inventory["components"])


def test_the_inventory_is_cyclonedx_and_the_same_each_time(inventory: dict[str, Any]) -> None:
    assert (inventory["bomFormat"], inventory["specVersion"]) == ("CycloneDX", "1.6")
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", inventory["serialNumber"])
    refs = [each["bom-ref"] for each in inventory["components"]]
    assert len(refs) == len(set(refs))
    assert inventory["dependencies"][0]["dependsOn"] == refs
    again = subprocess.run(
        [str(ROOT / "deploy" / "sbom.sh")], capture_output=True, text=True, check=True
    )
    assert json.loads(again.stdout) == inventory


def test_neither_lock_names_where_packages_come_from() -> None:
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "://" not in text
        assert "--index" not in text


def rows() -> list[dict[str, str]]:
    with (ROOT / "docs" / "asvs.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        assert reader.fieldnames == FIELDS
        return list(reader)


def functions_in(path: Path) -> set[str]:
    """Return the names of what a file defines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}


def test_every_row_of_the_checklist_names_a_test_that_exists() -> None:
    missing = []
    for row in rows():
        for name in filter(None, row["test"].split(" ")):
            path, _, test = name.partition("::")
            if not (ROOT / path).exists() or test not in functions_in(ROOT / path):
                missing.append(f"{row['requirement']} {name}")

    assert missing == []


def test_the_checklist_is_honest_and_whole() -> None:
    found = rows()

    assert len(found) >= 90
    assert len({row["requirement"] for row in found}) == len(found)
    for row in found:
        assert REQUIREMENT.fullmatch(row["requirement"]), row
        assert row["level"] in ("1", "2"), row
        assert row["met"] in MET, row
        assert row["about"], row
        # What is met is shown by a test; what is not is explained.
        assert row["test"] if row["met"] == "yes" else row["note"], row
