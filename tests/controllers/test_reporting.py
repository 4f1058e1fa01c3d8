"""What a cycle leaves behind: the controller's status, and the story in the ledger."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.models import Cycle
from resources.store import evidence
from resources.tables import ledger
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.controllers.faults import (
    Fire,
    acting,
    doing,
    fails,
    hangs,
    results,
    succeeds,
    understaffed,
)
from tests.controllers.making import (
    KEEPER,
    WANTED,
    controller,
    cycles,
    declare,
    drifted,
    healthy,
    measure,
    own,
    said,
    told,
    while_judging,
    work,
)
from tests.resources.making import live, shown

pytestmark = pytest.mark.django_db

ONE_BY_ONE = {"onDrift": [{"type": "alert"}, {"type": "reconcile"}]}


def status() -> dict[str, Any]:
    found: dict[str, Any] = shown("Controller", KEEPER)["status"]
    return found


def story(cycle: Cycle) -> list[LedgerEvent]:
    """Return what the ledger tells of a cycle, in the order it was told."""
    return list(LedgerEvent.objects.filter(correlation_id=cycle.correlation_id).order_by("pk"))


def names(cycle: Cycle) -> list[str]:
    return [each.event for each in story(cycle)]


# Status


def test_the_status_counts_cycles_and_tells_their_time(clock: Clock) -> None:
    """I-29 I-58"""
    healthy(clock, "harbour")
    declare(clock, controller())
    work(clock)
    first = status()
    assert (first["reconcileCount"], first["driftDetected"]) == (1, False)
    assert first["lastReconcile"] == ledger.instant(clock.now)
    assert "lastDriftAt" not in first

    measure(clock, "harbour", 1)
    work(clock)
    noticed = ledger.instant(clock.now)
    assert (status()["driftDetected"], status()["lastDriftAt"]) == (True, noticed)

    measure(clock, "harbour", WANTED)
    clock.advance(minutes=5)
    work(clock)
    last = status()
    assert (last["reconcileCount"], last["driftDetected"]) == (3, False)
    assert last["lastReconcile"] == ledger.instant(clock.now)
    assert last["lastDriftAt"] == noticed


def test_the_status_counts_the_healthy_and_the_others(clock: Clock) -> None:
    """I-31"""
    healthy(clock, "east", "west")
    drifted(clock, "north")
    declare(clock, controller())
    work(clock)

    assert (status()["healthyResources"], status()["unhealthyResources"]) == (2, 1)
    assert said(KEEPER, "TargetsHealthy", "Controller") == ("False", "DriftDetected")
    assert said(KEEPER, "Reconciling", "Controller") == ("True", "DriftDetected")
    reconciling = own(KEEPER, "Reconciling", "Controller")
    assert reconciling is not None
    assert reconciling.message == "1 drifted of 3 domains"


def test_all_healthy_is_said_as_the_specification_does(clock: Clock) -> None:
    """I-32"""
    healthy(clock, "east", "north", "west")
    declare(clock, controller())
    work(clock)

    assert said(KEEPER, "Reconciling", "Controller") == ("False", "AllHealthy")
    reconciling = own(KEEPER, "Reconciling", "Controller")
    assert reconciling is not None
    assert reconciling.message == "All 3 domains are healthy"
    assert status()["healthyResources"] == 3


def test_the_latest_actions_are_listed_and_the_ledger_keeps_all(clock: Clock) -> None:
    """I-30"""
    understaffed(clock, *(f"berth-{number:02}" for number in range(55)), bound=1, active=0)
    declare(clock, acting())
    [cycle] = work(clock, effects=doing(succeeds))

    listed = status()["actionsPerformed"]
    assert len(listed) == 50
    assert listed[-1]["target"] == "domain/berth-54"
    assert {each["result"] for each in listed} == {"success"}
    assert len(told("controller.action-performed")) == len(cycle.actions) == 55


def test_what_was_only_planned_was_not_performed(clock: Clock) -> None:
    """I-30 I-55"""
    understaffed(clock, "harbour")
    declare(clock, acting(enforcementMode="advise"))
    [cycle] = work(clock)

    assert results(cycle.actions) == ["planned"]
    assert status()["actionsPerformed"] == []
    assert not told("controller.action-performed")


# Ledger


def test_one_story_from_beginning_to_end(clock: Clock) -> None:
    """I-62 I-87 I-100 D-45 D-48"""
    understaffed(clock, "harbour")
    declare(clock, acting(actions=ONE_BY_ONE))
    [cycle] = work(clock, effects=doing(succeeds))

    events = names(cycle)
    assert events[0] == "controller.reconciliation-started"
    assert events[-1] == "controller.reconciliation-completed"
    assert sorted(events[1:-1]) == [
        "controller.action-performed",
        "controller.action-performed",
        "controller.drift-detected",
        "resource.condition-changed",
        "resource.condition-changed",
        "resource.condition-changed",
        "resource.condition-changed",
        "resource.condition-changed",
    ]
    subjects = {each.subject for each in story(cycle) if each.event.startswith("resource.")}
    assert subjects == {"domain/harbour", f"controller/{KEEPER}"}
    assert evidence.verify().ok


def test_every_story_has_an_id_of_its_own(clock: Clock) -> None:
    """I-87 I-62"""
    drifted(clock, "harbour")
    declare(clock, controller())
    for _ in range(3):
        work(clock)
        clock.advance(minutes=5)

    assert len({each.correlation_id for each in cycles()}) == 3
    for cycle in cycles():
        events = names(cycle)
        assert events.count("controller.reconciliation-started") == 1
        assert events.count("controller.reconciliation-completed") == 1
        assert (events[0], events[-1]) == (
            "controller.reconciliation-started",
            "controller.reconciliation-completed",
        )


def test_payloads_carry_what_the_taxonomy_asks_for(clock: Clock) -> None:
    """I-91"""
    understaffed(clock, "harbour")
    healthy(clock, "city")
    declare(clock, acting(driftThreshold=0.2))
    [cycle] = work(clock, effects=doing(succeeds))

    told_by = {each.event: each.payload for each in story(cycle)}
    assert told_by["controller.reconciliation-started"] == {
        "controllerName": KEEPER,
        "targetKind": "Domain",
        "resourceCount": 2,
    }
    ended = told_by["controller.reconciliation-completed"]
    assert (ended["controllerName"], ended["driftDetected"]) == (KEEPER, True)
    assert (ended["actionsPerformed"], ended["outcome"]) == (1, "acted")
    assert ended["durationMs"] >= 0
    drift = told_by["controller.drift-detected"]
    assert (drift["targetResource"], drift["driftScore"]) == ("domain/harbour", 0.25)
    assert (drift["controllerName"], drift["threshold"]) == (KEEPER, 0.2)
    action = told_by["controller.action-performed"]
    assert (action["controllerName"], action["actionType"]) == (KEEPER, "reconcile")
    assert (action["target"], action["result"]) == ("domain/harbour", "success")


def test_categories_are_those_of_the_specification(clock: Clock) -> None:
    """I-87 I-88 I-89 I-90 I-100"""
    understaffed(clock, "harbour")
    declare(clock, acting())
    work(clock, effects=doing(hangs))
    clock.advance(minutes=5)
    work(clock, effects=doing(fails))

    found = {
        each.event: (each.category, each.severity)
        for each in LedgerEvent.objects.filter(stream__startswith="controller/")
    }
    assert found == {
        "controller.reconciliation-started": ("audit", "info"),
        "controller.reconciliation-completed": ("audit", "info"),
        "controller.drift-detected": ("alert", "warning"),
        "controller.action-performed": ("audit", "error"),
        "controller.error": ("alert", "error"),
    }


def test_every_action_is_told_with_its_result(clock: Clock) -> None:
    """I-89 I-71"""
    understaffed(clock, "harbour")
    actions = {"onDrift": [{"type": "alert"}, {"type": "reconcile"}, {"type": "log"}]}
    declare(clock, acting(actions=actions, stopOnError=True))
    work(clock, effects=doing(fails))

    told_of = [
        (each.payload["actionType"], each.payload["result"])
        for each in told("controller.action-performed")
    ]
    assert told_of == [("alert", "success"), ("reconcile", "failure"), ("log", "skipped")]


def test_a_drift_that_lasts_is_told_once(clock: Clock) -> None:
    """I-88 The score stays what it was, so its history has one point."""
    drifted(clock, "harbour")
    declare(clock, controller())
    for _ in range(5):
        work(clock)
        clock.advance(minutes=5)

    assert len(told("controller.drift-detected")) == 1
    assert [each.counts["drifted"] for each in cycles()] == [1] * 5


def test_a_drift_that_comes_back_is_told_again(clock: Clock) -> None:
    """I-88"""
    drifted(clock, "harbour")
    declare(clock, controller())
    for ships in (1, WANTED, 1):
        measure(clock, "harbour", ships)
        work(clock)

    assert len(told("controller.drift-detected")) == 2


@pytest.mark.parametrize("outcome", ["failed", "timed_out", "partial"])
def test_a_cycle_that_went_wrong_is_told_to_its_end(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, outcome: str
) -> None:
    """I-100 I-62"""
    understaffed(clock, "harbour")
    declare(clock, acting())
    work(clock)
    clock.advance(minutes=5)
    Fire(monkeypatch, burns=outcome == "failed")
    [cycle] = work(clock, effects=doing(hangs if outcome == "timed_out" else fails))

    assert cycle.outcome == outcome
    last = story(cycle)[-1]
    assert last.event == "controller.reconciliation-completed"
    assert last.payload["outcome"] == outcome
    assert status()["lastReconcile"] == ledger.instant(clock.now)


def test_status_is_written_before_what_hooks_emit(clock: Clock) -> None:
    """I-61"""
    healthy(clock, "harbour")
    hooks = {"postReconcile": [{"name": "tell", "action": "emit harbour.looked-after"}]}
    declare(clock, controller(hooks=hooks))
    [cycle] = work(clock)

    events = names(cycle)
    emitted = events.index("harbour.looked-after")
    own_status = [
        position
        for position, each in enumerate(story(cycle))
        if each.subject == f"controller/{KEEPER}" and each.event.startswith("resource.")
    ]
    assert max(own_status) < emitted < events.index("controller.reconciliation-completed")


def test_a_condition_is_an_event_only_when_it_flips(clock: Clock) -> None:
    """F-44 F-57"""
    healthy(clock, "harbour")
    declare(clock, controller())
    for ships in (WANTED, 1, 2, 3, 4, WANTED, WANTED + 1):
        measure(clock, "harbour", ships)
        work(clock)
        clock.advance(minutes=5)

    flips = told("resource.condition-changed", subject="domain/harbour", actor="controller/keeper")
    assert [each.payload["status"] for each in flips] == ["True", "False", "True"]


def test_reporting_is_done_as_the_controller(clock: Clock) -> None:
    """I-05"""
    drifted(clock, "harbour")
    declare(clock, controller())
    [cycle] = work(clock)

    assert {each.actor for each in story(cycle)} == {"controller/keeper"}
    last = live("Domain", "harbour").revisions.order_by("-resource_version")[0]
    assert (last.actor, last.spec) == ("controller/keeper", None)


def test_a_look_that_takes_long_is_measured(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """I-91"""
    while_judging(monkeypatch, lambda _: clock.advance(seconds=3))
    healthy(clock, "harbour")
    declare(clock, controller())
    work(clock)

    assert told("controller.reconciliation-completed")[0].payload["durationMs"] == 3000
