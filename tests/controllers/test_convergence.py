"""No controller goes on for ever: it converges, or it stops and says so."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from controllers.engine.terms import Result
from controllers.models import Judgement, Proposal
from controllers.worker import controller_commands
from resources.documents.actor import Actor
from resources.usecases import statuses
from tests.conftest import Clock
from tests.controllers.faults import (
    acting,
    declares,
    doing,
    each_its_own,
    fails,
    one_after_the_other,
    scales,
    staffed,
    succeeds,
    understaffed,
)
from tests.controllers.making import (
    KEEPER,
    alerts,
    cycles,
    declare,
    domain,
    judged,
    own,
    runtime,
    said,
    told,
    work,
)
from tests.resources.making import ALICE, live, shown

pytestmark = pytest.mark.django_db

RED, BLUE = "red", "blue"


def look(clock: Clock, times: int, effects: Any) -> None:
    """Look again and again, an interval apart."""
    for _ in range(times):
        work(clock, effects=effects)
        clock.advance(minutes=5)


def changes(controller: str = KEEPER) -> int:
    """Count what a controller changed."""
    done = told("controller.action-performed", stream=f"controller/{uid(controller)}")
    return sum(each.payload["actionType"] == "reconcile" for each in done)


def uid(controller: str) -> str:
    return str(live("Controller", controller).uid)


def ended(controller: str = KEEPER) -> list[dict[str, Any]]:
    events = told("controller.convergence-ended", stream=f"controller/{uid(controller)}")
    return [each.payload for each in events]


def test_what_an_action_mends_has_converged(clock: Clock) -> None:
    """D-36"""
    understaffed(clock, "harbour")
    declare(clock, acting())
    look(clock, 3, doing(scales(clock)))

    assert judged("harbour").episode["tried"]
    assert said("harbour") == ("True", "Converged")
    assert (changes(), ended(), alerts()) == (1, [], [])


def test_an_action_that_never_helps_is_given_up(clock: Clock) -> None:
    """D-37 D-36 D-38"""
    understaffed(clock, "harbour")
    declare(clock, acting(convergence={"maxIterations": 4}))
    look(clock, 8, doing(succeeds))

    assert changes() == 4
    episode = judged("harbour").episode
    assert (episode["state"], episode["reason"]) == ("exhausted", "MaxIterations")
    assert said("harbour") == ("False", "NotConverging")
    assert judged("harbour").message.startswith("Stopped: the actions did not help as often")
    assert [(each["outcome"], each["reason"]) for each in ended()] == [
        ("exhausted", "MaxIterations")
    ]
    [alert] = alerts()
    assert (alert.reason, alert.severity) == ("NotConverging", "critical")
    assert alert.resource == live("Domain", "harbour")
    assert not Proposal.objects.exists()


def test_without_a_word_it_is_given_up_after_ten(clock: Clock) -> None:
    """D-37"""
    understaffed(clock, "harbour")
    declare(clock, acting())
    look(clock, 14, doing(succeeds))

    assert changes() == 10
    assert len(ended()) == 1


def test_what_does_not_converge_in_time_is_given_up(clock: Clock) -> None:
    """D-36"""
    understaffed(clock, "harbour")
    declare(clock, acting(convergence={"deadline": "12m", "maxIterations": 99}))
    look(clock, 6, doing(succeeds))

    assert judged("harbour").episode["reason"] == "Deadline"
    assert [each["reason"] for each in ended()] == ["Deadline"]
    assert changes() == 4


def test_what_always_fails_is_given_up(clock: Clock) -> None:
    """D-36 D-41"""
    understaffed(clock, "harbour")
    declare(clock, acting(convergence={"errorLimit": 3}))
    look(clock, 6, doing(fails))

    assert judged("harbour").episode["reason"] == "ErrorLimit"
    assert changes() == 3
    assert said("harbour") == ("False", "NotConverging")
    assert [each.reason for each in alerts()] == ["NotConverging"]
    assert runtime().breaker == "closed"


def test_failures_with_a_success_between_do_not_add_up(clock: Clock) -> None:
    """D-41"""
    understaffed(clock, "harbour")
    declare(clock, acting(convergence={"errorLimit": 3, "maxIterations": 99}))
    deed = one_after_the_other(fails, fails, succeeds, fails, fails, succeeds)
    look(clock, 7, doing(deed))

    assert ended() == []
    assert said("harbour") == ("False", "DriftDetected")


def test_actions_that_make_it_worse_are_thrashing(clock: Clock) -> None:
    """D-38"""
    understaffed(clock, "harbour")
    declare(clock, acting())

    def worsens(*_: Any) -> Result:
        leaks = range(1 + 2 * len(told("controller.action-performed")))
        ill = [{"type": f"Tight{number}", "status": "False"} for number in leaks]
        seen = statuses.Report("Domain", "harbour", {"conditions": ill})
        statuses.observe([seen], actor=Actor("controller", KEEPER), now=clock.now)
        return "success"

    look(clock, 8, doing(worsens))

    episode = judged("harbour").episode
    assert (episode["state"], episode["reason"]) == ("thrashing", "Regressed")
    assert changes() == 3
    assert said("harbour") == ("False", "NotConverging")


def test_a_repair_that_comes_undone_is_thrashing(clock: Clock) -> None:
    """D-38"""
    understaffed(clock, "harbour")
    declare(clock, acting())
    for _ in range(8):
        work(clock, effects=doing(scales(clock)))
        clock.advance(minutes=5)
        work(clock, effects=doing(scales(clock)))
        staffed(clock, "harbour", 1)
        clock.advance(minutes=5)

    episode = judged("harbour").episode
    assert (episode["state"], episode["reason"]) == ("thrashing", "Relapsed")
    assert changes() == 3
    assert len(ended()) == 1


def fight(clock: Clock, rounds: int, seconds: int = 30) -> None:
    """Let two controllers set one field of one resource, each to its own value."""
    effects = each_its_own(red=declares(clock, "Red."), blue=declares(clock, "Blue."))
    for _ in range(rounds):
        work(clock, effects=effects)
        clock.advance(seconds=seconds)


def given_up() -> tuple[str, str]:
    """Return who gave a fight up, and who did not."""
    thrashing = [name for name in (RED, BLUE) if judged("harbour", name).episode.get("rival")]
    [loser] = thrashing
    return loser, BLUE if loser == RED else RED


def test_two_controllers_at_odds_are_found_out(clock: Clock) -> None:
    """D-38 I-83 The first to notice gives up, and says whom it is at odds with."""
    understaffed(clock, "harbour")
    declare(clock, acting(RED), acting(BLUE))
    fight(clock, 8)

    loser, rival = given_up()
    episode = judged("harbour", loser).episode
    assert (episode["state"], episode["reason"]) == ("thrashing", "Relapsed")
    assert said("harbour", f"{loser.capitalize()}Converged") == ("False", "NotConverging")
    assert f"controller/{rival} changes it too." in judged("harbour", loser).message
    [payload] = ended(loser)
    assert (payload["outcome"], payload["rival"]) == ("thrashing", f"controller/{rival}")
    [alert] = alerts(loser)
    assert (alert.reason, alert.severity) == ("NotConverging", "critical")
    assert f"controller/{rival}" in alert.message


def test_a_fight_is_over_after_a_few_rounds(clock: Clock) -> None:
    """D-37 D-38 What the one does to the other is no new beginning for either."""
    understaffed(clock, "harbour")
    declare(clock, acting(RED), acting(BLUE))
    fight(clock, 6)
    generation = live("Domain", "harbour").generation
    loser, winner = given_up()
    fight(clock, 12, seconds=300)

    assert (changes(loser), generation) == (3, 7)
    assert live("Domain", "harbour").generation == generation
    assert changes(winner) == 10
    assert judged("harbour", winner).episode["reason"] == "MaxIterations"
    assert len(ended(loser)) == len(ended(winner)) == 1


def test_a_person_ends_a_fight_by_declaring_what_is_wanted(clock: Clock) -> None:
    """D-38 A person's word is a new beginning."""
    understaffed(clock, "harbour")
    declare(clock, acting(RED))
    declare(clock, acting(BLUE))
    fight(clock, 8)
    crew = live("Domain", "harbour").spec["agents"]
    declare(clock, domain("harbour", agents=crew, purpose="Green."))
    work(clock, effects=doing(scales(clock)))
    work(clock, effects=doing(scales(clock)))

    for name in (RED, BLUE):
        assert judged("harbour", name).status == "True"
        assert alerts(name) == []
    assert shown("Domain", "harbour")["spec"]["purpose"] == "Green."


def test_what_was_given_up_stays_so_until_it_is_declared_anew(clock: Clock) -> None:
    """D-37"""
    understaffed(clock, "harbour")
    declare(clock, acting(convergence={"maxIterations": 2}))
    look(clock, 5, doing(succeeds))
    staffed(clock, "harbour", 0)
    look(clock, 3, doing(succeeds))
    assert changes() == 2

    crew = live("Domain", "harbour").spec["agents"]
    declare(clock, domain("harbour", agents=crew, purpose="Else."))
    work(clock, effects=doing(succeeds))

    assert changes() == 3
    assert said("harbour") == ("False", "DriftDetected")
    assert "NotConverging" not in [each.reason for each in alerts()]


def test_a_person_may_let_it_try_again(clock: Clock) -> None:
    """D-37 F-25"""
    understaffed(clock, "harbour")
    declare(clock, acting(convergence={"maxIterations": 2}))
    look(clock, 5, doing(succeeds))
    controller_commands.request(
        KEEPER, actor=ALICE, now=clock.now, message="The crane works again."
    )
    work(clock, effects=doing(scales(clock)))
    work(clock)

    assert changes() == 3
    assert said("harbour") == ("True", "Converged")
    assert alerts() == []


def test_a_drift_that_comes_back_to_what_was_given_up_is_told(clock: Clock) -> None:
    """D-37 I-88"""
    understaffed(clock, "harbour")
    declare(clock, acting(convergence={"maxIterations": 1}))
    look(clock, 3, doing(succeeds))
    assert [each.reason for each in alerts()] == ["NotConverging"]
    staffed(clock, "harbour", 2)
    work(clock)
    assert (said("harbour"), alerts()) == (("True", "Converged"), [])

    staffed(clock, "harbour", 1)
    work(clock)

    assert said("harbour") == ("False", "NotConverging")
    assert [each.reason for each in alerts()] == ["NotConverging"]
    assert len(ended()) == 2


def test_the_drift_must_stay_away_for_a_while(clock: Clock) -> None:
    """D-39"""
    understaffed(clock, "harbour")
    declare(clock, acting(reconcileInterval="1h", convergence={"settlingPeriod": "10m"}))
    work(clock, effects=doing(scales(clock)))
    work(clock)
    gone_at = clock.now
    assert said("harbour") == ("Unknown", "Settling")
    assert (judged("harbour").drifted, judged("harbour").score) == (False, 0)
    assert judged("harbour").recheck_at == gone_at + timedelta(minutes=10)

    clock.advance(minutes=4)
    staffed(clock, "harbour", 1)
    work(clock, effects=doing(succeeds))
    assert said("harbour") == ("False", "DriftDetected")
    staffed(clock, "harbour", 2)
    work(clock)
    assert said("harbour") == ("Unknown", "Settling")


def test_what_stayed_away_long_enough_has_converged(clock: Clock) -> None:
    """D-39 Nobody has to touch it: the clock alone is enough."""
    understaffed(clock, "harbour")
    declare(clock, acting(reconcileInterval="10m", convergence={"settlingPeriod": "15m"}))
    work(clock, effects=doing(scales(clock)))
    work(clock)
    since = clock.now
    for minutes in (10, 14):
        clock.now = since + timedelta(minutes=minutes)
        work(clock)
        assert said("harbour") == ("Unknown", "Settling")
    clock.now = since + timedelta(minutes=20)
    work(clock)

    assert said("harbour") == ("True", "Converged")
    assert judged("harbour").recheck_at is None


def test_a_settling_period_beyond_the_calendar_breaks_nothing(clock: Clock) -> None:
    """D-39"""
    understaffed(clock, "harbour")
    declare(clock, acting(convergence={"settlingPeriod": "2700000d"}))
    work(clock, effects=doing(scales(clock)))
    [cycle] = work(clock)

    assert cycle.outcome == "converged"
    assert said("harbour") == ("Unknown", "Settling")


def test_an_action_of_its_own_is_not_somebody_elses_edit(clock: Clock) -> None:
    """D-38 What it declared itself is remembered, so that it can be counted."""
    understaffed(clock, "harbour")
    declare(clock, acting())
    work(clock, effects=doing(declares(clock, "Mine.")))

    found = Judgement.objects.get()
    assert found.episode["acted"]
    assert found.version < live("Domain", "harbour").resource_version
    assert own("harbour") is not None
    assert [each.outcome for each in cycles()] == ["acted"]


def test_an_edit_while_it_acts_makes_it_look_again(clock: Clock) -> None:
    """D-38 F-13 The judgement of what the person replaced is not kept."""
    understaffed(clock, "harbour")
    declare(clock, acting())
    deed = one_after_the_other(declares(clock, "Hers.", ALICE), scales(clock))
    work(clock, effects=doing(deed))
    assert judged("harbour").generation == live("Domain", "harbour").generation == 2
    work(clock)

    assert shown("Domain", "harbour")["spec"]["purpose"] == "Hers."
    assert said("harbour") == ("True", "Converged")
