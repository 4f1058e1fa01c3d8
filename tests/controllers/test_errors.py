"""What goes wrong costs as little as it can, and is said: by phase, by resource, by action."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from django.db import OperationalError

from controllers.engine import targets
from controllers.engine.terms import Action, Result, Snapshot
from controllers.models import Judgement, WorkItem
from controllers.workqueue.cycle_effects import Effects
from controllers.workqueue.target_store import Reader
from resources.usecases import deletion
from tests.conftest import Clock
from tests.controllers.faults import (
    Fire,
    acting,
    doing,
    fails,
    hangs,
    one_after_the_other,
    results,
    succeeds,
    understaffed,
)
from tests.controllers.making import (
    KEEPER,
    alerts,
    controller,
    cycles,
    declare,
    drifted,
    healthy,
    item,
    judged,
    measure,
    own,
    runtime,
    said,
    told,
    while_judging,
    whole,
    work,
)
from tests.resources.making import ALICE, shown

pytestmark = pytest.mark.django_db

THREE = {"onDrift": [{"type": "reconcile"}, {"type": "log"}, {"type": "alert"}]}


def raising(name: str) -> Any:
    """Fail for one resource."""

    def happens(found: str) -> None:
        if found == name:
            raise TypeError("unsupported operand")

    return happens


def test_one_that_cannot_be_compared_costs_only_itself(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O-41 O-44 I-90 F-36"""
    while_judging(monkeypatch, raising("bad"))
    healthy(clock, "bad", *(f"good-{number}" for number in range(9)))
    declare(clock, controller())
    [cycle] = work(clock)

    assert (cycle.outcome, cycle.phase) == ("partial", "diff")
    assert said("bad") == ("Unknown", "CompareError")
    condition = own("bad")
    assert condition is not None
    assert condition.message == "TypeError: unsupported operand"
    assert (runtime().healthy, runtime().unknown) == (9, 1)
    [event] = told("controller.error")
    assert (event.subject, event.payload["phase"]) == ("domain/bad", "diff")
    assert event.payload["targetResource"] == "domain/bad"


def test_one_that_cannot_be_planned_costs_only_itself(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O-45 F-36"""
    domain, usual = targets.by_kind("Domain"), targets.by_kind

    def steps(snapshot: Snapshot, *rest: Any) -> Any:
        if snapshot.target.name == "bad":
            raise LookupError("no such step")
        return domain.steps(snapshot, *rest)

    broken = replace(domain, steps=steps)
    monkeypatch.setattr(
        targets, "by_kind", lambda name: broken if name == "Domain" else usual(name)
    )
    understaffed(clock, "bad", *(f"good-{number}" for number in range(4)))
    declare(clock, acting())
    [cycle] = work(clock)

    assert (cycle.outcome, cycle.phase) == ("partial", "plan")
    assert said("bad") == ("Unknown", "ReconcileError")
    assert len([each for each in cycle.actions if each["type"] == "reconcile"]) == 4
    assert [each.payload["phase"] for each in told("controller.error")] == ["plan"]


def test_a_fault_while_reading_names_its_phase(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O-05 I-90 I-100"""

    def snapshots(*_: object) -> None:
        raise OperationalError("disk I/O error")

    monkeypatch.setattr(Reader, "snapshots", snapshots)
    healthy(clock, "harbour")
    declare(clock, controller())
    [cycle] = work(clock)

    assert (cycle.outcome, cycle.phase) == ("failed", "watch")
    assert cycle.error == "OperationalError: disk I/O error"
    [event] = told("controller.error")
    assert (event.subject, event.payload["phase"]) == (f"controller/{KEEPER}", "watch")
    assert shown("Controller", KEEPER)["status"]["reconcileCount"] == 1
    assert len(told("controller.reconciliation-completed")) == 1


def test_after_a_failed_action_the_others_follow(clock: Clock) -> None:
    """I-71"""
    understaffed(clock, "harbour")
    declare(clock, acting(actions=THREE))
    [cycle] = work(clock, effects=doing(fails))

    assert results(cycle.actions) == ["failure", "success", "success"]
    assert cycle.actions[0]["reason"] == "RuntimeError: the crane is broken"
    assert (cycle.outcome, cycle.phase) == ("partial", "act")


def test_after_a_failed_action_the_others_are_skipped_if_so_declared(clock: Clock) -> None:
    """I-71"""
    understaffed(clock, "harbour", "city")
    declare(clock, acting(actions=THREE, stopOnError=True))
    [cycle] = work(clock, effects=doing(one_after_the_other(fails, succeeds)))

    assert results(cycle.actions) == ["failure", "skipped", "skipped"] + ["success"] * 3


def test_on_error_is_told_where_it_is_declared(clock: Clock) -> None:
    """I-21 I-90"""
    understaffed(clock, "harbour")
    onerror = [
        {"type": "alert", "severity": "critical", "channels": ["pagerduty", "slack-ops"]},
        {"type": "log", "level": "error"},
    ]
    actions = {"onDrift": [{"type": "reconcile"}], "onError": onerror}
    declare(clock, acting(actions=actions))
    work(clock, effects=doing(fails))

    assert [(each.channel, each.severity, each.reason) for each in alerts()] == [
        ("pagerduty", "critical", "Error"),
        ("slack-ops", "critical", "Error"),
    ]
    assert "the crane is broken" in alerts()[0].message
    [logged] = told("controller.logged")
    assert (logged.severity, logged.category) == ("error", "log")


@pytest.mark.parametrize("mode", ["observe", "advise"])
def test_on_error_rings_nowhere_in_the_quiet_modes(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """I-56 I-55"""
    Fire(monkeypatch)
    healthy(clock, "harbour")
    actions = {"onError": [{"type": "alert"}, {"type": "log"}]}
    declare(clock, controller(enforcementMode=mode, actions=actions))
    work(clock)

    assert alerts() == []
    assert len(told("controller.logged")) == 1


def test_what_hangs_is_cut_off_and_told(clock: Clock) -> None:
    """I-73 D-40 X-28"""
    understaffed(clock, "harbour")
    declare(clock, acting(actions=THREE, timeout="30s"))
    started = time.monotonic()
    [cycle] = work(clock, effects=doing(hangs))

    assert time.monotonic() - started < 10
    assert (cycle.outcome, cycle.phase) == ("timed_out", "act")
    assert cycle.actions == []
    assert not told("controller.action-performed")
    [alert] = alerts()
    assert (alert.reason, alert.severity) == ("TimedOut", "error")
    assert alert.message == "The cycle took longer than 30 seconds."
    assert [each.payload["phase"] for each in told("controller.error")] == ["act"]
    assert runtime().holder == ""


def test_what_was_judged_before_the_time_was_over_is_kept(clock: Clock) -> None:
    """I-73 So that even a controller without enough time gets on."""
    understaffed(clock, "first", "second", "third")
    declare(clock, acting())
    work(clock, effects=doing(one_after_the_other(succeeds, hangs)))

    assert list(Judgement.objects.values_list("resource__name", flat=True)) == ["first"]
    assert len(told("controller.action-performed")) == 1
    assert runtime().watched == 1
    clock.advance(minutes=5)
    [cycle] = work(clock, effects=doing(succeeds))

    assert cycle.outcome == "acted"
    assert runtime().watched == 3
    assert alerts() == []


def test_work_that_was_cut_off_is_still_to_be_done(clock: Clock) -> None:
    """I-73 None of the items that were not reached is taken away."""
    names = ["first", "second", "third"]
    healthy(clock, *names)
    declare(clock, acting(reconcileInterval="7d"))
    work(clock)
    understaffed(clock, *names)
    work(clock, effects=doing(one_after_the_other(succeeds, hangs)))

    assert [name for name in names if item(name) is not None] == ["second", "third"]
    work(clock, effects=doing(succeeds))
    assert [judged(name).drifted for name in names] == [True] * 3


def test_what_a_cycle_takes_is_measured_against_its_own_timeout(clock: Clock) -> None:
    """I-73 D-40"""
    found: list[float] = []

    class Timed(Effects):
        def perform(self, action: Action, snapshot: Snapshot) -> Result:
            found.append(self.deadline - time.monotonic())
            return super().perform(action, snapshot)

    drifted(clock, "harbour")
    actions = {"onDrift": [{"type": "log"}]}
    declare(clock, controller("short", timeout="20s", actions=actions))
    declare(clock, controller("usual", actions=actions))
    work(clock, effects=Timed)

    assert 0 < found[0] <= 20
    assert 20 < found[1] <= 300


def deleting(clock: Clock, name: str) -> Any:
    """Delete one resource while it is acted on."""

    class Deleting(Effects):
        def perform(self, action: Action, snapshot: Snapshot) -> Result:
            if snapshot.target.name == name:
                deletion.delete("Domain", name, actor=ALICE, now=clock.now)
            return super().perform(action, snapshot)

    return Deleting


@pytest.mark.parametrize("known", [False, True])
def test_what_is_deleted_while_it_is_looked_at_is_left_out(clock: Clock, known: bool) -> None:
    """I-72"""
    healthy(clock, "gone", "here")
    declare(clock, controller(actions={"onDrift": [{"type": "alert"}]}))
    if known:
        work(clock)
    measure(clock, "gone", 1)
    measure(clock, "here", 1)
    [cycle] = work(clock, effects=deleting(clock, "gone"))

    assert cycle.outcome == "acted"
    assert not told("controller.error")
    assert not told("controller.drift-detected", subject="domain/gone")
    assert not WorkItem.objects.exclude(pk=whole().pk).exists()
    work(clock)
    assert [each.resource.name for each in Judgement.objects.all()] == ["here"]
    assert (runtime().watched, runtime().drifted) == (1, 1)
    assert not WorkItem.objects.exclude(pk=whole().pk).exists()
    assert {each.resource.name for each in alerts()} == {"here" if known else KEEPER}


def test_an_error_that_is_over_is_forgotten(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-36 D-49"""
    failing = ["bad"]

    def happens(name: str) -> None:
        if name in failing:
            raise TypeError("unsupported operand")

    while_judging(monkeypatch, happens)
    healthy(clock, "bad", "good")
    actions = {"onError": [{"type": "alert", "severity": "critical"}]}
    declare(clock, controller(actions=actions))
    work(clock)
    assert [each.reason for each in alerts()] == ["Error"]
    failing.clear()
    clock.advance(seconds=2)
    work(clock)

    assert said("bad") == ("True", "Converged")
    assert (alerts(), item("bad"), runtime().unknown) == ([], None, 0)
    assert [each.outcome for each in cycles()] == ["partial", "converged"]
