"""Specification, section 2.3: the fields a controller's spec may have."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.models import Proposal
from tests.conftest import Clock
from tests.controllers.making import alerts, cycles, declare, judgement, own, told, work
from tests.resources.making import actions, apply, made
from tests.spec.organisation import (
    DOMAINS,
    budget,
    domain,
    miss,
    policy,
    understaff,
)

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

KEEPER = "keeper"


@pytest.fixture(autouse=True)
def organisation(clock: Clock) -> None:
    declare(clock, *(domain(name) for name in DOMAINS), budget(), policy())


def minimal(**spec: Any) -> dict[str, Any]:
    """Make a controller with the required fields alone, and what a test adds."""
    required = {
        "targetKind": "Domain",
        "targetSelector": {},
        "reconcileInterval": "5m",
        "enforcementMode": "warn",
    }
    return made("Controller", KEEPER, required | spec)


def test_the_required_fields_alone_make_a_controller_that_runs(clock: Clock) -> None:
    """I-37"""
    declare(clock, minimal())
    miss(clock, "product")

    [cycle] = work(clock)

    assert (cycle.outcome, cycle.counts["drifted"]) == ("drift_reported", 1)
    assert (alerts(KEEPER), list(Proposal.objects.all()), told("controller.logged")) == (
        [],
        [],
        [],
    )


@pytest.mark.parametrize(("missed", "word"), [(1, "True"), (2, "False")])
def test_without_a_threshold_drift_counts_from_0_15_on(
    clock: Clock, missed: int, word: str
) -> None:
    """I-12 I-37 One KPI of three is a drift of 0.1, two are 0.2."""
    declare(clock, minimal())
    miss(clock, "product", missed)
    work(clock)

    assert shown_by("product") == word


@pytest.mark.parametrize(("threshold", "word"), [(0.2, "False"), (0.21, "True")])
def test_drift_threshold_triggers_drift_actions(clock: Clock, threshold: float, word: str) -> None:
    """I-12 I-48 I-49 D-44"""
    declare(clock, minimal(driftThreshold=threshold))
    miss(clock, "product", 2)
    work(clock)

    assert shown_by("product") == word


def shown_by(name: str) -> str:
    found = own(name)
    return found.status if found else ""


@pytest.mark.parametrize("threshold", [-0.1, 1.01, "0.5", True])
def test_drift_threshold_is_a_number_from_0_to_1(clock: Clock, threshold: Any) -> None:
    """I-12"""
    outcome = apply(clock.now, minimal(driftThreshold=threshold))

    assert actions(outcome) == ["refused"]
    assert [each.pointer for each in outcome.results[0].problems] == ["/spec/driftThreshold"]


def test_actions_on_drift_follow_when_drift_is_detected(clock: Clock) -> None:
    """I-13 I-37 D-16"""
    listed = [
        {"type": "log", "severity": "warning"},
        {"type": "alert", "severity": "error", "channels": ["a", "b"]},
        {"type": "reconcile", "operation": "scale-agents"},
    ]
    declare(clock, minimal(actions={"onDrift": listed}))
    work(clock)
    understaff(clock)
    work(clock)

    performed = cycles(KEEPER)[-1].actions
    assert [each["type"] for each in performed] == ["log", "alert", "reconcile"]
    assert [(each.channel, each.severity) for each in alerts(KEEPER)] == [
        ("a", "error"),
        ("b", "error"),
    ]
    [plan] = Proposal.objects.all()
    assert [each["sequence"] for each in plan.actions] == [3]


def test_actions_on_healthy_follow_when_all_resources_are_healthy(clock: Clock) -> None:
    """I-22 I-37"""
    declare(clock, minimal(actions={"onHealthy": [{"type": "log", "severity": "info"}]}))
    miss(clock, "growth")
    work(clock)
    before = len(told("controller.logged"))
    miss(clock, "growth", 0)
    work(clock)

    assert (before, len(told("controller.logged"))) == (0, 1)


def test_hooks_before_reconciliation_are_checks(clock: Clock) -> None:
    """I-37 I-50"""
    hook = {"name": "never", "action": "check domain.status.activeIncidents > 5"}
    declare(clock, minimal(hooks={"preReconcile": [hook]}))
    understaff(clock)
    work(clock)

    found = judgement("product")
    assert found is not None
    assert (found.reason, found.plan) == ("HookFailed", "")


def test_hooks_after_reconciliation_are_actions(clock: Clock) -> None:
    """I-26 I-37 F-14"""
    hook = {"name": "tell", "event": "shop.reconciled"}
    declare(clock, minimal(hooks={"postReconcile": [hook]}))

    [cycle] = work(clock)

    [emitted] = told("shop.reconciled")
    assert (emitted.subject, emitted.correlation_id) == (
        "controller/keeper",
        cycle.correlation_id,
    )


def test_a_severity_is_one_of_four(clock: Clock) -> None:
    """I-15"""
    listed = [{"type": "alert", "severity": "fatal"}]
    outcome = apply(clock.now, minimal(actions={"onDrift": listed}))

    assert actions(outcome) == ["refused"]
    [problem] = outcome.results[0].problems
    assert problem.pointer == "/spec/actions/onDrift/0/severity"
