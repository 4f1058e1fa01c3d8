"""Governance: compliance, and whether a person can step in, and in time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings

from controllers.engine.targets.governance import DRILL_EVERY, TARGET
from controllers.engine.terms import Document, Snapshot
from tests.engine.targets.judging import (
    A_MOMENT,
    NOW,
    damaged,
    drift_of,
    example,
    holds_for_any_document,
    observed,
    resource,
    steps_of,
    words,
)
from tests.tiers import examples

PATHS = [
    {"level": 2, "role": "finance-lead", "channel": "pagerduty"},
    {"level": 1, "role": "bookkeeper", "channel": "slack-finance"},
]
FINANCE = example("Governance", "finance-governance")
ASKED = "2026-11-16T00:25:00Z"
VALUES = [
    *("compliant", "non-compliant", "under-review", "10m", "0s", "level-1", "1"),
    *("2026-11-03T10:00:00Z", "2026-10-01", ASKED, 1, 2.0),
]


def governance(default: str = "level-1", **status: Any) -> Snapshot:
    spec = {
        "domain": "finance",
        "compliance": {"standards": ["GDPR", "PSD2"]},
        "escalation": {"paths": PATHS, "defaultPath": default},
        "humanOverride": {"enabled": True, "channels": ["dashboard"], "maxResponseTime": "10m"},
    }
    return Snapshot(resource("Governance", "finance-governance", spec, status))


@pytest.mark.parametrize(
    ("reported", "word"),
    [("compliant", "True"), ("non-compliant", "False"), ("under-review", "Unknown")],
)
def test_compliance_is_as_reported(reported: str, word: str) -> None:
    found = observed(TARGET, governance(complianceStatus=reported), "Compliant")
    assert found.status == word
    assert found.message == f"Reported {reported} for GDPR and PSD2."


def test_compliance_nobody_reports_is_not_judged() -> None:
    assert "Compliant" not in words(TARGET, governance())


def test_the_way_to_step_in_is_to_be_tried_every_month() -> None:
    tested = governance(lastOverrideTest="2026-10-16T00:30:00Z")
    assert NOW - datetime(2026, 10, 16, 0, 30, tzinfo=UTC) == DRILL_EVERY
    assert words(TARGET, tested, NOW - A_MOMENT)["OverrideTested"] == "True"
    assert words(TARGET, tested)["OverrideTested"] == "False"
    assert TARGET.recheck(tested, NOW - A_MOMENT) == NOW
    assert TARGET.recheck(tested, NOW) is None


def test_a_way_to_step_in_that_was_never_tried_is_unknown() -> None:
    assert words(TARGET, governance()) == {"OverrideTested": "Unknown"}


@pytest.mark.parametrize("override", [None, {"enabled": False}])
def test_without_a_way_to_step_in_there_is_nothing_to_try(override: Document | None) -> None:
    spec = {"domain": "finance", "humanOverride": override}
    snapshot = Snapshot(resource("Governance", "g", spec))
    assert words(TARGET, snapshot) == {}
    assert drift_of(TARGET, snapshot).score is None


def test_a_request_to_step_in_may_wait_only_so_long() -> None:
    waiting = governance(oldestOpenOverrideRequest="2026-11-16T00:20:00Z")
    assert words(TARGET, waiting, NOW - A_MOMENT)["OverrideResponsive"] == "True"
    late = observed(TARGET, waiting, "OverrideResponsive")
    assert late.status == "False"
    assert "2026-11-16T00:20:00Z, limit 10m" in late.message
    assert TARGET.recheck(waiting, NOW - timedelta(minutes=3)) == NOW
    assert "OverrideResponsive" not in words(TARGET, governance())


@pytest.mark.parametrize(
    ("default", "role"),
    [
        ("level-2", "finance-lead"),
        ("2", "finance-lead"),
        ("finance-lead", "finance-lead"),
        ("level-1", "bookkeeper"),
        ("nobody", "bookkeeper"),
    ],
)
def test_an_escalation_starts_at_the_default_path_or_the_lowest(default: str, role: str) -> None:
    """I-20"""
    (step,) = steps_of(TARGET, governance(default, complianceStatus="non-compliant"))
    assert (step.operation, step.kind) == ("escalate", "notify")
    assert step.parameters["role"] == role
    assert step.why == "finance-governance: Reported non-compliant for GDPR and PSD2."


def test_an_overdue_test_asks_for_a_drill() -> None:
    (step,) = steps_of(TARGET, governance(lastOverrideTest="2026-09-01T00:00:00Z"))
    assert (step.operation, step.kind) == ("run-override-drill", "notify")
    assert step.parameters["channels"] == ["dashboard"]
    assert "2026-09-01" in step.why


def test_governance_in_order_needs_nothing() -> None:
    fine = governance(complianceStatus="compliant", lastOverrideTest="2026-11-03T10:00:00Z")
    assert steps_of(TARGET, fine) == []


def test_the_finance_governance_of_the_example_is_under_review() -> None:
    snapshot = Snapshot(example("Governance", "finance-governance"))
    assert words(TARGET, snapshot) == {"Compliant": "Unknown", "OverrideTested": "True"}
    assert drift_of(TARGET, snapshot).score == 0


def test_what_is_wrong_is_told_with_its_date() -> None:
    late = governance(lastOverrideTest="2026-09-01T00:00:00Z", complianceStatus="compliant")
    said = TARGET.explain(late, drift_of(TARGET, late))
    assert "Last tested at 2026-09-01T00:00:00Z, to be tested every 31 days" in said


@settings(max_examples=examples(150), deadline=None)
@given(damaged(FINANCE.spec, {**FINANCE.status, "oldestOpenOverrideRequest": ASKED}, *VALUES))
def test_any_governance_is_judged(document: Document) -> None:
    target = FINANCE._replace(spec=document["spec"], status=document["status"])
    holds_for_any_document(TARGET, Snapshot(target))
