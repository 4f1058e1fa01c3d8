"""Hooks in a cycle: what must hold before a plan, and what is refreshed and emitted after it."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.models import Proposal
from resources.documents.actor import SYSTEM
from resources.documents.kind import Document
from resources.tables import ledger
from resources.usecases import statuses
from tests.conftest import Clock
from tests.controllers.faults import Fire, acting, doing, results, succeeds, understaffed
from tests.controllers.making import (
    WANTED,
    alerts,
    controller,
    cycles,
    declare,
    drifted,
    healthy,
    judged,
    measure,
    own,
    said,
    told,
    work,
)
from tests.resources.making import live, made, shown

pytestmark = pytest.mark.django_db

AFFORDABLE = {"name": "affordable", "action": "check budget.status.utilizationRate < 0.9"}
LAWFUL = {"name": "lawful", "action": "verify securityPolicy.status.violations == 0"}
ACTIONS = {"onDrift": [{"type": "alert"}, {"type": "reconcile"}]}


def before(*hooks: Document) -> Document:
    return {"preReconcile": list(hooks)}


def spent(clock: Clock, rate: float) -> None:
    """Report how much of the budget is used."""
    told_so = statuses.Report("Budget", "dues", {"utilizationRate": rate})
    assert not statuses.observe([told_so], actor=SYSTEM, now=clock.now)[0].failed


@pytest.fixture
def harbour(clock: Clock) -> None:
    """A harbour without enough agents, with a budget and a policy."""
    understaffed(clock, "harbour")
    declare(clock, made("Budget", "dues", status={"utilizationRate": 0.95}))
    declare(clock, made("SecurityPolicy", "gates", status={"violations": 0}))


@pytest.mark.usefixtures("harbour")
def test_a_check_that_does_not_hold_holds_everything_back(clock: Clock) -> None:
    """I-23 I-50 I-70"""
    declare(clock, acting(hooks=before(AFFORDABLE, LAWFUL), actions=ACTIONS))
    [cycle] = work(clock, effects=doing(succeeds))

    assert (cycle.outcome, cycle.actions) == ("hook_skipped", [])
    assert not Proposal.objects.exists()
    assert said("harbour") == ("False", "HookFailed")
    assert "affordable does not hold" in judged("harbour").message
    assert [(each["name"], each["passed"]) for each in cycle.hooks] == [
        ("affordable", False),
        ("lawful", True),
    ]
    assert cycle.hooks[0]["observed"] == {"budget.status.utilizationRate": 0.95}


@pytest.mark.usefixtures("harbour")
def test_a_check_that_holds_lets_it_pass(clock: Clock) -> None:
    """I-23 I-24"""
    spent(clock, 0.5)
    declare(clock, acting(hooks=before(AFFORDABLE, LAWFUL)))
    [cycle] = work(clock, effects=doing(succeeds))

    assert (cycle.outcome, results(cycle.actions)) == ("acted", ["success"])
    assert all(each["passed"] for each in cycle.hooks)


@pytest.mark.usefixtures("harbour")
@pytest.mark.parametrize(("violations", "outcome"), [(0, "acted"), (1, "hook_skipped")])
def test_a_policy_is_verified(clock: Clock, violations: int, outcome: str) -> None:
    """I-24"""
    told_so = statuses.Report("SecurityPolicy", "gates", {"violations": violations})
    statuses.observe([told_so], actor=SYSTEM, now=clock.now)
    declare(clock, acting(hooks=before(LAWFUL)))
    [cycle] = work(clock, effects=doing(succeeds))

    assert cycle.outcome == outcome


@pytest.mark.parametrize("mode", ["enforce", "warn"])
def test_what_cannot_be_found_never_passes(clock: Clock, mode: str) -> None:
    """I-25"""
    understaffed(clock, "harbour")
    declare(clock, acting(hooks=before(AFFORDABLE), enforcementMode=mode))
    [cycle] = work(clock, effects=doing(succeeds))

    assert cycle.outcome == "hook_skipped"
    [hook] = cycle.hooks
    assert (hook["passed"], hook["reason"]) == (None, "RefNotFound")


POLICIES = [
    ("enforce", "failClosed", "hook_skipped"),
    # In enforce mode nothing fails open.
    ("enforce", "failOpen", "hook_skipped"),
    ("warn", "failClosed", "hook_skipped"),
    ("warn", "failOpen", "acted"),
    ("warn", None, "hook_skipped"),
]


@pytest.mark.usefixtures("harbour")
@pytest.mark.parametrize(("mode", "policy", "outcome"), POLICIES)
def test_the_policy_decides_what_a_failed_hook_means(
    clock: Clock, mode: str, policy: str | None, outcome: str
) -> None:
    """I-70 I-50"""
    spec: dict[str, Any] = {"enforcementMode": mode, "actions": ACTIONS}
    if policy:
        spec["failurePolicy"] = policy
    declare(clock, acting(hooks=before(AFFORDABLE), **spec))
    [cycle] = work(clock, effects=doing(succeeds))

    assert cycle.outcome == outcome
    assert [each["passed"] for each in cycle.hooks] == [False]


@pytest.mark.usefixtures("harbour")
def test_a_hook_that_fails_is_told_once(clock: Clock) -> None:
    """I-90"""
    declare(clock, acting(hooks=before(AFFORDABLE)))
    for _ in range(4):
        work(clock)
        clock.advance(minutes=5)

    [event] = told("controller.error")
    assert (event.subject, event.payload["phase"]) == ("domain/harbour", "plan")
    assert event.payload["error"] == "affordable: CheckFailed"
    assert len(cycles()) == 4


def test_what_was_held_back_follows_when_the_hook_holds(clock: Clock) -> None:
    """I-70 Nobody was told while it was held back, so they are told now."""
    healthy(clock, "harbour")
    declare(clock, made("Budget", "dues", status={"utilizationRate": 0.95}))
    declare(clock, acting(hooks=before(AFFORDABLE), actions=ACTIONS))
    work(clock)
    understaffed(clock, "harbour")
    work(clock)
    assert (said("harbour"), alerts()) == (("False", "HookFailed"), [])
    spent(clock, 0.1)
    [cycle] = work(clock, effects=doing(succeeds))

    assert results(cycle.actions) == ["success", "success"]
    assert [each.reason for each in alerts()] == ["Drift"]
    assert len(told("controller.drift-detected")) == 1


@pytest.mark.usefixtures("harbour")
def test_a_healthy_resource_is_not_asked(clock: Clock) -> None:
    """I-48 I-50"""
    declare(clock, controller(hooks=before(AFFORDABLE), driftThreshold=0.9))
    [cycle] = work(clock)

    assert (cycle.outcome, cycle.hooks) == ("converged", [])


def test_a_field_is_refreshed_at_each_look(clock: Clock) -> None:
    """I-27 The time is that of the look, within the cycle that wrote it."""
    healthy(clock, "harbour")
    after = [{"name": "touch", "action": "refresh domain.status.lastEvaluation"}]
    declare(clock, controller(hooks={"postReconcile": after}))
    for _ in range(3):
        work(clock)
        status = shown("Domain", "harbour")["status"]
        assert status["lastEvaluation"] == ledger.instant(clock.now)
        assert status["kpis"] == [{"name": "ships", "value": WANTED}]
        clock.advance(minutes=5)

    found = own("harbour")
    assert found is not None
    assert found.last_transition_time < clock.now


def test_what_is_refreshed_causes_no_cycle(clock: Clock) -> None:
    """I-27 F-30"""
    healthy(clock, "harbour")
    after = [{"name": "touch", "action": "refresh domain.status.lastEvaluation"}]
    declare(clock, controller(hooks={"postReconcile": after}), controller("other"))
    work(clock)
    version = live("Domain", "harbour").resource_version

    assert work(clock) == []
    clock.advance(minutes=1)
    assert work(clock) == []
    assert live("Domain", "harbour").resource_version == version


def test_the_end_of_a_cycle_is_told_once_even_if_a_hook_tells_it(clock: Clock) -> None:
    """I-26"""
    healthy(clock, "harbour")
    after = [
        {"name": "done", "event": "controller.reconciliation-completed"},
        {"name": "too", "event": "system.controller_reconciliation_completed"},
        {"name": "more", "event": "harbour.looked-after"},
    ]
    declare(clock, controller(hooks={"postReconcile": after}))
    [cycle] = work(clock)

    story = [each.event for each in told("controller.reconciliation-completed")]
    assert len(story) == 1
    [emitted] = told("harbour.looked-after")
    assert emitted.correlation_id == cycle.correlation_id


def test_hooks_after_a_cycle_run_when_it_went_wrong_too(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I-61"""
    Fire(monkeypatch)
    drifted(clock, "harbour")
    after = [{"name": "more", "event": "harbour.looked-after"}]
    declare(clock, controller(hooks={"postReconcile": after}))
    [cycle] = work(clock)

    assert cycle.outcome == "failed"
    assert len(told("harbour.looked-after")) == 1


def test_a_budget_that_changes_lets_its_domain_be_asked_again(clock: Clock) -> None:
    """I-23 I-41"""
    understaffed(clock, "harbour")
    declare(clock, made("Budget", "dues", status={"utilizationRate": 0.95}))
    declare(clock, acting(hooks=before(AFFORDABLE)))
    work(clock)
    measure(clock, "harbour", WANTED)
    spent(clock, 0.2)
    [cycle] = work(clock, effects=doing(succeeds))

    assert cycle.outcome == "acted"
