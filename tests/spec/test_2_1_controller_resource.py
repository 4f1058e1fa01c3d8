"""Specification, section 2.1: the controller as a resource, by the example it gives."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.models import Proposal
from resources.documents.yaml_text import read_yaml
from tests.conftest import Clock
from tests.controllers.making import (
    alerts,
    cycles,
    declare,
    judgement,
    own,
    runtime,
    told,
    while_judging,
    work,
)
from tests.resources.making import apply, shown
from tests.spec.organisation import (
    CONTROLLER,
    CONVERGED,
    DOMAINS,
    NAME,
    controller,
    domain,
    miss,
    observe,
    understaff,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("three_domains"), pytest.mark.sqlite]


def status() -> dict[str, Any]:
    found: dict[str, Any] = shown("Controller", NAME)["status"]
    return found


def test_the_document_is_kept_as_it_is_written() -> None:
    """I-06 X-10 What it leaves to the reader, an action and a severity, is spelled out."""
    given, kept = read_yaml(CONTROLLER), shown("Controller", NAME)
    hook, logged = (
        given["spec"]["hooks"]["postReconcile"][0],
        given["spec"]["actions"]["onHealthy"],
    )
    hook["action"] = f"emit {hook['event']}"
    logged[0]["severity"] = logged[0]["level"]

    assert (kept["apiVersion"], kept["kind"]) == (given["apiVersion"], given["kind"])
    assert kept["metadata"].items() >= given["metadata"].items()
    assert kept["spec"] == given["spec"]
    assert kept["status"] == given["status"]


def test_applying_it_again_changes_nothing(clock: Clock) -> None:
    """I-06"""
    work(clock)

    assert [each.action for each in apply(clock.now, controller()).results] == ["unchanged"]


def test_an_owner_may_be_a_text(clock: Clock) -> None:
    """I-07"""
    document = controller()
    document["metadata"]["owner"] = "Platform Team"
    declare(clock, document)

    assert shown("Controller", NAME)["metadata"]["owner"] == "Platform Team"


def test_match_labels_choose_what_it_watches(clock: Clock) -> None:
    """I-09 O-03"""
    declare(clock, domain("sandbox", tier="staging"))

    work(clock)

    assert [judgement(name, NAME) is not None for name in DOMAINS] == [True, True, True]
    assert judgement("sandbox", NAME) is None


def test_the_reconcile_interval_is_five_minutes(clock: Clock) -> None:
    """I-11 I-63"""
    work(clock)
    clock.advance(minutes=4, seconds=59)
    early = work(clock)
    clock.advance(seconds=1)

    assert (early, [each.full for each in work(clock)]) == ([], [True])


@pytest.mark.parametrize(("missed", "drifts"), [(1, False), (2, True)])
def test_the_drift_threshold_decides(clock: Clock, missed: int, drifts: bool) -> None:
    """I-48 I-49"""
    miss(clock, "product", missed)
    work(clock)

    assert status()["driftDetected"] is drifts


def test_on_drift_alerts_and_then_plans_to_reconcile(clock: Clock) -> None:
    """I-13 I-14 A-13"""
    work(clock)
    understaff(clock)

    work(clock)

    [alert], [plan] = alerts(NAME), Proposal.objects.all()
    assert (alert.severity, alert.channel) == ("warning", "slack-ops")
    assert (plan.resource.name, plan.mode) == ("product", "warn")
    [action] = plan.actions
    assert (action["type"], action["operation"], action["strategy"]) == (
        "reconcile",
        "scale-agents",
        "gradual",
    )
    assert [each["type"] for each in cycles(NAME)[-1].actions] == ["alert", "reconcile"]
    assert [each["result"] for each in cycles(NAME)[-1].actions] == ["success", "planned"]


def test_on_error_alerts_and_pauses(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """I-18 I-21 X-04"""

    def fail(_: str) -> None:
        raise RuntimeError("The figures cannot be read.")

    while_judging(monkeypatch, fail)

    work(clock)
    clock.advance(hours=1)

    by_channel = {each.channel: each.severity for each in alerts(NAME)}
    assert by_channel["pagerduty"] == "critical"
    assert runtime(NAME).breaker == "open"
    ready = own(NAME, "Ready", "Controller")
    assert ready is not None
    assert "Manual investigation required" in ready.message
    assert work(clock) == []


def test_on_healthy_logs(clock: Clock) -> None:
    """I-19 I-22"""
    work(clock)

    [logged] = told("controller.logged")
    assert (logged.category, logged.severity) == ("log", "info")
    assert alerts(NAME) == []

    miss(clock, "product")
    work(clock)

    assert len(told("controller.logged")) == 1


@pytest.mark.parametrize(
    ("kind", "name", "reported", "failing"),
    [
        ("Budget", "shared-budget", {"utilizationRate": 0.95}, "validate-budget"),
        ("SecurityPolicy", "shared-policy", {"violations": 1}, "check-security-policy"),
    ],
)
def test_before_it_reconciles_its_hooks_must_hold(
    clock: Clock, kind: str, name: str, reported: dict[str, Any], failing: str
) -> None:
    """I-23 I-24 I-70"""
    observe(clock, kind, name, reported)
    understaff(clock)

    work(clock)

    failed = [each for each in cycles(NAME)[-1].hooks if not each["passed"]]
    [field] = reported
    assert [(each["target"], each["name"]) for each in failed] == [("domain/product", failing)]
    assert [*failed[0]["observed"].values()] == [reported[field]]
    said = own("product", CONVERGED)
    assert said is not None
    assert (said.status, said.reason) == ("False", "HookFailed")
    assert not Proposal.objects.exists()


def test_after_it_reconciled_it_emits_once_and_refreshes(clock: Clock) -> None:
    """I-26 I-27 F-14"""
    clock.advance(seconds=30)
    work(clock)

    assert len(told("controller.reconciliation-completed")) == 1
    assert shown("Domain", "growth")["status"]["lastEvaluation"] == "2026-11-16T10:00:30Z"


def test_warn_asks_before_it_changes_anything(clock: Clock) -> None:
    """I-54 A-36"""
    understaff(clock)
    work(clock)

    [plan] = Proposal.objects.all()
    assert (plan.lane, plan.state) == ("ask", "pending")
    assert shown("Domain", "product")["status"]["activeAgents"] == 1


def test_its_status_says_that_all_three_domains_are_healthy(clock: Clock) -> None:
    """I-29 I-31 I-32"""
    before = status()
    work(clock)
    after = status()

    assert after["lastReconcile"] == "2026-11-16T10:00:00Z"
    assert after["reconcileCount"] == before["reconcileCount"] + 1 == 143
    assert (after["healthyResources"], after["unhealthyResources"]) == (3, 0)
    assert (after["driftDetected"], after["lastDriftAt"]) == (False, before["lastDriftAt"])
    [said] = before["conditions"]
    assert said.items() <= by_type(after)["Reconciling"].items()


def by_type(status: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["type"]: each for each in status["conditions"]}


def test_its_status_says_what_drifted_and_what_was_done(clock: Clock) -> None:
    """I-29 I-30 I-31 I-57"""
    work(clock)
    clock.advance(seconds=10)
    miss(clock, "growth")
    work(clock)

    found = status()
    assert found["reconcileCount"] == 144
    assert (found["healthyResources"], found["unhealthyResources"]) == (2, 1)
    assert (found["driftDetected"], found["lastDriftAt"]) == (True, "2026-11-16T10:00:10Z")
    assert found["actionsPerformed"][-1] == {
        "type": "alert",
        "target": "domain/growth",
        "at": "2026-11-16T10:00:10Z",
        "result": "success",
    }
    assert by_type(found)["Reconciling"]["status"] == "True"


def test_a_condition_moves_its_time_only_when_it_flips(clock: Clock) -> None:
    """I-34"""
    work(clock)
    clock.advance(minutes=5)
    work(clock)
    steady = by_type(status())["Reconciling"]["lastTransitionTime"]
    miss(clock, "growth")
    work(clock)

    assert steady == "2026-02-25T10:00:00Z"
    assert by_type(status())["Reconciling"]["lastTransitionTime"] == "2026-11-16T10:05:00Z"
