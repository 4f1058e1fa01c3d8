"""What controllers that others run find and do is on every open page as on a fresh one."""

from __future__ import annotations

import pytest

from controllers.execution import agent_tasks
from controllers.execution.progress import Progress
from controllers.loop import watchdog
from controllers.models import Proposal
from resources.tables.models import Resource
from tests.api.deciding import good
from tests.api.outdoors import KEEPER, Process, bad, keeper, well
from tests.decisions.carrying import approve, run, steps
from tests.live.watching import World, about_controller, about_proposal, about_resource, glance
from tests.live.watching import world as world
from tests.resources.making import live
from tests.web.conftest import clock as clock

pytestmark = [pytest.mark.sqlite, pytest.mark.full]


def scene(world: World) -> tuple[Process, Resource]:
    """Declare an agent and a controller of agents that others run; return who runs it."""
    agent = world.agent()
    keeper(world.clock, enforcementMode="warn")
    return Process(), agent


def test_a_look_from_outside_and_what_comes_of_it(world: World) -> None:
    clock, (process, agent) = world.clock, scene(world)
    pages = about_resource(agent)
    with world.watch(
        "controller.reconciliation-started controller.drift-detected proposal.created",
        [*pages, *about_controller(KEEPER)],
    ):
        good(process.open(), "Opened", 201)
        good(process.find(bad(agent.name)), "FindingResults")
    wish = Proposal.objects.get()
    pages += [*about_controller(KEEPER), *about_proposal(wish)]
    with world.watch("controller.reconciliation-completed", pages):
        good(process.close(), "Closed")
    approve(clock, wish, world.person())
    with world.watch("proposal.offered", pages):
        run(clock)
    (step,) = steps(wish)
    world.catch_up()
    with world.watch("proposal.claimed proposal.progressed", pages):
        claim = agent_tasks.claim(step.pk, live("Controller", KEEPER), clock.now)
        half = Progress(50, "It restarts.")
        agent_tasks.heartbeat(step.pk, claim.fence, claim.epoch, clock.now, half)


def test_silence_and_its_end(world: World) -> None:
    clock, (process, agent) = world.clock, scene(world)
    with world.watch("controller.reconciliation-completed"):
        process.look(well(agent.name))
    pages = [
        *about_resource(agent),
        *glance(live("Controller", KEEPER)),
        *about_controller(KEEPER),
        "/controllers?sort=last",
    ]
    clock.advance(minutes=16)
    with world.watch("controller.fell-silent", pages):
        watchdog.look(clock.now)
    clock.advance(minutes=1)
    with world.watch("controller.heard-again", pages):
        good(process.beat(), "Told")
    with world.watch("controller.reconciliation-completed", pages):
        process.look(well(agent.name))
