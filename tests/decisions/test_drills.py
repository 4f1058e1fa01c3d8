"""Override drills: the live system is tried with a canary, and only what it shows counts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers import execution
from controllers.decisions import holds
from controllers.engine import gate
from controllers.models import Delivery, Drill, Hold, Proposal
from controllers.worker import drills, housekeeping
from controllers.worker.drills import drill_run
from resources.documents.actor import Actor
from resources.tables.ledger import instant
from resources.tables.models import LedgerEvent, Resource
from resources.usecases import statuses
from tests.conftest import Clock
from tests.problems import refuses
from tests.resources.making import apply, live, made

pytestmark = pytest.mark.django_db

NAME = "growth-rules"
MONTH = timedelta(days=30)


class Killed(BaseException):
    """What `kill -9` is: nothing of ours runs any more."""


def governance(clock: Clock, **override: Any) -> Resource:
    """Declare a domain and who steps in there."""
    spec = {
        "domain": "growth",
        "humanOverride": {"enabled": True} | override,
        "escalation": {"paths": [{"level": 1, "role": "lead", "channel": "pager"}]},
    }
    assert apply(clock.now, made("Domain", "growth"), made("Governance", NAME, spec)).written
    return live("Governance", NAME)


def drilled(clock: Clock) -> Drill:
    """Ask for a drill and let the loop run it."""
    asked = drills.ask(NAME, now=clock.now)
    drills.sweep(clock.now)
    asked.refresh_from_db()
    return asked


def last_test() -> Any:
    return live("Governance", NAME).status.get("lastOverrideTest")


def left() -> list[str]:
    """Return what of any canary is still there."""
    rows = Resource.objects.filter(name__startswith="override-drill", deleted_at=None)
    standing = [str(each) for each in Hold.objects.filter(ended_at=None)]
    return [*map(str, rows), *standing]


def events(drill: Drill) -> list[str]:
    rows = LedgerEvent.objects.filter(stream=drill.stream).order_by("seq")
    return [each.event for each in rows]


def test_a_drill_proves_that_a_pause_stops_an_effect(clock: Clock) -> None:
    """I-97 The way to step in is tried on the live system, and the proof is kept."""
    governance(clock)

    drill = drilled(clock)

    assert (drill.state, drill.problem) == ("passed", "")
    steps = [each["step"] for each in drill.evidence]
    assert steps == ["control", "pause", "attempt", "lift", "afterwards"]
    assert "was refused" in drill.evidence[2]["found"]
    assert last_test() == instant(clock.now)
    assert events(drill) == ["drill.asked", "drill.begun", "drill.passed"]
    assert left() == []


def test_the_whole_drill_is_one_story_of_the_ledger(clock: Clock) -> None:
    governance(clock)

    drill = drilled(clock)

    told = LedgerEvent.objects.filter(correlation_id=str(drill.uid))
    seen = set(told.values_list("event", flat=True))
    assert {"hold.placed", "proposal.held", "hold.lifted", "proposal.executed"} <= seen


def test_no_proposal_of_a_drill_stays_open(clock: Clock) -> None:
    governance(clock)

    drilled(clock)

    assert set(Proposal.objects.values_list("state", flat=True)) <= {"succeeded", "withdrawn"}


def test_a_drill_fails_when_the_gate_no_longer_asks_for_holds(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    governance(clock)
    monkeypatch.setattr(gate, "GUARDS", gate.GUARDS[4:])

    drill = drilled(clock)

    assert drill.state == "failed"
    assert "carried out although its controller was paused" in drill.problem
    assert last_test() is None
    assert events(drill)[-1] == "drill.failed"
    assert {each.channel for each in Delivery.objects.filter(severity="critical")} == {"", "pager"}
    assert left() == []


def test_a_drill_fails_when_nothing_can_act_at_all(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    governance(clock)
    monkeypatch.setattr(execution, "execute", lambda *_: None)

    drill = drilled(clock)

    assert (drill.state, last_test()) == ("failed", None)
    assert "Before the pause the canary could not act" in drill.problem


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_a_drill_that_was_killed_is_ended_by_the_next_worker(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    governance(clock)
    left_to_do = iter(range(calls))
    real = execution.execute

    def killed(*given: Any) -> Any:
        if next(left_to_do, None) is None:
            raise Killed
        return real(*given)

    next(left_to_do)
    monkeypatch.setattr(execution, "execute", killed)
    with pytest.raises(Killed):
        drilled(clock)
    monkeypatch.undo()
    assert left() != []
    clock.now += drill_run.LEASE

    drills.sweep(clock.now)

    drill = Drill.objects.get()
    assert (drill.state, last_test(), left()) == ("failed", None, [])
    assert "lost in the middle" in drill.problem


def test_its_pause_stands_no_longer_than_its_lease_even_if_nobody_sweeps(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    governance(clock)
    monkeypatch.setattr(drill_run, "STEPS", (*drill_run.STEPS[:2], _killed))
    with pytest.raises(Killed):
        drilled(clock)

    assert holds.standing(clock.now)
    assert not holds.standing(clock.now + drill_run.LEASE)


def _killed(*_: Any) -> str:
    raise Killed


def test_a_drill_is_run_when_it_is_due_and_not_before(clock: Clock) -> None:
    governance(clock, drillEvery="30d")
    housekeeping.run_due(clock.now)
    first = last_test()
    clock.now += MONTH - timedelta(hours=1)
    housekeeping.run_due(clock.now)
    assert (first, last_test()) == (instant(clock.now - MONTH + timedelta(hours=1)), first)

    clock.now += timedelta(hours=2)
    housekeeping.run_due(clock.now)

    assert last_test() == instant(clock.now)
    assert Drill.objects.filter(state="passed", author="system/ioa").count() == 2


def test_nothing_is_drilled_where_nothing_is_declared(clock: Clock) -> None:
    governance(clock)
    housekeeping.run_due(clock.now)

    assert not Drill.objects.exists()


def test_a_drill_that_failed_is_tried_again_later_and_a_late_one_rings_once(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    governance(clock, drillEvery="30d")
    monkeypatch.setattr(execution, "execute", lambda *_: None)
    for _ in range(2):
        drills.sweep(clock.now)
    assert Drill.objects.count() == 1

    clock.now += timedelta(hours=25)
    for _ in range(2):
        drills.sweep(clock.now)

    assert Drill.objects.count() == 2
    late = Delivery.objects.filter(body__contains="none has passed since", channel="pager")
    assert late.count() == 1


def test_a_hold_over_everything_keeps_a_drill_from_showing_anything(
    clock: Clock, maya: User
) -> None:
    governance(clock)
    wanted = holds.HoldRequest("stop", "organisation", "We look into it.", open_ended=True)
    stop = holds.place(wanted, person=maya, now=clock.now).hold

    drill = drilled(clock)

    assert (drill.state, last_test()) == ("failed", None)
    assert "stands already" in drill.problem
    assert Hold.objects.get(ended_at=None) == stop


def test_only_what_was_proven_moves_the_last_test(clock: Clock) -> None:
    governance(clock)
    claim = statuses.Report("Governance", NAME, {"lastOverrideTest": instant(clock.now)})

    (said,) = statuses.observe([claim], actor=Actor("person", "maya"), now=clock.now)

    assert (said.verdict, said.problems[0].pointer) == ("refused", "/status/lastOverrideTest")
    assert last_test() is None


def test_a_whole_status_that_leaves_the_last_test_out_does_not_remove_it(clock: Clock) -> None:
    governance(clock)
    drilled(clock)
    report = statuses.Report("Governance", NAME, {"activePolicies": 3}, replace=True)

    (said,) = statuses.observe([report], actor=Actor("person", "maya"), now=clock.now)

    assert (said.verdict, last_test()) == ("changed", instant(clock.now))


def test_two_drills_of_one_governance_do_not_run_at_once(clock: Clock) -> None:
    governance(clock)
    drills.ask(NAME, now=clock.now)

    with refuses("refused", match="asked for already"):
        drills.ask(NAME, now=clock.now)


def test_operators_ask_for_a_drill_and_viewers_do_not(
    clock: Clock, ines: User, vera: User
) -> None:
    governance(clock)
    with refuses("forbidden"):
        drills.ask(NAME, person=vera, now=clock.now)

    assert drills.ask(NAME, person=ines, now=clock.now).author == "person/ines"


def test_the_product_never_resumes_what_a_person_paused(clock: Clock, maya: User) -> None:
    spec = {"targetKind": "Agent", "reconcileInterval": "5m"}
    assert apply(clock.now, made("Controller", "keeper", spec)).written
    wanted = holds.HoldRequest(
        "pause", "controller", "We look into it.", controller=live("Controller", "keeper").pk
    )
    hold = holds.place(wanted, person=maya, now=clock.now).hold

    with refuses("forbidden", match="Only the canary"):
        holds.end_rehearsal(hold.pk, clock.now)
