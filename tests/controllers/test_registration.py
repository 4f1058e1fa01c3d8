"""Controllers come, change and go while the loop runs."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.engine.terms import Action, Result, Snapshot
from controllers.loop import registration, watchdog
from controllers.models import Alert, Cycle, DriftSample, Judgement, Proposal, Runtime, WorkItem
from controllers.worker import controller_commands
from controllers.workqueue.cycle_effects import Effects
from resources.store import evidence
from resources.tables.models import LedgerEvent, Resource
from resources.usecases import deletion
from tests.conftest import Clock
from tests.controllers.faults import acting, doing, succeeds, understaffed
from tests.controllers.making import (
    KEEPER,
    WANTED,
    alerts,
    controller,
    cycles,
    declare,
    domain,
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
from tests.problems import refuses
from tests.resources.making import ALICE, apply, live, shown

pytestmark = pytest.mark.django_db


def ready() -> tuple[str, str]:
    return said(KEEPER, "Ready", "Controller")


def delete(clock: Clock, name: str = KEEPER) -> None:
    deletion.delete("Controller", name, actor=ALICE, now=clock.now)


def test_a_controller_says_that_it_starts_and_then_that_it_runs(clock: Clock) -> None:
    """A-05"""
    declare(clock, controller())
    work(clock)

    flips = told("resource.condition-changed", subject=f"controller/{KEEPER}")
    told_so = [each.payload for each in flips if each.payload["type"] == "Ready"]
    assert [(each["status"], each["reason"]) for each in told_so] == [
        ("False", "Starting"),
        ("True", "Running"),
    ]
    assert ready() == ("True", "Running")


def break_it(clock: Clock) -> None:
    """Put a controller into the store that no entrance would let pass."""
    declare(clock, controller())
    row = live("Controller", KEEPER)
    row.spec = row.spec | {"reconcileInterval": "soon"}
    row.generation += 1
    row.save()


def test_one_that_cannot_run_says_why(clock: Clock) -> None:
    """A-06"""
    break_it(clock)
    healthy(clock, "harbour")

    assert work(clock) == []
    assert ready() == ("False", "InvalidConfig")
    condition = own(KEEPER, "Ready", "Controller")
    assert condition is not None
    assert condition.message == "'soon' is not an interval."
    assert watchdog.census()["invalid"] == 1
    assert not WorkItem.objects.exists()
    with refuses("refused", match="is not an interval"):
        controller_commands.request(KEEPER, actor=ALICE, now=clock.now)


def test_one_that_cannot_run_keeps_nobody_back(clock: Clock) -> None:
    """A-06 O-41"""
    break_it(clock)
    healthy(clock, "harbour")
    declare(clock, controller("other"))
    work(clock)

    assert judged("harbour", "other").status == "True"


def test_one_that_is_mended_starts(clock: Clock) -> None:
    """A-06"""
    break_it(clock)
    healthy(clock, "harbour")
    work(clock)
    declare(clock, controller(reconcileInterval="1m"))
    [cycle] = work(clock)

    assert (cycle.generation, cycle.full) == (3, True)
    assert ready() == ("True", "Running")
    assert runtime().problem == ""


def test_one_with_a_hook_that_cannot_be_read_does_not_start(clock: Clock) -> None:
    """A-06 No entrance lets it pass; one that is there all the same does not run."""
    understaffed(clock, "harbour")
    bad = {"name": "bad", "action": "check budget.status.("}
    refused = apply(clock.now, acting(hooks={"preReconcile": [bad]}))
    assert not refused.written
    declare(clock, acting())
    row = live("Controller", KEEPER)
    row.spec = row.spec | {"hooks": {"preReconcile": [bad]}}
    row.save()

    assert work(clock, effects=doing(succeeds)) == []
    assert ready() == ("False", "InvalidConfig")


def test_a_new_declaration_is_followed_at_once(clock: Clock) -> None:
    """A-04"""
    drifted(clock, "harbour")
    declare(clock, controller())
    work(clock)
    assert judged("harbour").drifted
    declare(clock, controller(drift={"weights": {"kpi": 0}}, driftThreshold=1.0))
    [cycle] = work(clock)

    assert (cycle.generation, cycle.full) == (2, True)
    assert not judged("harbour").drifted


def test_an_edit_during_a_cycle_supersedes_it(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A-04 What the old declaration led to is not written any more."""
    edits = [controller(driftThreshold=1.0, drift={"aggregation": "max"})]

    def happens(_: str) -> None:
        while edits:
            declare(clock, edits.pop())

    drifted(clock, "harbour")
    declare(clock, controller())
    while_judging(monkeypatch, happens)
    assert work(clock) == []
    assert not Judgement.objects.exists()
    assert own("harbour") is None

    [second] = work(clock)
    first = cycles()[0]
    assert (first.outcome, second.generation) == ("superseded", 2)
    assert first.finished_at == clock.now
    story = LedgerEvent.objects.filter(
        correlation_id=first.correlation_id, stream__startswith="controller/"
    ).order_by("pk")
    assert [each.event for each in story] == [
        "controller.reconciliation-started",
        "controller.reconciliation-completed",
    ]
    assert judged("harbour").drifted


def test_an_edit_of_labels_only_supersedes_nothing(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A-04 A-03"""
    edits: list[Any] = [controller() | {"metadata": {"name": KEEPER, "labels": {"team": "a"}}}]

    def happens(_: str) -> None:
        while edits:
            declare(clock, edits.pop())

    drifted(clock, "harbour")
    declare(clock, controller())
    while_judging(monkeypatch, happens)

    assert [each.outcome for each in work(clock)] == ["drift_reported"]
    assert work(clock) == []


def test_what_a_deleted_controller_said_is_no_longer_known(clock: Clock) -> None:
    """A-07 A-08"""
    understaffed(clock, "harbour")
    declare(clock, acting(enforcementMode="warn", actions={"onDrift": [{"type": "reconcile"}]}))
    declare(clock, controller("other"))
    work(clock)
    stories = LedgerEvent.objects.filter(stream__startswith="controller/").count()
    assert [each.state for each in Proposal.objects.all()] == ["pending"]
    delete(clock)
    work(clock)

    assert said("harbour") == ("Unknown", "ControllerDeleted")
    assert said("harbour", "OtherConverged") == ("False", "DriftDetected")
    assert [each.state for each in Proposal.objects.all()] == ["withdrawn"]
    for table in (Judgement, WorkItem, Runtime):
        names = table.objects.values_list("controller__name", flat=True)
        assert KEEPER not in names
    assert Cycle.objects.filter(controller__name=KEEPER).count() == 1
    assert DriftSample.objects.filter(controller__name=KEEPER).exists()
    assert LedgerEvent.objects.filter(stream__startswith="controller/").count() >= stories
    assert evidence.verify().ok


def test_alerts_of_a_deleted_controller_are_over(clock: Clock) -> None:
    """A-08"""
    drifted(clock, "harbour")
    declare(clock, controller(actions={"onDrift": [{"type": "alert"}]}))
    work(clock)
    assert alerts()
    delete(clock)
    work(clock)

    assert alerts() == []
    assert Alert.objects.exists()


def test_a_controller_that_is_deleted_during_its_cycle_does_no_more(clock: Clock) -> None:
    """A-07"""
    acted: list[str] = []

    class Deleted(Effects):
        def perform(self, action: Action, snapshot: Snapshot) -> Result:
            acted.append(snapshot.target.name)
            if len(acted) == 1:
                delete(clock)
            return "success"

    understaffed(clock, "east", "west")
    declare(clock, acting())
    assert work(clock, effects=Deleted) == []
    seen = len(acted)
    work(clock, effects=Deleted)

    assert len(acted) == seen
    assert not Judgement.objects.exists()
    assert own("east") is None
    [cycle] = cycles()
    assert (cycle.outcome, cycle.finished_at) == ("superseded", clock.now)
    assert len(told("controller.reconciliation-completed")) == 1


def test_one_that_comes_back_begins_anew(clock: Clock) -> None:
    """A-08"""
    drifted(clock, "harbour")
    declare(clock, controller())
    work(clock)
    delete(clock)
    clock.advance(seconds=1)
    declare(clock, controller())
    [cycle] = work(clock)

    assert (cycle.number, cycle.controller) == (1, live("Controller", KEEPER))
    assert said("harbour") == ("False", "DriftDetected")
    assert (runtime().drifted, runtime().watched) == (1, 1)


def test_one_that_others_run_is_left_to_them(clock: Clock) -> None:
    """I-81"""
    drifted(clock, "harbour")
    declare(clock, controller(runner="external"))
    for _ in range(3):
        assert work(clock) == []
        measure(clock, "harbour", clock.now.minute)
        clock.advance(minutes=5)

    assert not Judgement.objects.exists()
    assert not WorkItem.objects.exists()
    assert ready() == ("Unknown", "External")
    with refuses("refused", match="outside process"):
        controller_commands.request(KEEPER, actor=ALICE, now=clock.now)


def test_one_that_others_run_is_still_watched_over(clock: Clock) -> None:
    """I-81"""
    declare(clock, controller(runner="external"))
    work(clock)
    watchdog.look(clock.advance(minutes=16))

    assert said(KEEPER, "Stalled", "Controller") == ("True", "NoHeartbeat")
    assert ready() == ("Unknown", "NoHeartbeat")


def test_one_that_comes_back_from_others_looks_at_everything(clock: Clock) -> None:
    """I-81"""
    healthy(clock, "harbour")
    declare(clock, controller(runner="external"))
    work(clock)
    declare(clock, controller())
    [cycle] = work(clock)

    assert cycle.full
    assert judged("harbour").status == "True"
    declare(clock, controller(runner="external"))
    measure(clock, "harbour", 1)
    assert work(clock) == []
    assert not WorkItem.objects.exists()


def test_a_round_without_news_writes_nothing(clock: Clock) -> None:
    """A-11"""
    healthy(clock, "harbour")
    declare(clock, controller())
    work(clock)
    rows = list(Resource.objects.order_by("pk").values_list("pk", "resource_version"))
    before = (whole().run_at, whole().arrivals, runtime().token, LedgerEvent.objects.count())
    for _ in range(5):
        registration.sync(clock.advance(seconds=10))
        assert work(clock) == []

    assert list(Resource.objects.order_by("pk").values_list("pk", "resource_version")) == rows
    assert (whole().run_at, whole().arrivals, runtime().token) == before[:3]
    assert LedgerEvent.objects.count() == before[3]


def test_its_own_status_does_not_restart_it(clock: Clock) -> None:
    """F-30 A-03"""
    drifted(clock, "harbour")
    declare(clock, controller())
    work(clock)
    declare(clock, domain("harbour", wanted=2 * WANTED))
    work(clock)

    assert shown("Controller", KEEPER)["metadata"]["generation"] == 1
    assert runtime().generation == 1
    assert item("harbour") is None
