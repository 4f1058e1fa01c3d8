"""Asking a controller for a cycle: who asked is on record, and one id tells the whole story."""

from __future__ import annotations

import pytest

from controllers import operating
from resources.actor import Actor
from resources.models import LedgerEvent
from tests.conftest import Clock
from tests.controllers.making import KEEPER, controller, cycles, declare, drifted, healthy, work

pytestmark = pytest.mark.django_db
ALICE = Actor("person", "alice")


def test_a_request_is_in_the_ledger_with_who_asked_and_why(clock: Clock) -> None:
    """F-25"""
    declare(clock, controller())

    operating.request(KEEPER, actor=ALICE, now=clock.now, message="After the storm.")

    event = LedgerEvent.objects.get(event="controller.reconciliation-requested")
    assert (event.actor, event.subject) == ("person/alice", "controller/keeper")
    assert event.payload["reason"] == "After the storm."


def test_a_cycle_goes_on_with_the_correlation_id_of_its_request(clock: Clock) -> None:
    """D-07"""
    declare(clock, controller())
    drifted(clock, "harbour")
    work(clock)
    clock.advance(minutes=1)
    operating.request(KEEPER, actor=ALICE, now=clock.now)

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
    operating.request(KEEPER, actor=ALICE, now=clock.now)
    (asked,) = work(clock)
    clock.advance(minutes=5)

    (usual,) = work(clock)

    assert usual.correlation_id != asked.correlation_id
    assert usual.requested_by == ""
