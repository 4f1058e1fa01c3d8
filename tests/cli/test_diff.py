"""`ioa diff` shows what apply would change."""

from __future__ import annotations

from pathlib import Path

import pytest

from resources.tables.models import LedgerEvent
from tests.cli.conftest import Run
from tests.cli.samples import agent, domain, put

pytestmark = pytest.mark.django_db


def test_nothing_to_change_is_silence_and_zero(ioa: Run, tmp_path: Path) -> None:
    file = put(tmp_path / "a.yaml", domain(), agent())
    ioa("apply", "-f", file)

    ran = ioa("diff", "-f", file)

    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_something_to_change_is_one_and_nothing_is_written(ioa: Run, tmp_path: Path) -> None:
    ioa("apply", "-f", put(tmp_path / "a.yaml", domain()))
    entries = LedgerEvent.objects.count()

    ran = ioa("diff", "-f", put(tmp_path / "a.yaml", domain(purpose="Other."), agent()))

    assert ran.code == 1
    assert ran.out.splitlines()[:3] == [
        "changed   domain/growth",
        '    ~ spec.purpose: "Win customers." → "Other."',
        "created   agent/robin",
    ]
    assert '    + spec.domain: "growth"\n' in ran.out
    assert LedgerEvent.objects.count() == entries


def test_errors_are_two(ioa: Run, tmp_path: Path) -> None:
    ran = ioa("diff", "-f", put(tmp_path / "a.yaml", domain(), agent(type="sleepy")))

    assert ran.code == 2
    assert "created   domain/growth" in ran.out
    assert "error: " in ran.err
