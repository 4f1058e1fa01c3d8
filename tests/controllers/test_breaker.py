"""The circuit breaker: cycles that fail in a row stop a controller until a person resets it."""

from __future__ import annotations

import pytest

from controllers.loop import watchdog
from controllers.worker import controller_commands
from resources.documents.actor import SYSTEM, Actor
from tests.conftest import Clock
from tests.controllers.faults import Fire, acting, doing, fails, hangs, understaffed
from tests.controllers.making import (
    KEEPER,
    alerts,
    controller,
    cycles,
    declare,
    drifted,
    healthy,
    measure,
    own,
    runtime,
    said,
    told,
    work,
)
from tests.problems import refuses
from tests.resources.making import ALICE, ROBIN

pytestmark = pytest.mark.django_db


@pytest.fixture
def fire(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Fire:
    """A controller whose cycles fail as long as it burns; three in a row stop it."""
    drifted(clock, "harbour")
    declare(clock, controller(convergence={"errorLimit": 3}))
    return Fire(monkeypatch)


def rounds(clock: Clock, times: int) -> list[str]:
    """Work for some intervals; return how the cycles ended."""
    ended = []
    for _ in range(times):
        ended += [each.outcome for each in work(clock)]
        clock.advance(minutes=5)
    return ended


def ready() -> tuple[str, str]:
    return said(KEEPER, "Ready", "Controller")


def reset(clock: Clock, reason: str = "The fire is out.", actor: Actor = ALICE) -> None:
    controller_commands.reset_breaker(KEEPER, actor=actor, now=clock.now, reason=reason)


@pytest.mark.usefixtures("fire")
def test_cycles_that_fail_in_a_row_open_it(clock: Clock) -> None:
    """D-41 D-42"""
    assert rounds(clock, 6) == ["failed"] * 3
    assert (runtime().breaker, runtime().failures) == ("open", 3)
    assert ready() == ("False", "CircuitOpen")
    condition = own(KEEPER, "Ready", "Controller")
    assert condition is not None
    assert "the harbour is on fire" in condition.message
    [event] = told("controller.breaker-opened")
    assert event.severity == "critical"
    [alert] = alerts()
    assert (alert.reason, alert.severity) == ("BreakerOpen", "critical")


def test_five_in_a_row_without_a_word(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """D-41"""
    fire = Fire(monkeypatch)
    drifted(clock, "harbour")
    declare(clock, controller())
    assert len(rounds(clock, 4)) == 4
    fire.burns = False
    assert len(rounds(clock, 1)) == 1
    fire.burns = True
    assert len(rounds(clock, 4)) == 4
    assert (runtime().breaker, runtime().failures) == ("closed", 4)

    rounds(clock, 1)
    assert runtime().breaker == "open"


@pytest.mark.usefixtures("fire")
def test_time_alone_does_not_close_it(clock: Clock) -> None:
    """D-42 D-43"""
    rounds(clock, 3)
    for _ in range(48):
        clock.advance(minutes=30)
        assert work(clock) == []

    assert runtime().breaker == "open"
    measure(clock, "harbour", 100)
    assert work(clock) == []
    with refuses("refused", match="Stopped until a person resets it"):
        controller_commands.request(KEEPER, actor=ALICE, now=clock.now)
    assert len(cycles()) == 3


def test_a_person_lets_one_cycle_through_and_success_closes_it(clock: Clock, fire: Fire) -> None:
    """D-43"""
    rounds(clock, 3)
    fire.burns = False
    reset(clock)
    assert runtime().breaker == "half_open"
    [trial] = work(clock)

    assert (trial.requested_by, trial.message) == ("person/alice", "The fire is out.")
    assert (trial.outcome, trial.full) == ("drift_reported", True)
    assert (runtime().breaker, runtime().failures) == ("closed", 0)
    assert ready() == ("True", "Running")
    [event] = told("controller.breaker-reset")
    assert (event.actor, event.payload["reason"]) == ("person/alice", "The fire is out.")
    assert alerts() == []
    assert rounds(clock, 3) == ["drift_reported"] * 2


@pytest.mark.usefixtures("fire")
def test_a_trial_that_fails_opens_it_again(clock: Clock) -> None:
    """D-43 One trial, not three."""
    rounds(clock, 3)
    reset(clock)

    assert rounds(clock, 5) == ["failed"]
    assert runtime().breaker == "open"
    assert len(told("controller.breaker-opened")) == 2
    assert ready() == ("False", "CircuitOpen")
    reset(clock, "Once more.")
    assert rounds(clock, 3) == ["failed"]


@pytest.mark.usefixtures("fire")
@pytest.mark.parametrize(
    ("actor", "reason", "code", "refusal"),
    [
        (ALICE, "  ", "invalid", "Say why"),
        (ROBIN, "I feel better.", "refused", "Only a person"),
        (Actor("controller", KEEPER), "I feel better.", "refused", "Only a person"),
        (SYSTEM, "Restarted.", "refused", "Only a person"),
    ],
)
def test_only_a_person_with_a_reason_resets_it(
    clock: Clock, actor: Actor, reason: str, code: str, refusal: str
) -> None:
    """D-43"""
    rounds(clock, 3)
    with refuses(code, match=refusal):
        reset(clock, reason, actor)

    assert runtime().breaker == "open"
    assert work(clock) == []


def test_what_is_not_open_cannot_be_reset(clock: Clock) -> None:
    """D-43"""
    declare(clock, controller())
    work(clock)

    with refuses("refused", match="is not stopped"):
        reset(clock)
    with refuses("not-found"):
        controller_commands.reset_breaker("nobody", actor=ALICE, now=clock.now, reason="Try.")


def test_one_failed_cycle_does_not_stop_the_next(clock: Clock, fire: Fire) -> None:
    """D-49"""
    assert rounds(clock, 1) == ["failed"]
    assert runtime().failures == 1
    fire.burns = False

    assert rounds(clock, 1) == ["drift_reported"]
    assert runtime().failures == 0
    assert said("harbour") == ("False", "DriftDetected")


def test_cycles_that_take_too_long_count(clock: Clock) -> None:
    """D-40 D-41"""
    understaffed(clock, "harbour")
    declare(clock, acting(convergence={"errorLimit": 2}))
    for _ in range(3):
        work(clock, effects=doing(hangs))
        clock.advance(minutes=5)

    assert [each.outcome for each in cycles()] == ["timed_out"] * 2
    assert runtime().breaker == "open"


def test_single_actions_that_fail_do_not_open_it(clock: Clock) -> None:
    """I-71 D-41 They are counted for their resource, not for the controller."""
    understaffed(clock, "harbour")
    declare(clock, acting(convergence={"errorLimit": 2}))
    for _ in range(4):
        work(clock, effects=doing(fails))
        clock.advance(minutes=5)

    assert runtime().breaker == "closed"


def test_a_declared_pause_opens_it_at_once(clock: Clock) -> None:
    """I-18 I-21"""
    understaffed(clock, "harbour")
    pause = {"type": "pause", "reason": "Needs a look."}
    alarm = {"type": "alert", "severity": "critical", "channels": ["pagerduty"]}
    onerror = {"onDrift": [{"type": "reconcile"}], "onError": [alarm, pause]}
    declare(clock, acting(actions=onerror))
    work(clock, effects=doing(fails))
    clock.advance(minutes=5)

    assert work(clock) == []
    assert (runtime().breaker, runtime().breaker_reason) == ("open", "Needs a look.")
    assert ready() == ("False", "CircuitOpen")
    raised = {each.reason: (each.channel, each.severity) for each in alerts()}
    assert raised == {"Error": ("pagerduty", "critical"), "BreakerOpen": ("", "critical")}


@pytest.mark.usefixtures("fire")
def test_a_new_declaration_does_not_close_it(clock: Clock) -> None:
    """D-43"""
    rounds(clock, 3)
    declare(clock, controller(convergence={"errorLimit": 9}))

    assert work(clock) == []
    assert (runtime().breaker, ready()) == ("open", ("False", "CircuitOpen"))


@pytest.mark.usefixtures("fire")
def test_a_stopped_controller_is_counted_as_such(clock: Clock) -> None:
    """D-42"""
    healthy(clock, "city")
    rounds(clock, 3)

    assert watchdog.census() == {"running": 0, "stopped": 1, "stalled": 0, "invalid": 0}
