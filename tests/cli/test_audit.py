"""`ioa audit` proves the ledger and writes it out."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from resources.store import evidence
from resources.tables.models import LedgerEvent
from tests.cli.conftest import Run
from tests.cli.samples import agent, domain, put
from tests.conftest import Clock

# Only committed entries are signed and exported.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def organisation(ioa: Run, tmp_path: Path) -> None:
    """Apply two resources."""
    ioa("apply", "-f", put(tmp_path / "a.yaml", domain(), agent()))


def test_a_whole_ledger_is_proven(ioa: Run, clock: Clock) -> None:
    evidence.checkpoint(clock.now)

    ran = ioa("audit", "verify")

    assert ran.code == 0
    assert ran.out == "The ledger is whole: 2 entries, 2 streams, 1 checkpoint.\n"


def test_each_finding_is_printed(
    ioa: Run, ledger_unprotected: Callable[[], AbstractContextManager[None]]
) -> None:
    with ledger_unprotected():
        LedgerEvent.objects.filter(subject="agent/robin").update(actor="person/mallory")

    ran = ioa("audit", "verify")

    assert ran.code == 1
    assert ran.out.startswith("finding: resource/")
    assert "entry 1 was changed." in ran.out
    assert ran.last.startswith("The ledger was touched: 1 finding in 2 entries")


def test_entries_are_written_as_cloudevents_one_on_each_line(ioa: Run, tmp_path: Path) -> None:
    """F-58"""
    file = tmp_path / "ledger.jsonl"

    to_output = ioa("audit", "export")
    to_file = ioa("audit", "export", "-o", file)

    entries = [json.loads(line) for line in to_output.out.splitlines()]
    assert [each["type"] for each in entries] == ["resource.created", "resource.created"]
    assert all(each["specversion"] == "1.0" for each in entries)
    assert file.read_text(encoding="utf-8") == to_output.out
    assert "Wrote 2 entries" in to_file.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.yaml", "ledger.jsonl"]


def test_an_export_may_begin_later(ioa: Run) -> None:
    first = LedgerEvent.objects.order_by("id").values_list("id", flat=True)[0]

    ran = ioa("audit", "export", "--since", first)

    assert len(ran.out.splitlines()) == 1


def test_a_folder_that_does_not_exist_is_a_sentence(ioa: Run, tmp_path: Path) -> None:
    ran = ioa("audit", "export", "-o", tmp_path / "none" / "ledger.jsonl")

    assert ran.code == 2
    assert "No such file or directory" in ran.err
