"""Ten thousand documents: one command, a progress bar, and nothing written the second time."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db.models import Max

from resources.documents import files
from resources.tables.models import LedgerEvent, Resource
from tests.cli.conftest import Run
from tests.cli.samples import agent, domain

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite, pytest.mark.full]

COUNT = 10_000
DOMAINS = 20


@pytest.fixture
def large_folder(tmp_path: Path) -> Path:
    """Write ten thousand documents into files of a hundred."""
    folder = tmp_path / "org"
    folder.mkdir()
    domains = [domain(f"domain-{number}") for number in range(DOMAINS)]
    agents = [
        agent(f"agent-{number}", domain=f"domain-{number % DOMAINS}")
        for number in range(COUNT - DOMAINS)
    ]
    everything = domains + agents
    for start in range(0, COUNT, 100):
        text = files.dump_all(everything[start : start + 100], "yaml")
        (folder / f"{start:05}.yaml").write_text(text, encoding="utf-8")
    return folder


def mark() -> tuple[int, int | None]:
    """Return what would move if anything were written."""
    newest = Resource.objects.aggregate(newest=Max("resource_version"))["newest"]
    return LedgerEvent.objects.count(), newest


def test_ten_thousand_documents_apply_and_applying_them_again_writes_nothing(
    ioa: Run, large_folder: Path
) -> None:
    first = ioa("apply", "-f", large_folder, "--progress")
    after_first = mark()
    second = ioa("apply", "-f", large_folder)

    assert first.code == 0
    assert "10,000 created" in first.last
    for phase in ("read", "check", "write"):
        assert f"\n{phase}" in f"\n{first.err}"
    assert "check  [########################] 10,000 of 10,000" in first.err
    assert after_first[0] == COUNT
    assert "0 created, 0 changed, 10,000 unchanged" in second.last
    assert mark() == after_first
