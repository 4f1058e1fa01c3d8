"""What becomes of an approved plan is on every open page as it would be on a fresh one."""

from __future__ import annotations

from datetime import timedelta

import pytest

from controllers import execution
from controllers.decisions import escalation, expiry
from controllers.execution import agent_tasks as agents_work
from controllers.execution import critical_section, recheck
from controllers.execution.results import StepResult
from controllers.models import Endpoint, Proposal
from resources.tables.models import Resource
from resources.usecases import deletion
from tests.decisions.carrying import approve, restarting, run, starting, steps, workflow
from tests.decisions.making import AGENT, agent, proposal
from tests.decisions.test_escalating import LADDER, govern
from tests.decisions.test_undoing import undo
from tests.live.watching import World, about_proposal
from tests.live.watching import world as world
from tests.problems import refuses
from tests.resources.making import ALICE
from tests.web.conftest import clock as clock

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

HOUR = timedelta(hours=1)


def test_done_and_taken_back(world: World) -> None:
    wish = approve(world.clock, proposal(world.clock, world.agent()), world.person())
    with world.watch("proposal.begun proposal.executed", about_proposal(wish)):
        run(world.clock)
    undo(world.clock, wish, world.person())
    with world.watch("proposal.rolled-back", about_proposal(wish)):
        run(world.clock)


def restart(world: World) -> tuple[Resource, Proposal]:
    """Let people approve that an agent starts anew."""
    row = world.agent()
    wish = proposal(world.clock, row, actions=[restarting(row.name)])
    return row, approve(world.clock, wish, world.person())


def test_work_of_agents(world: World) -> None:
    clock, (row, wish) = world.clock, restart(world)
    with world.watch("proposal.begun proposal.offered", about_proposal(wish)):
        run(clock)
    (step,) = steps(wish)
    with world.watch("proposal.claimed", about_proposal(wish)):
        claim = agents_work.claim(step.pk, row, clock.now)
    with world.watch("proposal.retried", about_proposal(wish)):
        agents_work.report(step.pk, claim.fence, StepResult("transient", "Busy."), clock.now)
    clock.advance(seconds=2)
    run(clock)
    claim = agents_work.claim(step.pk, row, clock.now)
    with world.watch("proposal.stopped", about_proposal(wish)):
        agents_work.report(step.pk, claim.fence, StepResult("stopped", "Stopped."), clock.now)
    clock.advance(seconds=31)
    run(clock)
    claim = agents_work.claim(step.pk, row, clock.now)
    with world.watch("proposal.failed", about_proposal(wish)):
        agents_work.report(step.pk, claim.fence, StepResult("failed", "No."), clock.now)


def test_work_that_is_lost(world: World) -> None:
    clock, scribe = world.clock, agent(world.clock, AGENT)
    once = proposal(clock, workflow(clock), actions=[starting()], risk="medium")
    approve(clock, once, world.person())
    run(clock)
    (step,) = steps(once)
    claim = agents_work.claim(step.pk, scribe, clock.now)
    clock.advance(seconds=61)
    with world.watch("proposal.lost", about_proposal(once)):
        execution.recover(clock.now)
    late = refuses("taken")
    with world.watch("proposal.late-result", about_proposal(once)), late:
        agents_work.report(step.pk, claim.fence, StepResult("done", "Late."), clock.now)


def test_work_of_machines(world: World) -> None:
    clock = world.clock
    machine = {"name": "rig", "url": "https://rig.example.com/", "secret": ""}
    changed = {"changed_at": clock.now, "changed_by": "system/ioa"}
    Endpoint.objects.create(**machine, operations=["restart"], **changed)
    _, wish = restart(world)
    with world.watch("proposal.dispatched", about_proposal(wish)):
        assert (
            critical_section.enter(wish, recheck.look(wish, clock.now), "lost", clock.now)
            is not None
        )


def test_what_goes_on_after_an_agents_part(world: World) -> None:
    clock, row = world.clock, world.agent()
    both = [restarting(row.name), restarting(row.name) | {"sequence": 2}]
    wish = approve(clock, proposal(clock, row, actions=both), world.person())
    run(clock)
    step = steps(wish)[0]
    claim = agents_work.claim(step.pk, row, clock.now)
    with world.watch("proposal.step-done", about_proposal(wish)):
        agents_work.report(step.pk, claim.fence, StepResult("done", "Done."), clock.now)
    with world.watch("proposal.resumed", about_proposal(wish)):
        run(clock)


def test_time(world: World) -> None:
    now = world.clock.now
    expired = world.wish(expires_at=now - HOUR)
    with world.watch("proposal.expired", about_proposal(expired)):
        expiry.sweep(now)
    done = {"state": "approved", "decided_by": "person/tomas", "decided_at": now - 2 * HOUR}
    lapsed = world.wish(**done, run_at=now - HOUR, execute_before=now - HOUR)
    with world.watch("proposal.lapsed", about_proposal(lapsed)):
        expiry.sweep(now)
    woken = world.wish(quiet_until=now - HOUR)
    with world.watch("proposal.woken", about_proposal(woken)):
        expiry.sweep(now)
    seen = world.wish(
        **done | {"state": "verifying"}, executed_at=now - 2 * HOUR, verify_by=now - HOUR
    )
    with world.watch("proposal.verified", about_proposal(seen)):
        expiry.sweep(now)


def test_silence_and_absence(world: World) -> None:
    now = world.clock.now
    govern(world.clock, "growth-governance", "growth", *LADDER)
    wish = world.wish()
    with world.watch("proposal.escalated", about_proposal(wish)):
        escalation.sweep(now)
    gone = approve(world.clock, proposal(world.clock, world.agent()), world.person())
    deletion.delete("Agent", gone.resource.name, actor=ALICE, now=now)
    left = [each for each in about_proposal(gone) if not each.startswith("/resources/")]
    with world.watch("proposal.skipped", left):
        run(world.clock)
