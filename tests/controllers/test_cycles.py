"""One cycle after the other: what is watched, compared, planned and done, and when."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controllers.engine.proposal_lifecycle import OPEN
from controllers.models import Alert, DriftSample, Judgement, Proposal
from controllers.workqueue import queue
from resources.documents.canonical import digest
from resources.tables.models import Resource, ResourceRevision
from tests.conftest import Clock
from tests.controllers.faults import (
    acting,
    doing,
    fails,
    results,
    scales,
    staffed,
    succeeds,
    understaffed,
)
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
    told,
    while_judging,
    work,
)
from tests.resources.making import live, made, shown

pytestmark = pytest.mark.django_db


def watched(by: str = KEEPER) -> list[str]:
    found = Judgement.objects.filter(controller__name=by).order_by("resource__name")
    return list(found.values_list("resource__name", flat=True))


def written() -> list[Any]:
    """Return the versions of everything but the controllers, to see that nothing was written."""
    found = Resource.objects.exclude(kind="Controller").order_by("pk")
    return list(found.values_list("pk", "resource_version"))


# WATCH


def test_only_what_carries_every_label_is_watched(clock: Clock) -> None:
    """I-09"""
    both, one = {"tier": "production", "env": "eu"}, {"tier": "production"}
    declare(clock, controller(targetSelector={"matchLabels": both}))
    declare(clock, domain("both", labels=both), domain("one", labels=one), domain("none"))
    work(clock)

    assert watched() == ["both"]


@pytest.mark.parametrize("selector", [{}, {"matchLabels": {}}])
def test_an_empty_selector_selects_all(clock: Clock, selector: dict[str, Any]) -> None:
    """I-10"""
    declare(clock, controller(targetSelector=selector), domain("here"), domain("there"))
    work(clock)

    assert watched() == ["here", "there"]


def test_what_is_created_later_is_watched_from_then_on(clock: Clock) -> None:
    """I-38"""
    healthy(clock, "first")
    declare(clock, controller())
    work(clock)
    clock.advance(minutes=1)
    healthy(clock, "second")
    work(clock)

    assert watched() == ["first", "second"]
    assert runtime().watched == 2


def test_the_version_that_was_read_is_kept(clock: Clock) -> None:
    """I-39 D-10 A later edit is judged by itself; what was concluded before keeps its figures."""
    drifted(clock, "harbour")
    declare(clock, controller())
    [first] = work(clock)
    before = judged("harbour")
    assert (before.generation, before.version) == (1, live("Domain", "harbour").resource_version)
    assert first.revision <= before.version

    declare(clock, domain("harbour", wanted=50))
    sample = DriftSample.objects.get()
    work(clock)

    assert judged("harbour").generation == 2
    assert (sample.score, sample.drifted) == (1, True)
    assert list(DriftSample.objects.order_by("pk").values_list("score", flat=True)) == [1, 0]


def test_what_was_reconciled_within_the_interval_is_passed_over(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I-40"""
    looks: list[str] = []
    while_judging(monkeypatch, looks.append)
    healthy(clock, "early", "late")
    declare(clock, controller())
    work(clock)
    clock.advance(minutes=3)
    measure(clock, "late", WANTED + 1)
    work(clock)
    assert looks == ["early", "late", "late"]

    clock.advance(minutes=2)
    work(clock)
    assert looks[3:] == ["early"]

    clock.advance(minutes=5)
    work(clock)
    assert looks[4:] == ["early", "late"]


def test_a_change_is_looked_at_without_waiting_for_the_interval(clock: Clock) -> None:
    """I-41"""
    healthy(clock, "harbour")
    declare(clock, controller(reconcileInterval="7d"))
    work(clock)
    clock.advance(seconds=1)
    declare(clock, domain("harbour", wanted=2 * WANTED))
    [cycle] = work(clock)

    assert cycle.reasons == queue.CHANGE
    assert judged("harbour").drifted


# DIFF


def test_what_is_declared_is_compared_with_what_is_reported(clock: Clock) -> None:
    """I-03 F-43 A new declaration does not change what was observed."""
    agents = controller(targetKind="Agent", drift={"weights": {"field": 1}}, driftThreshold=0.01)
    robin = made("Agent", "robin", {"state": "running"}, status={"state": "paused"})
    declare(clock, agents, domain("harbour"), robin)
    work(clock)

    found = judged("robin", kind="Agent")
    [field] = [each for each in found.evidence if each["dimension"] == "field"]
    assert (field["desired"], field["observed"]) == ("running", "paused")
    assert found.drifted

    declare(clock, made("Agent", "robin", {"state": "paused"}))
    work(clock)

    assert judged("robin", kind="Agent").score == 0
    assert shown("Agent", "robin")["status"]["state"] == "paused"


def test_looking_writes_nothing(clock: Clock) -> None:
    """D-09 A-11 F-41 D-47 I-60 Only the controller's own status says that it looked again."""
    healthy(clock, "harbour")
    declare(clock, controller())
    work(clock)
    work(clock)
    before, said = written(), own("harbour")
    for _ in range(5):
        clock.advance(minutes=5)
        assert [each.outcome for each in work(clock)] == ["converged"]
        assert work(clock) == []

    after = own("harbour")
    assert written() == before
    assert said is not None
    assert after is not None
    assert after.last_transition_time == said.last_transition_time < clock.now
    assert runtime().last_run_at == clock.now
    assert DriftSample.objects.count() == 1
    assert not Alert.objects.exists()


def test_what_drifts_on_is_not_told_again(clock: Clock) -> None:
    """F-41 D-47"""
    drifted(clock, "harbour")
    declare(clock, controller(actions={"onDrift": [{"type": "alert", "severity": "warning"}]}))
    work(clock)
    before, actions = written(), len(told("controller.action-performed"))
    clock.advance(minutes=5)
    [cycle] = work(clock)

    assert (cycle.outcome, cycle.actions) == ("drift_reported", [])
    assert written() == before
    assert len(told("controller.action-performed")) == actions
    assert len(alerts()) == 1


def test_its_own_writes_cause_no_cycle(clock: Clock) -> None:
    """A-03 F-30"""
    drifted(clock, "harbour")
    declare(clock, controller())
    first = work(clock)
    assert len(first) == 1
    for _ in range(10):
        clock.advance(seconds=20)
        assert work(clock) == []

    declare(clock, domain("harbour", wanted=2 * WANTED))
    assert len(work(clock)) == 1
    assert work(clock) == []


def test_a_hundred_reports_of_the_same_cause_no_cycle(clock: Clock) -> None:
    """A-03"""
    healthy(clock, "harbour")
    declare(clock, controller())
    work(clock)
    for _ in range(100):
        measure(clock, "harbour", WANTED)

    assert work(clock) == []


def test_a_conclusion_that_was_lost_is_made_again(clock: Clock) -> None:
    """A-16"""
    healthy(clock, "harbour")
    declare(clock, controller())
    work(clock)
    Judgement.objects.all().delete()
    clock.advance(minutes=5)
    work(clock)

    assert judged("harbour").status == "True"
    assert (runtime().healthy, runtime().watched) == (1, 1)


# PLAN


@pytest.mark.parametrize(("threshold", "plans"), [(0.25, 1), (0.250001, 0)])
def test_from_the_threshold_on_there_is_a_plan(clock: Clock, threshold: float, plans: int) -> None:
    """I-48 I-49"""
    understaffed(clock, "harbour")
    declare(clock, acting(driftThreshold=threshold))
    [cycle] = work(clock)

    assert judged("harbour").score == 0.25
    assert Proposal.objects.count() == plans
    assert cycle.outcome == ("drift_reported" if plans else "converged")


def test_actions_keep_the_order_they_are_declared_in(clock: Clock) -> None:
    """I-13"""
    declared = [
        {"type": "log", "severity": "info"},
        {"type": "alert", "severity": "warning"},
        {"type": "reconcile"},
        {"type": "escalate"},
    ]
    understaffed(clock, "harbour")
    declare(clock, acting(actions={"onDrift": declared}))
    [cycle] = work(clock, effects=doing(succeeds))

    kinds = ["log", "alert", "reconcile", "escalate"]
    assert [each["type"] for each in cycle.actions] == kinds
    done = told("controller.action-performed")
    assert [each.payload["actionType"] for each in done] == kinds
    assert [each["result"] for each in cycle.actions][2] == "success"


def staffing(clock: Clock, strategy: str, most: int) -> list[int]:
    """Let a domain of ten agents be staffed cycle by cycle; return how many were at work."""
    understaffed(clock, "harbour", bound=10, active=0)
    actions = {"onDrift": [{"type": "reconcile", "strategy": strategy}]}
    declare(clock, acting(actions=actions))
    passed = [0]
    for _ in range(most):
        work(clock, effects=doing(scales(clock)))
        passed.append(shown("Domain", "harbour")["status"]["activeAgents"])
    return passed


def test_gradual_goes_step_by_step(clock: Clock) -> None:
    """I-16 I-04"""
    passed = staffing(clock, "gradual", 9)

    assert passed == [0, 2, 4, 5, 6, 7, 8, 9, 10, 10]
    assert judged("harbour").status == "True"


def test_immediate_goes_the_whole_way_at_once(clock: Clock) -> None:
    """I-17 I-04"""
    assert staffing(clock, "immediate", 2) == [0, 10, 10]
    assert judged("harbour").score == 0


def test_the_way_back_starts_where_the_step_ends(clock: Clock) -> None:
    """I-16"""
    understaffed(clock, "harbour", bound=10, active=0)
    declare(clock, controller(actions={"onDrift": [{"type": "reconcile"}]}))
    work(clock)

    [action] = Proposal.objects.get().actions
    assert (action["parameters"]["from"], action["parameters"]["to"]) == (0, 2)
    assert action["rollback"]["parameters"] == {"domain": "harbour", "from": 2, "to": 0}


def test_a_plan_is_named_by_what_it_would_change(clock: Clock) -> None:
    """D-26 There is no way to change a plan: another one takes its place under another name."""
    understaffed(clock, "harbour", bound=3)
    declare(clock, acting(enforcementMode="warn"))
    work(clock)

    plan = Proposal.objects.get()
    named = [[each["target"], each["operation"], each["parameters"]] for each in plan.actions]
    [event] = told("controller.drift-detected")
    assert digest(named) == judged("harbour").plan == event.payload["plan"]

    staffed(clock, "harbour", 2)
    work(clock)
    other = Proposal.objects.get(state="pending")
    assert other.action_digest not in ("", plan.action_digest)
    assert Proposal.objects.get(pk=plan.pk).superseded_by == other

    staffed(clock, "harbour", 3)
    work(clock)
    assert not Proposal.objects.filter(state__in=OPEN).exists()


MODES = [
    ("observe", ["planned", "planned"], [], 0),
    ("advise", ["planned", "planned"], [("advise", "recommend", "recommended")], 0),
    ("warn", ["success", "success"], [("warn", "ask", "pending")], 1),
    ("enforce", ["success", "success"], [("enforce", "run", "verifying")], 1),
]


@pytest.mark.parametrize(("mode", "told_people", "proposed", "rung"), MODES)
def test_the_mode_says_how_far_actions_go(
    today: Clock, mode: str, told_people: list[str], proposed: list[Any], rung: int
) -> None:
    """I-51 I-54 I-55 I-56 What changes things is proposed, unless the controller only observes."""
    healthy(today, "harbour")
    declared = [{"type": "alert"}, {"type": "escalate"}, {"type": "reconcile"}]
    declare(today, acting(enforcementMode=mode, actions={"onDrift": declared}))
    work(today)
    understaffed(today, "harbour")
    before = live("Domain", "harbour").generation
    [cycle] = work(today)

    assert results(cycle.actions) == [*told_people, "planned"]
    assert [(each.mode, each.lane, each.state) for each in Proposal.objects.all()] == proposed
    assert len(alerts()) == rung
    assert len(told("controller.drift-detected")) == 1
    assert live("Domain", "harbour").generation == before


def violated(clock: Clock, mode: str) -> None:
    """Declare a policy whose every rule is broken, and a controller that blocks."""
    rules = {"zeroTrust": {"enabled": True}}
    declare(clock, domain("harbour"))
    declare(clock, made("SecurityPolicy", "gates", rules, status={"violations": 1}))
    actions = {"onDrift": [{"type": "log"}, {"type": "block"}]}
    blocking = {"targetKind": "SecurityPolicy", "enforcementMode": mode, "actions": actions}
    declare(clock, controller(KEEPER, **blocking))


@pytest.mark.parametrize(("mode", "block"), [("observe", "planned"), ("enforce", "success")])
def test_security_drift_is_logged_or_blocked(clock: Clock, mode: str, block: str) -> None:
    """I-51"""
    violated(clock, mode)
    [cycle] = work(clock, effects=doing(succeeds))

    assert [(each["type"], each["result"]) for each in cycle.actions] == [
        ("log", "success"),
        ("block", block),
    ]
    assert len(told("controller.logged")) == 1


# ACT


def test_an_action_brings_the_resource_nearer(clock: Clock) -> None:
    """I-04"""
    understaffed(clock, "harbour")
    declare(clock, acting())
    work(clock, effects=doing(scales(clock)))
    before = judged("harbour")
    assert before.score == 0.25
    work(clock, effects=doing(scales(clock)))

    after = judged("harbour")
    assert (after.score, after.status) == (0, "True")
    assert [each.outcome for each in cycles()] == ["acted", "converged"]


def test_reporting_never_declares(clock: Clock) -> None:
    """I-05"""
    understaffed(clock, "harbour")
    drifted(clock, "city")
    declare(clock, acting())
    before = {
        row.pk: (row.generation, row.spec, row.metadata)
        for row in Resource.objects.exclude(kind="Controller")
    }
    for _ in range(3):
        work(clock, effects=doing(succeeds))
        clock.advance(minutes=5)

    for row in Resource.objects.exclude(kind="Controller"):
        assert (row.generation, row.spec, row.metadata) == before[row.pk]
    by_us = ResourceRevision.objects.filter(actor=f"controller/{KEEPER}")
    assert by_us.exists()
    assert not by_us.filter(spec__isnull=False).exists()


def test_each_action_is_recorded_with_its_time_and_result(clock: Clock) -> None:
    """I-57 I-30 I-89"""
    understaffed(clock, "harbour")
    actions = {"onDrift": [{"type": "alert"}, {"type": "reconcile"}]}
    declare(clock, acting(actions=actions))
    work(clock, effects=doing(fails))

    at = clock.now.isoformat().replace("+00:00", "Z")
    assert shown("Controller", KEEPER)["status"]["actionsPerformed"] == [
        {"type": "alert", "target": "domain/harbour", "at": at, "result": "success"},
        {"type": "reconcile", "target": "domain/harbour", "at": at, "result": "failure"},
    ]
    entries = told("controller.action-performed")
    assert [(each.at, each.payload["result"]) for each in entries] == [
        (clock.now, "success"),
        (clock.now, "failure"),
    ]


def test_a_cycle_makes_only_so_many_changes(clock: Clock) -> None:
    """I-105"""
    names = [f"berth-{number:02}" for number in range(25)]
    understaffed(clock, *names)
    declare(clock, acting(maxActionsPerCycle=10))
    scaling = doing(scales(clock))
    [first] = work(clock, effects=scaling)

    assert (first.counts["success"], first.counts["skipped"]) == (10, 15)
    put_off = [each for each in first.actions if each["result"] == "skipped"]
    assert {each["reason"] for each in put_off} == {"MaxActionsPerCycle"}
    waiting = [name for name in names if item(name) is not None]
    assert len(waiting) == 15

    work(clock, effects=scaling)
    clock.advance(minutes=5)
    [second] = work(clock, effects=scaling)
    work(clock, effects=scaling)
    clock.advance(minutes=5)
    [third] = work(clock, effects=scaling)
    work(clock, effects=scaling)

    assert (second.counts["success"], second.counts["skipped"]) == (10, 5)
    assert (third.counts["success"], third.counts.get("skipped", 0)) == (5, 0)
    assert runtime().healthy == 25
    assert [name for name in names if item(name) is not None] == []


def test_what_is_put_off_comes_even_when_nothing_else_would_look(clock: Clock) -> None:
    """I-105 A controller that looks at everything only once a day still comes back in time."""
    understaffed(clock, "east", "west")
    declare(clock, acting(maxActionsPerCycle=1, resyncInterval="1d"))
    scaling = doing(scales(clock))
    work(clock, effects=scaling)
    work(clock, effects=scaling)
    assert (runtime().healthy, runtime().drifted) == (1, 1)

    clock.advance(minutes=5)
    work(clock, effects=scaling)
    work(clock, effects=scaling)

    assert runtime().healthy == 2


def test_telling_is_not_counted_as_a_change(clock: Clock) -> None:
    """I-105"""
    understaffed(clock, "east", "west")
    actions = {"onDrift": [{"type": "log"}, {"type": "alert"}, {"type": "reconcile"}]}
    declare(clock, acting(maxActionsPerCycle=1, actions=actions))
    [cycle] = work(clock, effects=doing(succeeds))

    assert (cycle.counts["success"], cycle.counts["skipped"]) == (5, 1)


# The loop


def test_a_cycle_every_interval(clock: Clock) -> None:
    """I-63 F-31"""
    healthy(clock, "harbour")
    declare(clock, controller())
    work(clock)
    ran = []
    for _ in range(3 * 20):
        clock.advance(seconds=15)
        ran += work(clock)

    start = cycles()[0].started_at
    assert [each.started_at - start for each in ran] == [
        timedelta(minutes=minutes) for minutes in (5, 10, 15)
    ]
    assert {each.reasons for each in ran} == {queue.INTERVAL}


def test_intervals_that_passed_meanwhile_do_not_pile_up(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I-63"""
    healthy(clock, "harbour")
    declare(clock, controller())
    work(clock)
    clock.advance(minutes=5)
    while_judging(monkeypatch, lambda _: clock.advance(minutes=12))
    assert len(work(clock)) == 1
    assert work(clock) == []

    clock.advance(minutes=2, seconds=59)
    assert work(clock) == []
    clock.advance(seconds=1)
    assert len(work(clock)) == 1


def test_a_cycle_tells_how_many_and_how_long_in_each_phase(clock: Clock) -> None:
    """D-45 D-48 O-04 The phases are figures of one record, not events of their own."""
    healthy(clock, *(f"good-{number}" for number in range(5)))
    drifted(clock, "bad", "worse")
    declare(clock, controller())
    [cycle] = work(clock)

    assert list(cycle.times) == ["watch", "diff", "plan", "act", "report"]
    assert all(spent >= 0 for spent in cycle.times.values())
    assert (cycle.counts["watched"], cycle.counts["judged"]) == (7, 7)
    assert (cycle.counts["healthy"], cycle.counts["drifted"]) == (5, 2)
    assert (cycle.full, cycle.mode, cycle.generation) == (True, "warn", 1)


def idle_questions(clock: Clock) -> list[str]:
    """Let everything be looked at while nothing changed; return what the database was asked."""
    work(clock)
    clock.advance(minutes=5)
    with CaptureQueriesContext(connection) as asked:
        assert len(work(clock)) == 1
    return [each["sql"] for each in asked]


def test_more_resources_cost_an_idle_cycle_no_more_questions(clock: Clock) -> None:
    """A-11 D-47"""
    healthy(clock, "harbour")
    declare(clock, controller())
    few = idle_questions(clock)
    healthy(clock, *(f"harbour-{number:03}" for number in range(40)))
    many = idle_questions(clock)

    assert len(many) == len(few)
    assert not [
        each for each in many if each.startswith(("INSERT", "UPDATE")) and "judgement" in each
    ]
