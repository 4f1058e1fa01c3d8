"""`ioa drill` tries on the live system whether a pause stops an effect."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from controllers.engine import gate
from controllers.models import Drill, Hold
from tests.cli.conftest import Run
from tests.resources.making import apply, live, made

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def rules() -> None:
    """A domain and who steps in there."""
    spec = {"domain": "growth"}
    documents = made("Domain", "growth"), made("Governance", "rules", spec)
    assert apply(datetime.now(UTC), *documents).written


def test_a_drill_is_run_and_printed(ioa: Run) -> None:
    """I-97 One command tries the way to step in, and the last test moves."""
    ran = ioa("drill", "rules")

    assert ran.code == 0
    assert "governance/rules: passed" in ran.out
    assert "was refused" in ran.out
    assert live("Governance", "rules").status["lastOverrideTest"]
    assert not Hold.objects.filter(ended_at=None).exists()


def test_a_drill_that_fails_ends_with_one(ioa: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "GUARDS", gate.GUARDS[4:])

    ran = ioa("drill", "--all")

    assert ran.code == 1
    assert "although its controller was paused" in ran.err
    assert Drill.objects.get().state == "failed"


def test_a_governance_that_is_not_there_is_named(ioa: Run) -> None:
    ran = ioa("drill", "nothing")

    assert (ran.code, "There is no governance/nothing." in ran.err) == (1, True)
