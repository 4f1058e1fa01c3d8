"""Conditions on targets: each controller writes its own, and never touches another's."""

from __future__ import annotations

import pytest

from controllers.models import Judgement
from resources.documents.actor import Actor
from resources.usecases import deletion, statuses
from tests.conftest import Clock
from tests.controllers.making import (
    KEEPER,
    KEPT,
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
    work,
)
from tests.resources.making import ALICE, condition, live, made, report, shown

pytestmark = pytest.mark.django_db

RIVAL = "rival"


def test_a_condition_names_its_writer_and_the_generation_it_saw(clock: Clock) -> None:
    """I-59"""
    drifted(clock, "harbour")
    declare(clock, controller())
    work(clock)
    declare(clock, domain("harbour", wanted=2 * WANTED))
    work(clock)

    found = own("harbour")
    assert found is not None
    assert (found.status, found.managed_by) == ("False", "controller/keeper")
    assert live("Domain", "harbour").generation == 2
    assert found.extra == {"observedGeneration": 2}


def test_time_moves_only_when_the_status_flips(clock: Clock) -> None:
    """I-34 F-44"""
    drifted(clock, "harbour")
    declare(clock, controller())
    work(clock)
    began = own("harbour")
    clock.advance(minutes=1)
    measure(clock, "harbour", 3)
    work(clock)
    went_on = own("harbour")
    clock.advance(minutes=1)
    measure(clock, "harbour", WANTED)
    work(clock)
    ended = own("harbour")

    assert began is not None
    assert went_on is not None
    assert ended is not None
    assert went_on.last_transition_time == began.last_transition_time
    assert went_on.message != began.message
    assert (ended.status, ended.last_transition_time) == ("True", clock.now)


def test_nobody_may_report_another_word_for_a_status(clock: Clock) -> None:
    """I-33"""
    declare(clock, domain("harbour"), made("Agent", "robin"))
    for word in ("True", "False", "Unknown"):
        assert not report(
            clock.now, "robin", {"conditions": [{"type": "Fed", "status": word}]}
        ).failed
    refused = report(clock.now, "robin", {"conditions": [{"type": "Fed", "status": "Maybe"}]})

    assert refused.verdict == "refused"
    assert said("robin", "Fed", "Agent")[0] == "Unknown"


def test_two_controllers_judge_one_resource_each_by_itself(clock: Clock) -> None:
    """I-83 I-84"""
    drifted(clock, "harbour")
    declare(clock, controller(), controller("lenient", driftThreshold=1.0, drift={"weights": {}}))
    declare(clock, controller("blind", drift={"weights": {"kpi": 0, "health": 0}}))
    work(clock)

    assert Judgement.objects.filter(resource=live("Domain", "harbour")).count() == 3
    assert said("harbour") == ("False", "DriftDetected")
    assert said("harbour", "LenientConverged") == ("False", "DriftDetected")
    assert said("harbour", "BlindConverged") == ("Unknown", "NoData")


def test_controllers_never_touch_each_others_conditions(clock: Clock) -> None:
    """I-84 I-86 Not while they judge, not when the resource leaves them, not when one is gone."""
    labels = {"sea": "north"}
    declare(clock, domain("harbour", labels=labels))
    measure(clock, "harbour", 1)
    declare(clock, controller(), controller(RIVAL, targetSelector={"matchLabels": labels}))
    work(clock)
    before = own("harbour")

    for ships in (WANTED, 1):
        measure(clock, "harbour", ships)
        work(clock)
    declare(clock, domain("harbour"))
    work(clock)
    assert own("harbour", "RivalConverged") is None
    deletion.delete("Controller", RIVAL, actor=ALICE, now=clock.now)
    work(clock)

    after = own("harbour")
    assert before is not None
    assert after is not None
    assert (after.status, after.managed_by) == (before.status, before.managed_by)


def test_a_report_takes_no_controllers_condition_away(clock: Clock) -> None:
    """I-86"""
    declare(clock, domain("harbour"), made("Agent", "robin", status={"state": "running"}))
    declare(clock, controller(targetKind="Agent"))
    work(clock)
    fed = {"conditions": [{"type": "Fed", "status": "True"}], "state": "running"}
    told_off = {"conditions": [{"type": KEPT, "status": "False"}]}

    assert not report(clock.now, "robin", fed, replace=True).failed
    assert report(clock.now, "robin", told_off).verdict == "refused"
    assert report(clock.now, "robin", {"conditions": None}).verdict in ("changed", "refused")

    assert said("robin", KEPT, "Agent") == ("True", "Converged")


def test_who_comes_second_to_a_condition_is_told_so(clock: Clock) -> None:
    """I-84 I-85"""
    healthy(clock, "harbour")
    declare(clock, controller(conditionType="Healthy"))
    work(clock)
    declare(clock, controller(RIVAL, conditionType="Healthy", driftThreshold=0.5))
    [cycle] = work(clock)

    found = own("harbour", "Healthy")
    assert found is not None
    assert (found.status, found.managed_by) == ("True", "controller/keeper")
    assert cycle.outcome == "partial"
    assert (judged("harbour", RIVAL).status, judged("harbour", RIVAL).score) == ("Unknown", None)
    hint = "Healthy is written by controller/keeper; name another conditionType."
    [error] = told("controller.error", subject="domain/harbour")
    assert hint in error.payload["error"]
    assert hint in judged("harbour", RIVAL).message
    [alert] = alerts(RIVAL)
    assert hint in alert.message
    assert (runtime(RIVAL).unknown, runtime(RIVAL).healthy) == (1, 0)


def test_who_comes_second_does_nothing_either(clock: Clock) -> None:
    """I-85 Nobody acts who cannot say so; and asking once is enough."""
    drifted(clock, "harbour")
    declare(clock, controller(conditionType="Healthy"))
    work(clock)
    actions = {"onDrift": [{"type": "alert"}, {"type": "log"}]}
    declare(clock, controller(RIVAL, conditionType="Healthy", actions=actions))
    for _ in range(4):
        work(clock)
        clock.advance(minutes=5)

    assert not told("controller.action-performed")
    assert len(told("controller.error")) == 1
    assert [each.actions for each in cycles(RIVAL)] == [[]] * 4


def test_a_condition_that_an_agent_reports_is_not_taken_over(clock: Clock) -> None:
    """I-84"""
    declare(clock, domain("harbour"), made("Agent", "robin", status={"state": "running"}))
    report(clock.now, "robin", {"conditions": [{"type": "Fed", "status": "True"}]})
    declare(clock, controller(targetKind="Agent", conditionType="Fed"))
    work(clock)

    found = condition("Agent", "robin", "Fed")
    assert found is not None
    assert (found.status, found.managed_by) == ("True", "")
    assert "whoever reports it" in judged("robin", kind="Agent").message


def test_another_name_lets_the_second_one_speak(clock: Clock) -> None:
    """I-85"""
    healthy(clock, "harbour")
    declare(clock, controller(conditionType="Healthy"))
    declare(clock, controller(RIVAL, conditionType="Healthy"))
    work(clock)
    declare(clock, controller(RIVAL, conditionType="RivalHealthy"))
    work(clock)

    assert said("harbour", "RivalHealthy") == ("True", "Converged")
    assert judged("harbour", RIVAL).status == "True"
    assert alerts(RIVAL) == []
    assert item("harbour", RIVAL) is None


def test_the_condition_of_a_deleted_controller_may_be_taken_over(clock: Clock) -> None:
    """I-85 A-08"""
    healthy(clock, "harbour")
    declare(clock, controller(conditionType="Healthy"))
    work(clock)
    declare(clock, controller(RIVAL, conditionType="Healthy"))
    work(clock)
    deletion.delete("Controller", KEEPER, actor=ALICE, now=clock.advance(seconds=1))
    work(clock)
    work(clock)

    found = own("harbour", "Healthy")
    assert found is not None
    assert (found.status, found.managed_by) == ("True", "controller/rival")
    assert judged("harbour", RIVAL).status == "True"


def test_status_says_what_was_observed_and_not_what_is_wanted(clock: Clock) -> None:
    """F-43"""
    healthy(clock, "harbour")
    declare(clock, controller())
    work(clock)
    declare(clock, domain("harbour", wanted=2 * WANTED))
    work(clock)

    status = shown("Domain", "harbour")["status"]
    assert status["kpis"] == [{"name": "ships", "value": WANTED}]
    assert said("harbour") == ("False", "DriftDetected")


def test_own_conditions_do_not_count_as_ill_health(clock: Clock) -> None:
    """I-59 Or no drift would ever heal."""
    drifted(clock, "harbour")
    declare(clock, controller(), controller(RIVAL))
    work(clock)
    measure(clock, "harbour", WANTED)
    work(clock)
    work(clock)

    assert (judged("harbour").score, judged("harbour", RIVAL).score) == (0, 0)


def test_a_person_that_reports_does_not_disturb(clock: Clock) -> None:
    """I-86"""
    drifted(clock, "harbour")
    declare(clock, controller())
    work(clock)
    told_so = statuses.Report("Domain", "harbour", {"conditions": [{"type": KEPT}]})
    seen = statuses.observe([told_so], actor=Actor("person", "alice"), now=clock.now)[0]

    assert seen.verdict == "refused"
    assert said("harbour") == ("False", "DriftDetected")
