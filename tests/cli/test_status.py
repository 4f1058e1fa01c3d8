"""`ioa status` tells what there is, what is bad and what is signed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from resources.store import evidence
from tests.cli.conftest import Run
from tests.cli.samples import agent, domain, put
from tests.conftest import Clock

pytestmark = pytest.mark.django_db


def unwell(name: str, kind: str = "Ready", status: str = "False") -> dict[str, object]:
    condition = {"type": kind, "status": status, "message": "Seen."}
    return agent(name, status={"conditions": [condition]})


def test_an_empty_store_says_how_to_begin(ioa: Run) -> None:
    ran = ioa("status")

    assert ran.code == 0
    assert ran.out.startswith("0 resources\n  Apply some with `ioa apply -f FOLDER`.\n")


def test_counts_are_given_for_each_kind(ioa: Run, tmp_path: Path) -> None:
    ioa("apply", "-f", put(tmp_path / "a.yaml", domain(), agent("ann"), agent("bob")))

    ran = ioa("status")

    assert [line.split() for line in ran.out.splitlines()[:3]] == [
        ["3", "resources"],
        ["Domain", "1"],
        ["Agent", "2"],
    ]


@pytest.mark.parametrize(
    ("type_", "status", "bad"),
    [
        ("Ready", "False", True),
        ("Ready", "True", False),
        ("Ready", "Unknown", False),
        ("Degraded", "True", True),
        ("Degraded", "False", False),
        ("acme.example/Happy", "False", True),
    ],
)
def test_a_condition_is_bad_by_its_own_polarity(
    ioa: Run, tmp_path: Path, type_: str, status: str, bad: bool
) -> None:
    ioa("apply", "-f", put(tmp_path / "a.yaml", domain(), unwell("ann", type_, status)))

    ran = ioa("status")

    assert (f"agent/ann {type_}={status}: Seen." in ran.out) == bad
    assert ("-\n" not in ioa("get", "agents").out) == bad


def test_names_that_are_missing_are_listed(ioa: Run, tmp_path: Path) -> None:
    ioa("apply", "-f", put(tmp_path / "a.yaml", agent()))

    ran = ioa("status")

    assert "1 resource names something missing\n  agent/robin" in ran.out
    assert "Missing: domain/growth." in ran.out
    assert "No conditions in a bad state" in ran.out


def test_many_are_cut_unless_asked_for(ioa: Run, tmp_path: Path) -> None:
    many = [unwell(f"agent-{number}") for number in range(25)]
    ioa("apply", "-f", put(tmp_path / "a.yaml", domain(), *many))

    short, whole = ioa("status"), ioa("status", "-v")

    assert "25 conditions in a bad state" in short.out
    assert "… and 5 more (-v lists all)" in short.out
    assert whole.out.count("Ready=False") == 25


@pytest.mark.django_db(transaction=True)
def test_the_ledger_and_its_checkpoint_are_shown(ioa: Run, tmp_path: Path, clock: Clock) -> None:
    ioa("apply", "-f", put(tmp_path / "a.yaml", domain()))
    before = ioa("status")
    evidence.checkpoint(clock.now)
    ioa("apply", "-f", put(tmp_path / "a.yaml", domain(), agent()))

    after = ioa("status")

    assert "Ledger: 1 entry in 1 stream" in before.out
    assert "No checkpoint yet" in before.out
    assert "Ledger: 2 entries in 2 streams" in after.out
    assert "Checkpoint 1, " in after.out
    assert "1 entry not signed yet" in after.out


def test_scripts_get_json(ioa: Run, tmp_path: Path) -> None:
    ioa("apply", "-f", put(tmp_path / "a.yaml", agent()))

    found = json.loads(ioa("status", "-o", "json").out)

    assert found["counts"]["Agent"] == 1
    assert found["dangling"]["total"] == 1
    assert found["ledger"]["events"] == 1


def test_the_number_of_queries_does_not_grow(ioa: Run, tmp_path: Path) -> None:
    def queries(count: int) -> int:
        many = [unwell(f"agent-{number}") for number in range(count)]
        ioa("apply", "-f", put(tmp_path / "a.yaml", domain(), *many))
        with CaptureQueriesContext(connection) as captured:
            ioa("status")
        return len(captured)

    assert queries(3) == queries(60)
