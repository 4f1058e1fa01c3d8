"""What controllers find and propose is on every open page as it would be on a fresh one."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from controllers.common import retention
from controllers.decisions import holds
from controllers.models import Cycle
from controllers.worker import controller_commands
from resources.documents.actor import Actor
from tests.controllers.faults import acting, doing, succeeds, understaffed
from tests.controllers.making import KEEPER, declare, while_judging, work
from tests.decisions.looking import (
    HARBOUR,
    edit_harbour,
    keeper,
    lacking,
    only,
    staff,
)
from tests.live.watching import World, about_controller, about_proposal, about_resource
from tests.live.watching import world as world
from tests.resources.making import live
from tests.web.conftest import clock as clock

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

PAGE = f"/resources/domain/{HARBOUR}"


def test_a_look_and_what_comes_of_it(world: World) -> None:
    clock = world.clock
    harbour = lacking(clock)
    keeper(clock)
    with world.watch(
        "controller.reconciliation-started controller.drift-detected resource.condition-changed",
        [*about_controller(KEEPER), *about_resource(harbour), "/resources?drift=1"],
    ):
        work(clock)
    wish = only()
    pages = [*about_proposal(wish), *about_controller(KEEPER)]
    clock.advance(minutes=16)
    with world.watch("controller.reconciliation-completed", pages):
        work(clock)
    edit_harbour(clock, "Bring all ships in.")
    clock.advance(minutes=5)
    with world.watch("proposal.revised", pages):
        work(clock)


def test_other_plans_and_none(world: World) -> None:
    clock = world.clock
    lacking(clock)
    keeper(clock)
    work(clock)
    wish = only()
    staff(clock, 2)
    clock.advance(minutes=5)
    with world.watch("proposal.superseded", about_proposal(wish)):
        work(clock)
    wish = only()
    staff(clock, 3)
    clock.advance(minutes=5)
    with world.watch("proposal.converged", [*about_proposal(wish), *about_controller(KEEPER)]):
        work(clock)


def test_a_hold_in_the_way(world: World) -> None:
    clock, maya = world.clock, world.person()
    harbour = lacking(clock)
    keeper(clock)
    work(clock)
    wish = only()
    wanted = holds.HoldRequest("pause", "resource", "Wait.", resource=harbour.pk)
    hold = holds.place(wanted, person=maya, now=clock.now).hold
    clock.advance(minutes=5)
    with world.watch("proposal.held", [*about_proposal(wish), f"/overrides/{hold.pk}"]):
        work(clock)
    holds.lift(hold.pk, person=maya, now=clock.now, reason="Go on.")
    clock.advance(minutes=5)
    with world.watch("proposal.freed", [*about_proposal(wish), f"/overrides/{hold.pk}"]):
        work(clock)


def test_what_is_asked_of_a_controller(world: World) -> None:
    clock, ines = world.clock, world.person("ines")
    lacking(clock)
    keeper(clock)
    work(clock)
    pages = about_controller(KEEPER)
    with world.watch("controller.reconciliation-requested", pages):
        controller_commands.request(KEEPER, actor=Actor("person", "ines"), now=clock.now)
    with world.watch("controller.breaker-opened", [*pages, PAGE]):
        controller_commands.trip_breaker(
            KEEPER, person=ines, now=clock.now, reason="It runs wild."
        )
    with world.watch("controller.breaker-reset", pages):
        reset(ines, world)
    clock.advance(seconds=1)
    with world.watch("controller.reconciliation-completed", pages):
        work(clock)


def reset(person: User, world: World) -> None:
    """Let the controller try one cycle."""
    who = Actor("person", person.username)
    controller_commands.reset_breaker(
        KEEPER, actor=who, now=world.clock.now, reason="It is mended."
    )


def test_what_a_controller_does_alone(world: World) -> None:
    clock = world.clock
    understaffed(clock, HARBOUR)
    actions = [{"type": "log"}, {"type": "alert"}, {"type": "reconcile"}]
    declare(clock, acting(actions={"onDrift": actions}, convergence={"maxIterations": 1}))
    with world.watch(
        "controller.action-performed controller.logged",
        [*about_resource(live("Domain", HARBOUR)), f"/controllers/{KEEPER}"],
    ):
        work(clock, effects=doing(succeeds))
    with world.watch("controller.convergence-ended", [PAGE, *about_controller(KEEPER)]):
        for _ in range(3):
            clock.advance(minutes=5)
            work(clock, effects=doing(succeeds))


def test_a_look_that_fails(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = world.clock
    lacking(clock)
    keeper(clock)
    work(clock)
    clock.advance(minutes=5)

    def break_down(_: str) -> None:
        raise TypeError("unsupported operand")

    while_judging(monkeypatch, break_down)
    with world.watch("controller.error", [PAGE, *about_controller(KEEPER)]):
        work(clock)


def test_cycles_that_are_dropped(world: World) -> None:
    clock = world.clock
    lacking(clock)
    keeper(clock)
    work(clock)
    clock.advance(minutes=5)
    work(clock)
    Cycle.objects.update(started_at=clock.now - timedelta(days=10_000))
    with world.watch("retention.dropped", [PAGE, *about_controller(KEEPER)]):
        retention.sweep(clock.now)
