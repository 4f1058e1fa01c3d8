"""Controllers that others run: the same rules, modes and holds as ours."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from controllers import execution
from controllers.decisions import holds
from controllers.engine.errors import Conflict
from controllers.loop import chunk_writer, recovery, registration, watchdog
from controllers.loop.cycle_run import Means
from controllers.models import Alert, Cycle, DriftSample, Judgement, Proposal, Runtime, WorkItem
from resources.store import evidence
from resources.tables.models import AgentToken, Condition, LedgerEvent
from resources.usecases import access
from tests.api.conftest import Api, issue, queries, real_database
from tests.api.deciding import as_person, as_user, good, problem, say
from tests.api.outdoors import (
    KEEPER,
    OWN,
    RESTART,
    Process,
    bad,
    keeper,
    pass_lease,
    said,
    scene,
    well,
)
from tests.api.working import manager
from tests.conftest import Clock
from tests.controllers.making import controller, declare, work
from tests.decisions.making import agent
from tests.resources.making import live, made
from tests.resources.racing import together
from tests.rows import every_row

__all__ = ["real_database"]

pytestmark = [pytest.mark.django_db, pytest.mark.full]


def run() -> None:
    """Be a worker for one round."""
    execution.run_due("worker", Means(clock=timezone.now))


def pause(clock: Clock, **scope: Any) -> holds.Placed:
    wanted = holds.HoldRequest(**({"kind": "pause", "reason": "Campaign week."} | scope))
    return holds.place(wanted, person=manager(clock), now=timezone.now())


def traces() -> tuple[Any, ...]:
    """Return what a finding would change; that a token was refused is written anyway."""
    return (
        list(Judgement.objects.order_by("pk").values_list("pk", "score", "version")),
        list(Condition.objects.order_by("pk").values_list("pk", "status", "reason")),
        Proposal.objects.count(),
        LedgerEvent.objects.exclude(event__in=("token.refused", "person.refused")).count(),
    )


# What follows from findings


def test_findings_become_judgements_conditions_history_and_proposals(today: Clock) -> None:
    """I-01 I-81"""
    process = scene(today, "scribe", "editor", enforcementMode="warn")
    begun = good(process.open(), "Opened", 201)
    assert (begun["cycle"]["outcome"], begun["holds"], begun["resync"]) == ("running", [], True)
    unwell, fine = good(process.find(bad(), well("editor")), "FindingResults")["items"]
    closed = good(process.close(counts={"watched": 2}, times={"watch": 5.5}), "Closed")["cycle"]

    assert (unwell["verdict"], unwell["drifted"], unwell["score"]) == ("taken", True, 0.8)
    assert [each["disposition"] for each in unwell["actions"]] == ["ask"]
    assert (fine["status"], fine["drifted"]) == ("True", False)
    judged = Judgement.objects.get(resource=live("Agent", "scribe"))
    assert (judged.score, judged.reason, judged.message) == (
        0.8,
        "Unresponsive",
        "It does not answer.",
    )
    assert judged.evidence[0]["subject"] == "condition/Ready"
    assert DriftSample.objects.filter(resource=live("Agent", "scribe"), score=0.8).exists()
    assert (said(), said("editor")) == (("False", "Unresponsive"), ("True", "Converged"))
    (wish,) = Proposal.objects.all()
    assert (wish.proposer, wish.state, wish.lane) == (f"controller/{KEEPER}", "pending", "ask")
    assert (closed["outcome"], closed["full"]) == ("drift_reported", True)
    assert (closed["counts"]["drifted"], closed["times"]["watch"]) == (1, 5.5)
    assert said(KEEPER, "Ready", "Controller") == ("True", "Running")
    assert live("Controller", KEEPER).status["unhealthyResources"] == 1
    story = LedgerEvent.objects.filter(correlation_id=begun["correlationId"])
    assert {"controller.reconciliation-started", "controller.drift-detected"} <= set(
        story.values_list("event", flat=True)
    )
    own = story.filter(event__startswith="controller.")
    assert set(own.values_list("actor", flat=True)) == {f"controller/{KEEPER}"}
    assert evidence.verify().findings == []


def test_what_it_may_do_alone_is_its_own_work_and_is_verified(today: Clock) -> None:
    """I-01"""
    process = scene(today)
    (found,) = process.look(bad())
    assert [each["disposition"] for each in found["actions"]] == ["run"]
    wish = Proposal.objects.get()
    assert (wish.state, wish.decided_by) == ("approved", "policy/enforce@1")

    run()
    (offered,) = process.api.get("actions", "state=claimable").json()["items"]
    assert offered["for"] == f"controller/{KEEPER}"
    held = good(process.api.post(f"actions/{offered['id']}/claim", {}), "Claim")
    body = {"fence": held["fence"], "outcome": "success"}
    good(process.api.post(f"actions/{offered['id']}/result", body), "Action")
    wish.refresh_from_db()
    assert wish.state == "verifying"

    process.look(well())
    wish.refresh_from_db()
    assert (wish.state, wish.outcome) == ("succeeded", "effective")
    entry = LedgerEvent.objects.get(event="proposal.claimed")
    assert entry.actor == f"controller/{KEEPER}"
    assert said() == ("True", "Converged")


def test_what_needs_people_waits_for_people_who_are_not_behind_it(today: Clock) -> None:
    """I9"""
    maya = as_person(today, "maya", "approver")
    agent(today)
    keeper(today, enforcementMode="warn")
    process = Process()
    alice = as_person(today, "alice", "approver")
    process.look(bad())
    (wish,) = Proposal.objects.all()

    assert wish.interested == ["alice"]
    assert problem(say(alice, wish, "approve"), 403, "forbidden")["code"] == "Interested"
    assert say(maya, wish, "approve").status_code == 200
    run()
    assert len(process.api.get("actions", "state=claimable").json()["items"]) == 1


def test_a_mode_that_only_observes_only_notes(today: Clock) -> None:
    """I10"""
    process = scene(today, enforcementMode="observe")
    (found,) = process.look(bad())

    assert [each["disposition"] for each in found["actions"]] == ["record"]
    assert not Proposal.objects.exists()


def test_a_part_never_leads_to_a_change(today: Clock) -> None:
    process = scene(today)
    (found,) = process.look(bad(complete=False))

    (action,) = found["actions"]
    assert (action["disposition"], action["code"]) == ("refuse", "SnapshotPartial")
    assert (found["drifted"], said()) == (True, ("False", "Unresponsive"))
    assert not Proposal.objects.exists()


def test_as_many_changes_as_one_cycle_may_make_over_all_calls(today: Clock) -> None:
    """I14"""
    process = scene(today, "scribe", "editor", maxActionsPerCycle=1)
    process.open()
    first = process.find(bad()).json()["items"][0]
    second = process.find(bad("editor")).json()["items"][0]
    process.close()

    assert [each["actions"][0]["disposition"] for each in (first, second)] == ["run", "schedule"]
    assert second["actions"][0]["code"] == "MaxActionsPerCycle"
    assert Proposal.objects.count() == 1


def test_only_declared_actions_are_taken(today: Clock) -> None:
    process = scene(today, actions={"onDrift": [{"type": "log"}]})
    (found,) = process.look(bad())

    assert [each["operation"] for each in found["actions"]] == ["log"]
    assert not Proposal.objects.exists()


def test_a_check_that_does_not_hold_stops_it_too(today: Clock) -> None:
    check = {"name": "not-now", "action": "check agent.status.state == 'running'"}
    process = scene(today, hooks={"preReconcile": [check]})
    (found,) = process.look(bad())

    assert (found["reason"], found["actions"]) == ("HookFailed", [])
    assert not Proposal.objects.exists()


def test_a_dry_run_says_what_would_follow_and_writes_nothing(today: Clock) -> None:
    process = scene(today)
    process.open()
    before = traces()

    found = good(process.find(bad(), query="dryRun=true"), "FindingResults")["items"][0]

    assert found["actions"][0]["disposition"] == "run"
    assert traces() == before


def test_the_same_finding_twice_writes_nothing_new(today: Clock) -> None:
    """I15"""
    process = scene(today, "scribe", "editor", enforcementMode="warn")
    process.look(bad(), well("editor"))
    process.open()
    before = traces()
    process.find(bad(), well("editor"))

    assert traces() == before


def test_a_drift_that_is_gone_closes_its_proposal(today: Clock) -> None:
    process = scene(today, enforcementMode="warn")
    process.look(bad())
    process.look(well())

    assert Proposal.objects.get().state == "converged"


def test_without_figures_nothing_is_known(today: Clock) -> None:
    process = scene(today)
    (found,) = process.look({"resource": "agent/scribe", "condition": {"status": "Unknown"}})

    assert (found["status"], found["reason"], "score" in found) == ("Unknown", "NoData", False)


def test_a_score_alone_is_held_against_the_limit(today: Clock) -> None:
    process = scene(today, "scribe", "editor")
    low, high = process.look(
        {"resource": "agent/scribe", "score": 0.1}, {"resource": "agent/editor", "score": 0.2}
    )

    assert (low["drifted"], high["drifted"]) == (False, True)


def test_what_it_no_longer_looks_after_is_let_go(today: Clock) -> None:
    process = scene(today, "scribe", "editor", enforcementMode="warn")
    process.look(bad(), well("editor"))
    live_one = live("Agent", "scribe")
    spec = {"targetKind": "Agent", "reconcileInterval": "5m", "runner": "external"}
    label = {"targetSelector": {"matchLabels": {"tier": "gold"}}}
    declare(today, made("Controller", KEEPER, spec | label))
    registration.sync(timezone.now())
    problem_free = process.open()
    assert problem_free.status_code == 201
    assert process.find(bad()).json()["items"][0]["verdict"] == "missing"
    process.close()

    assert not Judgement.objects.exists()
    assert not Condition.objects.filter(resource=live_one, type=OWN).exists()
    assert {each.state for each in Proposal.objects.all()} == {"withdrawn"}


def test_a_cycle_that_left_some_out_does_not_count_as_full(today: Clock) -> None:
    process = scene(today, "scribe", "editor")
    process.open()
    process.find(well())
    closed = process.close().json()

    assert (closed["cycle"]["full"], closed["resync"]) == (False, True)


# What is refused


@pytest.mark.parametrize("type_", ["OtherConverged", "Ready", "keeperConverged"])
def test_conditions_of_others_are_not_its_own(today: Clock, type_: str) -> None:
    """I6"""
    process = scene(today)
    declare(today, controller("other", targetKind="Agent"))
    work(today)
    process.open()
    before = traces()
    condition = {"type": type_, "reason": "Unresponsive"}
    found = process.find(bad(condition=condition)).json()["items"][0]

    assert (found["verdict"], found["problems"][0]["pointer"]) == ("refused", "/condition/type")
    assert traces() == before
    assert Condition.objects.filter(managed_by="controller/other", type="OtherConverged").exists()


@every_row(
    ("change", "pointer"),
    [
        ({"condition": {"reason": "not a word"}}, "/condition/reason"),
        ({"condition": {"reason": "HookFailed"}}, "/condition/reason"),
        ({"condition": {"reason": "ControllerStalled"}}, "/condition/reason"),
        ({"condition": {"status": "True"}}, "/condition/status"),
        ({"score": 0.5}, "/score"),
        ({"actions": [{"operation": "explode"}]}, "/actions/0/operation"),
        ({"actions": [{"operation": "alert"}]}, "/actions/0/operation"),
        ({"actions": [RESTART | {"parameters": {"why": 1}}]}, "/actions/0/parameters/why"),
        ({"actions": [{"operation": "block-spend"}]}, "/actions/0"),
        ({"dimensions": {"health": {"score": 0}}}, "/actions"),
    ],
    rolled_back=True,
)
def test_a_finding_that_does_not_hold_is_refused_alone(
    today: Clock, change: dict[str, Any], pointer: str
) -> None:
    process = scene(today, "scribe", "editor")
    process.open()
    refused, taken = process.find(bad(**change), well("editor")).json()["items"]

    assert (refused["verdict"], taken["verdict"]) == ("refused", "taken")
    assert refused["problems"][0]["pointer"].startswith(pointer)
    assert not Judgement.objects.filter(resource=live("Agent", "scribe")).exists()


def test_what_moved_on_is_looked_at_again(today: Clock) -> None:
    process = scene(today)
    version = str(live("Agent", "scribe").resource_version)
    process.open()
    agent(today, purpose="Writes more.")
    found = process.find(bad(version=version)).json()["items"][0]

    assert (found["verdict"], found["version"] != version) == ("conflict", True)
    assert process.find(bad(version=found["version"])).json()["items"][0]["verdict"] == "taken"


@every_row(
    ("finding", "pointer"),
    [
        ("x", ""),
        ({}, "/resource"),
        ({"resource": "domain/growth"}, "/resource"),
        ({"resource": "agent/"}, "/resource"),
        (bad(risk="low"), "/risk"),
        (bad(score=1.5), "/score"),
        (bad(score=True), "/score"),
        (bad(version=7), "/version"),
        (bad(complete="yes"), "/complete"),
        (bad(dimensions={"mood": {}}), "/dimensions/mood"),
        (bad(dimensions={"kpi": {"score": "1"}}), "/dimensions/kpi/score"),
        (bad(dimensions={"kpi": {"score": 1, "of": -1}}), "/dimensions/kpi/of"),
        (bad(dimensions={"kpi": {"score": 1, "evidence": [{}]}}), "/dimensions/kpi/evidence/0"),
        (bad(condition={"status": "Perhaps"}), "/condition/status"),
        (bad(condition={"message": "x" * 501}), "/condition/message"),
        (bad(actions=[{"operation": "restart", "risk": "low"}]), "/actions/0/risk"),
        (bad(actions=[{"operation": "restart", "parameters": []}]), "/actions/0/parameters"),
        (bad(actions=[RESTART] * 21), "/actions"),
    ],
    rolled_back=True,
)
def test_what_is_badly_said_is_refused_with_its_place(
    today: Clock, finding: Any, pointer: str
) -> None:
    process = scene(today)
    process.open()
    before = traces()
    told = problem(process.find(finding), 400, "invalid")

    assert told["pointer"].startswith(f"/findings/0{pointer}")
    assert traces() == before


@pytest.mark.parametrize(
    "body",
    [
        {"outcome": "done"},
        {"error": "x"},
        {"counts": {"judged": 3}},
        {"times": {"nap": 1}},
        {"x": 1},
    ],
)
def test_an_end_that_is_badly_said_is_refused(today: Clock, body: dict[str, Any]) -> None:
    process = scene(today)
    process.open()

    problem(process.close(**body), 400, "invalid")
    assert Cycle.objects.get().finished_at is None


def test_a_failed_cycle_counts_against_it(today: Clock) -> None:
    process = scene(today, convergence={"errorLimit": 2})
    for _ in range(2):
        process.open()
        closed = good(process.close(outcome="failed", error="No route."), "Closed")
        assert closed["cycle"]["outcome"] == "failed"

    assert Runtime.objects.get().breaker == "open"
    assert "No route." in problem(process.open(), 409, "refused")["detail"]


def test_a_cycle_that_takes_too_long_ends(today: Clock) -> None:
    process = scene(today, timeout="30s")
    process.open()
    Cycle.objects.update(started_at=timezone.now() - timedelta(seconds=31))

    assert "longer than 30 seconds" in problem(process.find(bad()), 409, "refused")["detail"]
    assert Cycle.objects.get().outcome == "timed_out"
    assert not Judgement.objects.exists()


# Who may


def test_only_its_own_process_reports_on_it(today: Clock) -> None:
    process = scene(today)
    keeper(today, "other")
    declare(today, controller("ours", targetKind="Agent"))
    stranger, scribe = Process("other"), Api(Client(), issue("scribe"))
    ines = as_person(today, "ines", "operator")
    process.open()

    for who in (stranger.api, scribe, ines):
        for address in (f"controllers/{KEEPER}/cycles", f"controllers/{KEEPER}/heartbeat"):
            problem(who.post(address, {}), 403, "forbidden")
        body = {"fence": process.fence, "findings": [bad()]}
        problem(who.post(f"{process.cycle}/findings", body), 403, "forbidden")
        closing = {"fence": process.fence, "outcome": "completed"}
        problem(who.patch(process.cycle, closing), 403, "forbidden")
    assert not Judgement.objects.exists()


def test_its_token_reads_what_it_looks_after_and_changes_nothing_else(today: Clock) -> None:
    """I17"""
    process = scene(today, targetSelector={"matchLabels": {"tier": "gold"}})
    declare(
        today,
        made("Agent", "gilded", {"domain": "ops", "type": "reactive", "purpose": "Shines."})
        | {"metadata": {"name": "gilded", "labels": {"tier": "gold"}}},
    )
    names = [
        each["metadata"]["name"] for each in process.api.get("resources/agent").json()["items"]
    ]

    assert names == ["gilded"]
    assert process.api.get("resources/agent/scribe").status_code == 404
    status = process.api.patch("resources/agent/gilded/status", {"state": "running"})
    problem(status, 403, "forbidden")
    problem(process.api.put("resources/agent/gilded", {}), 403, "forbidden")
    hold = {"kind": "stop", "scope": "organisation", "reason": "Stop."}
    problem(process.api.post("holds", hold), 403, "forbidden")


def test_its_feed_tells_of_what_it_looks_after(today: Clock) -> None:
    """I17"""
    scene(today, targetSelector={"matchLabels": {"tier": "gold"}})
    token = AgentToken.objects.select_related("agent").get()

    def sees(kind: str, name: str, **labels: str) -> bool:
        metadata = {"name": name, "labels": labels}
        return access.sees(token, made(kind, name) | {"metadata": metadata})

    assert sees("Agent", "gilded", tier="gold")
    assert sees("Controller", KEEPER)
    assert not sees("Agent", "scribe", tier="iron")
    assert not sees("Domain", "growth", tier="gold")


def test_one_that_we_run_again_is_no_longer_theirs(today: Clock) -> None:
    process = scene(today)
    process.open()
    keeper(today, runner="internal")

    for answer in (process.open(), process.find(bad()), process.close(), process.beat()):
        assert "run by the loop itself" in problem(answer, 409, "refused")["detail"]


# One process at a time


def test_a_second_process_waits_for_the_first(today: Clock) -> None:
    """I12"""
    first = scene(today)
    second = Process()
    first.open()

    assert "Another process" in problem(second.open(), 409, "refused")["detail"]
    first.close()
    good(second.open(), "Opened", 201)


def test_a_process_that_was_replaced_writes_nothing(today: Clock) -> None:
    """I12"""
    first = scene(today)
    second, stolen = Process(), Process()
    first.open()
    pass_lease()
    good(second.open(), "Opened", 201)
    assert int(second.fence) > int(first.fence)
    before = traces()

    problem(first.find(bad()), 409, "refused")
    problem(first.close(), 409, "refused")
    problem(first.beat(fence=first.fence), 409, "fenced")
    stolen.number, stolen.fence = second.number, first.fence
    problem(stolen.find(bad()), 409, "fenced")
    problem(stolen.close(), 409, "fenced")
    assert traces() == before
    assert Cycle.objects.get(number=first.number).outcome == "lost"
    assert second.find(bad()).status_code == 200


def test_what_comes_after_the_end_is_too_late(today: Clock) -> None:
    process = scene(today)
    process.look(well())
    before = traces()

    assert "has ended" in problem(process.find(bad()), 409, "refused")["detail"]
    problem(process.close(), 409, "refused")
    assert traces() == before


def test_another_spec_fences_the_cycle_that_is_open(today: Clock) -> None:
    process = scene(today)
    process.open()
    keeper(today, driftThreshold=0.5)
    registration.sync(timezone.now())

    assert problem(process.find(bad()), 409, "refused")
    assert not Judgement.objects.exists()


def test_a_lost_cycle_is_closed_and_asked_for_again(today: Clock) -> None:
    process = scene(today)
    process.open()
    process.find(well())
    process.close()
    process.open(full=False)
    pass_lease()
    for _ in range(2):
        recovery.go_on(timezone.now())

    assert Cycle.objects.get(number=2).outcome == "lost"
    assert WorkItem.objects.get().arrivals == 1
    assert process.open().status_code == 201
    assert not WorkItem.objects.exists()


def test_calls_about_one_cycle_come_one_after_the_other(today: Clock) -> None:
    process = scene(today)
    process.open()
    Cycle.objects.update(phase="diff")

    assert "one after the other" in problem(process.find(bad()), 409, "refused")["detail"]
    # A call that was lost with its server does not keep the cycle open for ever.
    Cycle.objects.update(started_at=timezone.now() - timedelta(minutes=6))
    good(process.close(), "Closed")


def test_what_changes_too_fast_is_refused_and_can_be_sent_again(
    today: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = scene(today)
    process.open()

    def conflict(*_: Any) -> None:
        raise Conflict("The resources change faster than they can be judged.")

    with monkeypatch.context() as patch:
        patch.setattr(chunk_writer, "save", conflict)
        problem(process.find(bad()), 409, "refused")
    assert process.find(bad()).json()["items"][0]["verdict"] == "taken"


def test_our_loop_leaves_its_work_alone(today: Clock) -> None:
    process = scene(today, enforcementMode="warn")
    process.look(bad())
    maya = as_user(manager(today))
    say(maya, Proposal.objects.get(), "approve")
    agent(today, purpose="Writes more.")
    run()
    assert WorkItem.objects.count() == 1

    assert work(today) == []
    assert WorkItem.objects.count() == 1
    assert good(process.beat(), "Told")["asked"] == ["agent/scribe"]
    process.look(bad())
    assert not WorkItem.objects.exists()


@pytest.mark.usefixtures("real_database")
@pytest.mark.django_db(transaction=True)
def test_of_eight_processes_that_open_a_cycle_exactly_one_does(today: Clock) -> None:
    """I12"""
    scene(today)
    registration.sync(timezone.now())
    crowd = [Process() for _ in range(8)]

    codes = sorted(each.status_code for each in together([each.open for each in crowd]))

    assert codes == [201] + [409] * 7
    assert Cycle.objects.count() == 1


# Holds


@pytest.mark.parametrize("scope", ["organisation", "domain", "controller", "resource"])
def test_every_answer_says_what_people_stopped(today: Clock, scope: str) -> None:
    process = scene(today)
    about: dict[str, Any] = {
        "organisation": {"kind": "stop"},
        "domain": {"domain": "growth"},
        "controller": {"controller": live("Controller", KEEPER).pk},
        "resource": {"resource": live("Agent", "scribe").pk},
    }
    pause(today, scope=scope, **about[scope])
    other = agent(today, "clerk", domain="finance")
    keeper(today, "other", targetSelector={"matchLabels": {"tier": "none"}})
    wanted = {"controller": live("Controller", "other").pk}
    pause(today, scope="controller", **wanted)
    assert other

    answers = [process.open(), process.find(bad()), process.beat(), process.close()]

    for answer in answers:
        (hold,) = answer.json()["holds"]
        assert (hold["scope"], hold["reason"]) == (scope, "Campaign week.")
        assert answer.json()["epoch"] == str(holds.epoch())
    (found,) = answers[1].json()["items"]
    assert found["actions"][0]["disposition"] == "refuse"
    assert not Proposal.objects.exists()


def test_a_pause_stops_what_it_was_about_to_do(today: Clock) -> None:
    """I2"""
    process = scene(today)
    process.look(bad())
    run()
    (offered,) = process.api.get("actions", "state=claimable").json()["items"]
    placed = pause(today, scope="controller", controller=live("Controller", KEEPER).pk)

    claim = process.api.post(f"actions/{offered['id']}/claim", {})
    assert problem(claim, 423, "stopped")["epoch"] == str(holds.epoch())
    holds.lift(placed.hold.pk, person=manager(today), now=timezone.now(), reason="It is over.")
    # After a hold it only proposes until it has looked at everything.
    assert good(process.beat(), "Told")["onlyProposes"] is True
    process.look(well())
    assert process.beat().json()["onlyProposes"] is False


# Silence


def test_one_that_falls_silent_leaves_nothing_green_and_comes_back(today: Clock) -> None:
    """D-05 I-81"""
    process = scene(today)
    process.look(well())
    later = timezone.now() + timedelta(minutes=14, seconds=55)
    assert watchdog.look(later) == 0
    watchdog.look(later + timedelta(seconds=10))

    assert said() == ("Unknown", "ControllerStalled")
    assert said(KEEPER, "Ready", "Controller") == ("Unknown", "NoHeartbeat")
    (alert,) = Alert.objects.filter(resolved_at=None)
    assert (alert.reason, alert.severity) == ("Silent", "error")
    assert LedgerEvent.objects.filter(event="controller.fell-silent").count() == 1
    for seconds in (20, 30):
        watchdog.look(later + timedelta(seconds=seconds))
    assert (Alert.objects.count(), watchdog.census()["stalled"]) == (1, 1)

    Runtime.objects.update(stalled_at=timezone.now() - timedelta(seconds=1))
    Runtime.objects.update(heard_at=timezone.now() - timedelta(minutes=20))
    assert good(process.beat(), "Told")["resync"] is True
    assert not Alert.objects.filter(resolved_at=None).exists()
    assert said(KEEPER, "Stalled", "Controller") == ("False", "Heard")
    process.beat()
    assert LedgerEvent.objects.filter(event="controller.heard-again").count() == 1
    maya = as_user(manager(today))
    drift = maya.get("resources/agent/scribe/drift").json()["items"][0]
    assert (drift["status"], drift["stale"]) == ("Unknown", True)

    process.look(well())
    assert said() == ("True", "Converged")
    assert said(KEEPER, "Ready", "Controller") == ("True", "Running")
    assert maya.get("resources/agent/scribe/drift").json()["items"][0]["stale"] is False
    assert watchdog.look(timezone.now()) == 0


def test_one_that_rests_but_is_heard_is_not_silent(today: Clock) -> None:
    process = scene(today)
    process.look(well())
    Runtime.objects.update(last_run_at=timezone.now() - timedelta(hours=1))
    process.beat()

    assert watchdog.look(timezone.now()) == 0
    assert said() == ("True", "Converged")


# Costs


@pytest.mark.parametrize("count", [4, 16])
def test_reporting_costs_the_same_for_4_and_16(today: Clock, count: int) -> None:
    names = [f"a{number}" for number in range(count)]
    process = scene(today, *names, enforcementMode="warn")
    process.look(*(well(name) for name in names))

    with queries("POST controllers/{name}/cycles"):
        assert process.open().status_code == 201
    with queries("POST controllers/{name}/cycles/{n}/findings"):
        assert process.find(*(bad(name) for name in names)).status_code == 200
    with queries("POST controllers/{name}/heartbeat"):
        assert process.beat(fence=process.fence).status_code == 200
    with queries("PATCH controllers/{name}/cycles/{n}"):
        assert process.close().status_code == 200
    assert Proposal.objects.count() == count
