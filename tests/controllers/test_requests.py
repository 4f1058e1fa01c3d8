"""Asking a controller for a cycle: who asked is on record, and one id tells the whole story."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User

from controllers.models import Grant
from controllers.worker import controller_commands
from resources.documents.actor import Actor
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.controllers.making import (
    KEEPER,
    alerts,
    controller,
    cycles,
    declare,
    drifted,
    healthy,
    judgement,
    runtime,
    said,
    told,
    while_judging,
    work,
)
from tests.problems import refuses
from tests.resources.making import live

pytestmark = pytest.mark.django_db
ALICE = Actor("person", "alice")


def test_a_request_is_in_the_ledger_with_who_asked_and_why(clock: Clock) -> None:
    """F-25"""
    declare(clock, controller())

    controller_commands.request(KEEPER, actor=ALICE, now=clock.now, message="After the storm.")

    event = LedgerEvent.objects.get(event="controller.reconciliation-requested")
    assert (event.actor, event.subject) == ("person/alice", "controller/keeper")
    assert event.payload["reason"] == "After the storm."


def test_a_cycle_goes_on_with_the_correlation_id_of_its_request(clock: Clock) -> None:
    """D-07"""
    declare(clock, controller())
    drifted(clock, "harbour")
    work(clock)
    clock.advance(minutes=1)
    controller_commands.request(KEEPER, actor=ALICE, now=clock.now)

    (cycle,) = work(clock)

    story = LedgerEvent.objects.filter(correlation_id=cycle.correlation_id).order_by("id")
    names = [each.event for each in story]
    assert names[:2] == [
        "controller.reconciliation-requested",
        "controller.reconciliation-started",
    ]
    assert names[-1] == "controller.reconciliation-completed"
    assert (cycle.requested_by, cycles()[-1].number) == ("person/alice", cycle.number)


def test_the_cycle_after_a_requested_one_begins_a_story_of_its_own(clock: Clock) -> None:
    declare(clock, controller())
    healthy(clock, "harbour")
    controller_commands.request(KEEPER, actor=ALICE, now=clock.now)
    (asked,) = work(clock)
    clock.advance(minutes=5)

    (usual,) = work(clock)

    assert usual.correlation_id != asked.correlation_id
    assert usual.requested_by == ""


def operator() -> User:
    """Return somebody who may run controllers."""
    person = User.objects.create(username="olga")
    Grant.objects.create(
        person=person, role="operator", granted_by="system/test", granted_at=datetime.now(UTC)
    )
    return person


# Stopping by hand


def test_a_person_stops_a_controller_until_somebody_resets_it(clock: Clock) -> None:
    declare(clock, controller())
    drifted(clock, "harbour")
    work(clock)

    controller_commands.trip_breaker(
        KEEPER, person=operator(), now=clock.now, reason=" It talks nonsense. "
    )

    assert runtime().breaker == "open"
    (event,) = told("controller.breaker-opened")
    assert (event.actor, event.severity) == ("person/olga", "critical")
    assert event.payload["reason"] == "person/olga: It talks nonsense."
    assert [each.reason for each in alerts()] == ["BreakerOpen"]
    assert said(KEEPER, "Ready", "Controller") == ("False", "CircuitOpen")
    clock.advance(minutes=5)
    assert work(clock) == []

    controller_commands.reset_breaker(KEEPER, actor=ALICE, now=clock.now, reason="Mended.")
    assert [each.outcome for each in work(clock)] == ["drift_reported"]
    assert runtime().breaker == "closed"
    assert alerts() == []


def test_a_cycle_under_way_is_cut_off_and_writes_nothing_more(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(clock, controller())
    drifted(clock, "harbour")
    person = operator()

    def stop(_: str) -> None:
        if runtime().breaker == "closed":
            controller_commands.trip_breaker(KEEPER, person=person, now=clock.now, reason="Stop!")

    while_judging(monkeypatch, stop)
    work(clock)

    (cycle,) = cycles()
    assert (cycle.outcome, cycle.error) == ("interrupted", "Cut off by person/olga: Stop!")
    assert (runtime().breaker, runtime().failures) == ("open", 0)
    assert judgement("harbour") is None


def test_what_is_stopped_is_not_stopped_again(clock: Clock) -> None:
    declare(clock, controller())
    healthy(clock, "harbour")
    work(clock)
    person = operator()
    controller_commands.trip_breaker(KEEPER, person=person, now=clock.now, reason="First.")

    with refuses("refused", match="stopped already"):
        controller_commands.trip_breaker(KEEPER, person=person, now=clock.now, reason="Second.")

    assert runtime().breaker_reason == "person/olga: First."
    assert len(told("controller.breaker-opened")) == 1


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501, "a\x00b"])
def test_a_stop_says_why(clock: Clock, reason: str) -> None:
    declare(clock, controller())
    healthy(clock, "harbour")
    work(clock)

    with refuses("invalid"):
        controller_commands.trip_breaker(KEEPER, person=operator(), now=clock.now, reason=reason)

    assert runtime().breaker == "closed"


def test_only_who_may_run_controllers_stops_one(clock: Clock) -> None:
    declare(clock, controller())
    healthy(clock, "harbour")
    work(clock)
    nobody = User.objects.create(username="nobody")

    with refuses("forbidden", match="Only an operator or an administrator"):
        controller_commands.trip_breaker(KEEPER, person=nobody, now=clock.now, reason="No.")

    assert runtime().breaker == "closed"


# Another mode


def test_another_mode_is_proposed_and_two_others_approve_it(clock: Clock) -> None:
    declare(clock, controller(enforcementMode="warn"))
    work(clock)

    filed = controller_commands.propose_mode(
        KEEPER, "observe", person=operator(), now=clock.now, reason="Try it quietly."
    )

    found = filed.proposal
    assert (found.state, found.people, found.proposer) == ("pending", 2, "person/olga")
    assert found.actions[0]["parameters"] == {"patch": {"enforcementMode": "observe"}}
    assert live("Controller", KEEPER).spec["enforcementMode"] == "warn"


@pytest.mark.parametrize("mode", ["warn", "shout", ""])
def test_a_mode_that_it_has_or_that_is_none_is_refused(clock: Clock, mode: str) -> None:
    declare(clock, controller(enforcementMode="warn"))

    with refuses("invalid"):
        controller_commands.propose_mode(
            KEEPER, mode, person=operator(), now=clock.now, reason="Because."
        )
