"""What stands in the way of a controller, as the loop and the executor meet it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers.decisions import answers, holds
from controllers.engine.proposal_lifecycle import OPEN
from controllers.models import Judgement, Proposal, Shadow
from tests.conftest import Clock
from tests.controllers.faults import acting, staffed, understaffed
from tests.controllers.making import alerts, controller, declare, domain, work
from tests.decisions.carrying import (
    LIMIT,
    approve,
    consume,
    keeper,
    limit,
    now,
    overspending,
    planned,
    run,
    state,
    wait,
)
from tests.decisions.looking import again, look, only, proposed
from tests.decisions.making import AGENT, seen
from tests.decisions.operating import MEMORY, declared
from tests.problems import refuses
from tests.resources.making import live, shown

pytestmark = pytest.mark.django_db

ALARM = {"type": "alert", "severity": "warning", "channels": ["slack-ops"]}
REPAIR = {"type": "reconcile", "strategy": "immediate"}


def test_what_nobody_put_under_control_is_only_told(clock: Clock) -> None:
    """O-24 Ten cycles in enforce: people are told once, nothing proposed, nothing touched."""
    understaffed(clock, "harbour")
    staffed(clock, "harbour", 2)
    strange = domain("harbour", agents=["harbour-0", "harbour-1"], labels={"managed": "false"})
    declare(clock, strange, acting(actions={"onDrift": [ALARM, REPAIR]}))
    work(clock)
    staffed(clock, "harbour", 1)
    before = shown("Domain", "harbour")["spec"], shown("Agent", "harbour-1")["spec"]

    for _ in range(10):
        look(clock)

    told = sorted((each.reason, each.channel) for each in alerts())
    assert told == [("Drift", "slack-ops"), ("Unmanaged", "")]
    assert not Proposal.objects.exists()
    assert (shown("Domain", "harbour")["spec"], shown("Agent", "harbour-1")["spec"]) == before


def forgetting(clock: Clock, mode: str, labels: dict[str, str], **spec: Any) -> list[str]:
    """Let a controller see a memory that is to expire; return what became of its plan."""
    retention = {"duration": "30d", "autoExpire": True}
    metadata = {"name": "dawn", "labels": labels}
    kept = MEMORY | {"retention": retention}
    about = {"metadata": metadata, "status": {"state": "active"}}
    declared(clock, "Memory", "dawn", kept, **about)
    clock.advance(days=31)
    sweeper = {"targetKind": "Memory", "enforcementMode": mode, "approval": "auto", **spec}
    declare(clock, controller(actions={"onDrift": [REPAIR]}, **sweeper))
    work(clock)
    look(clock)
    assert live("Memory", "dawn").status["state"] == "active"
    return [each.state for each in Proposal.objects.all()]


@pytest.mark.parametrize(
    ("mode", "states"),
    [
        ("observe", []),
        ("advise", ["recommended"]),
        ("warn", ["pending"]),
        ("enforce", ["pending"]),
    ],
)
def test_no_mode_destroys_anything_without_two_people(
    clock: Clock, mode: str, states: list[str]
) -> None:
    """O-22"""
    assert forgetting(clock, mode, {}) == states
    assert [each.people for each in Proposal.objects.all()] == [2] * len(states)


@pytest.mark.parametrize("label", ["blessed", "protected"])
def test_nobody_is_asked_to_destroy_what_is_protected(clock: Clock, label: str) -> None:
    """O-25 There is nothing to approve, and people hear why."""
    assert forgetting(clock, "enforce", {label: "true"}) == []
    assert [each.reason for each in alerts()] == ["Protected"]


def test_what_destroys_can_be_switched_off(clock: Clock) -> None:
    """O-26"""
    assert forgetting(clock, "enforce", {}, skipDestructive=True) == []


def test_what_is_approved_waits_for_its_window(clock: Clock, maya: User) -> None:
    """O-57"""
    opens = clock.now.replace(second=0, microsecond=0) + timedelta(hours=2)
    cron = f"{opens.minute} {opens.hour} * * *"
    window = {"cron": cron, "timezone": "UTC", "duration": "1h"}
    owner = keeper(clock, maintenanceWindow=window)
    wish = approve(clock, planned(clock, owner, overspending(clock)), maya)

    run(clock)
    assert (state(wish), limit(), now(wish).held) == ("approved", LIMIT, "OutsideWindow")

    clock.now = opens
    run(clock)
    assert (state(wish), limit()) == ("verifying", LIMIT // 2)


def test_as_many_people_are_asked_ahead_of_the_window_as_in_it(clock: Clock) -> None:
    """O-57"""
    opens = clock.now + timedelta(hours=5)
    cron = f"{opens.minute} {opens.hour} * * *"
    window = {"cron": cron, "timezone": "UTC", "duration": "1h"}

    assert forgetting(clock, "enforce", {}, maintenanceWindow=window) == ["pending"]
    assert (only().people, only().held) == (2, "OutsideWindow")


def test_nothing_is_changed_on_the_word_of_an_old_report(clock: Clock, maya: User) -> None:
    """O-42 D-03 X-23 The agent falls silent: what it said an hour ago is not enough to act on."""
    owner = keeper(clock, maxStaleness="10m")
    wish = approve(clock, planned(clock, owner, overspending(clock)), maya)
    clock.advance(hours=1)

    run(clock)
    assert (state(wish), limit(), now(wish).held) == ("approved", LIMIT, "SnapshotStale")

    consume(clock, AGENT, 2 * LIMIT)
    wait(clock)
    run(clock)
    assert (state(wish), limit()) == ("verifying", LIMIT // 2)


def test_nothing_is_proposed_on_the_word_of_an_old_report(clock: Clock) -> None:
    """O-42 D-03"""
    overspending(clock)
    clock.advance(hours=1)
    keeper(clock, maxStaleness="10m")

    work(clock)

    assert not Proposal.objects.exists()
    assert Judgement.objects.get().drifted


def test_what_a_person_overrides_is_not_proposed_again_while_that_stands(
    clock: Clock, ines: User, maya: User
) -> None:
    """I-95"""
    wish = proposed(clock)
    answers.override(
        wish.pk, person=ines, seen=seen(wish), now=clock.now, reason="They are on leave."
    )
    look(clock)
    look(clock)

    assert again(wish).state == "overridden"
    assert not Proposal.objects.filter(state__in=OPEN).exists()
    shadow = Shadow.objects.get()
    assert shadow.action_digest == wish.action_digest

    holds.lift(shadow.hold_id, person=maya, now=clock.now, reason="They are back.")
    look(clock)
    assert only().pk != wish.pk


def test_an_override_says_why(clock: Clock, ines: User) -> None:
    """I-96"""
    wish = proposed(clock)

    with refuses("invalid", match="Say why"):
        answers.override(wish.pk, person=ines, seen=seen(wish), now=clock.now, reason=" ")

    assert again(wish).state == "pending"
    assert not holds.standing(clock.now)
