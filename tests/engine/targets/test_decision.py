"""Decision Tracker: assumptions and review dates; flag for review, archive."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings

from controllers.engine.targets.decision import TARGET
from controllers.engine.terms import Difference, Document, Snapshot
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
from tests.rows import every_row
from tests.tiers import examples

OFFERS = example("Decision", "dec-106-risk-scored-offers")
VALUES = [
    *("proposed", "accepted", "active", "reversed", "deprecated", "superseded", "archived"),
    *("invalidated", "untested", "-20%", "+4% by luck", "2026-11-15", "2026-11-16"),
]


def decision(phase: str = "active", state: str = "active", **spec: Any) -> Snapshot:
    declared = {"id": "DEC-7", "status": phase, "domain": "growth", "context": "x", **spec}
    return Snapshot(resource("Decision", "dec-7", declared, {"state": state} if state else {}))


def impact(expected: str, actual: str | None) -> Snapshot:
    snapshot = decision(kpiImpact=[{"kpi": "churn", "expected": expected}])
    measured = [{"kpi": "churn", "actual": actual}] if actual is not None else []
    status = {"state": "active", "kpiActualImpact": measured}
    return Snapshot(snapshot.target._replace(status=status))


def test_a_review_is_current_until_its_day_is_over() -> None:
    """I-79"""
    due, over = decision(reviewDate="2026-11-30"), datetime(2026, 12, 1, tzinfo=UTC)
    assert words(TARGET, due, over - A_MOMENT)["ReviewCurrent"] == "True"
    assert words(TARGET, due, over)["ReviewCurrent"] == "False"
    assert TARGET.recheck(due, NOW) == over
    assert TARGET.recheck(due, over) is None


def test_a_passed_review_is_staleness() -> None:
    """I-103"""
    late = decision(reviewDate="2026-10-01")
    note = "Its review was due on 2026-10-01, and it is still active."
    assert TARGET.fields(late, NOW) == [
        Difference("spec.reviewDate", "2026-10-01", None, "stale", note)
    ]
    assert observed(TARGET, late, "ReviewCurrent").message == note


@pytest.mark.parametrize(
    ("phase", "state"),
    [("reversed", "reversed"), ("deprecated", "archived"), ("superseded", "archived")],
)
def test_a_closed_decision_is_asked_for_nothing_but_its_state(phase: str, state: str) -> None:
    failed = [{"id": "A1", "statement": "x", "status": "invalidated"}]
    closed = decision(phase, state, reviewDate="2026-10-01", assumptions=failed)
    assert words(TARGET, closed) == {"LifecycleInSync": "True"}
    assert TARGET.fields(closed, NOW) == []
    assert TARGET.recheck(closed, datetime(2026, 9, 1, tzinfo=UTC)) is None


def test_a_failed_assumption_is_named() -> None:
    """I-79"""
    assumptions = [
        {"id": "A1", "statement": "Scores tell the truth.", "status": "valid"},
        {"id": "A2", "statement": "Offers are ready in 20 minutes.", "status": "invalidated"},
    ]
    snapshot = decision(assumptions=assumptions)
    found = observed(TARGET, snapshot, "AssumptionsValid")
    assert found.status == "False"
    assert found.message == "1 of 2 assumptions failed: A2 (Offers are ready in 20 minutes)."
    (step,) = steps_of(TARGET, snapshot)
    assert (step.operation, step.kind) == ("flag-for-review", "notify")
    assert step.parameters["about"] == ["AssumptionsValid"]


@pytest.mark.parametrize("assumption", [{"id": "A1", "status": "untested"}, {"id": "A1"}])
def test_an_untested_assumption_is_unknown_once_the_review_is_over(assumption: Document) -> None:
    ahead = decision(assumptions=[assumption], reviewDate="2026-11-16")
    passed = decision(assumptions=[assumption], reviewDate="2026-11-15")
    assert words(TARGET, ahead)["AssumptionsValid"] == "True"
    assert words(TARGET, passed)["AssumptionsValid"] == "Unknown"


@pytest.mark.parametrize(
    ("phase", "states"),
    [
        ("proposed", {"proposed"}),
        ("accepted", {"proposed", "active"}),
        ("active", {"active"}),
        ("reversed", {"reversed"}),
        ("deprecated", {"archived"}),
        ("superseded", {"archived"}),
    ],
)
def test_each_declared_status_fits_certain_states(phase: str, states: set[str]) -> None:
    for state in ("proposed", "active", "reversed", "archived"):
        word = "True" if state in states else "False"
        assert words(TARGET, decision(phase, state))["LifecycleInSync"] == word
    assert "LifecycleInSync" not in words(TARGET, decision(phase, ""))


def test_a_successor_makes_a_decision_superseded() -> None:
    snapshot = decision("active", "active", supersededBy="dec-8")
    assert words(TARGET, snapshot)["LifecycleInSync"] == "False"
    (difference,) = TARGET.fields(snapshot, NOW)
    assert (difference.path, difference.desired) == ("spec.status", "superseded")
    assert words(TARGET, decision(supersededBy=None))["LifecycleInSync"] == "True"


@every_row(
    ("expected", "actual", "score"),
    [
        ("+20% through fewer returns", "+20%", 0.0),
        ("+20% through fewer returns", "+19.9%", 1.0),
        ("+20%", "-30%", 1.0),
        ("-10% through more orders", "-53%", 0.0),
        ("-10% through more orders", "+8%", 1.0),
        ("\u221210 percent", "-10%", 0.0),
        ("+1,200 orders", "+1,199.5", 1.0),
        ("+0.1% or so", "about +0.2 %", 0.0),
        ("no change", "+3%", None),
        ("20% more", "+30%", None),
        ("between 2-3%", "+30%", None),
        ("by 2026-11-15", "+30%", None),
        ("+1,2345", "+30%", None),
        ("+5%", "+5 orders", None),
        ("+5%", "better", None),
        ("+5%", None, None),
    ],
)
def test_effects_are_compared_where_both_name_a_signed_figure(
    expected: str, actual: str | None, score: float | None
) -> None:
    """I-44"""
    (reading,) = TARGET.kpis(impact(expected, actual), NOW)
    assert bool(reading.note) == (score is None)
    kpi = drift_of(TARGET, impact(expected, actual)).of("kpi")
    assert kpi is not None
    assert kpi.score == score


def test_an_overdue_review_is_flagged_to_its_deciders() -> None:
    """I-79"""
    late = decision(reviewDate="2026-10-01", deciders=["Rui", {"name": "Ines"}, 7])
    (step,) = steps_of(TARGET, late)
    assert (step.operation, step.kind, step.risk) == ("flag-for-review", "notify", "low")
    assert step.parameters["deciders"] == ["Rui", "Ines"]
    assert "2026-10-01" in step.why
    assert step.otherwise.startswith("Rui and Ines may go on")


def test_a_superseded_decision_that_is_still_lived_is_to_be_archived() -> None:
    """I-79"""
    (step,) = steps_of(TARGET, decision("superseded", "active", supersededBy="dec-8"))
    assert (step.operation, step.kind, step.risk) == ("archive", "change", "medium")
    assert step.reversible
    assert step.parameters == {"decision": "dec-7", "from": "active", "to": "archived"}
    assert step.rollback["parameters"] == {
        "decision": "dec-7",
        "from": "archived",
        "to": "active",
    }
    assert step.touches == ("status.state",)


def test_what_else_is_wrong_is_flagged_beside_the_archiving() -> None:
    late = decision(reviewDate="2026-10-01", supersededBy="dec-8")
    archive, flag = steps_of(TARGET, late)
    assert (archive.operation, flag.operation) == ("archive", "flag-for-review")
    assert archive.touches == ("spec.status", "status.state")
    assert flag.parameters["about"] == ["spec.reviewDate", "ReviewCurrent"]


def test_a_state_nobody_declared_is_a_matter_for_people() -> None:
    (step,) = steps_of(TARGET, decision("active", "reversed"))
    assert step.operation == "flag-for-review"


def test_what_is_wrong_is_told_once() -> None:
    late = decision(reviewDate="2026-10-01")
    said = TARGET.explain(late, drift_of(TARGET, late))
    assert said == (
        "ReviewCurrent is False (Its review was due on 2026-10-01, and it is still active)."
    )


def test_a_decision_in_order_is_left_alone() -> None:
    assert steps_of(TARGET, decision(reviewDate="2026-12-01")) == []


def test_the_failed_assumption_of_the_example_is_told() -> None:
    """I-79"""
    snapshot = Snapshot(example("Decision", "dec-106-risk-scored-offers"))
    drift = drift_of(TARGET, snapshot)
    assert drift.drifted
    said = TARGET.explain(snapshot, drift)
    assert "monthly-churn is -6 (wanted <= -20 percent)" in said
    assert "A2 (An offer is ready within 20 minutes)" in said


@pytest.mark.parametrize(
    "name", ["dec-102-one-event-log", "dec-103-welcome-discount", "dec-109-night-releases"]
)
def test_decisions_of_the_example_that_went_their_way_are_in_order(name: str) -> None:
    assert drift_of(TARGET, Snapshot(example("Decision", name))).score == 0


@settings(max_examples=examples(150), deadline=None)
@given(damaged({**OFFERS.spec, "supersededBy": "dec-8"}, OFFERS.status, *VALUES))
def test_any_decision_is_judged(document: Document) -> None:
    target = OFFERS._replace(spec=document["spec"], status=document["status"])
    holds_for_any_document(TARGET, Snapshot(target))
