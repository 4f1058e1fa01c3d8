"""Work that agents pull: one claims it, a hold stops it, and only who has the claim is heard."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from controllers import execution
from controllers.decisions import answers, holds
from controllers.execution import agent_tasks
from controllers.execution.results import StepResult
from controllers.models import Grant, Proposal, Step
from resources.documents.problems import Problem
from resources.store import evidence
from resources.tables.models import LedgerEvent, Resource
from tests.conftest import Clock
from tests.decisions.carrying import (
    LIMIT,
    approve,
    limit,
    now,
    restarting,
    run,
    starting,
    state,
    steps,
    story,
    workflow,
)
from tests.decisions.making import AGENT, action, agent, proposal, seen
from tests.problems import refuses
from tests.resources.conftest import real_database
from tests.resources.making import live
from tests.resources.racing import together

__all__ = ["real_database"]

pytestmark = pytest.mark.django_db

DONE = StepResult("done", "Restarted.", {"pid": 7})


@pytest.fixture
def scribe(clock: Clock) -> Resource:
    """The agent that is to work."""
    return agent(clock)


@pytest.fixture
def wish(clock: Clock, scribe: Resource, maya: User) -> Proposal:
    """A restart that waits for the agent."""
    found = approve(clock, proposal(clock, scribe, actions=[restarting()]), maya)
    run(clock)
    assert state(found) == "executing"
    return found


@pytest.fixture
def once(clock: Clock, scribe: Resource, maya: User) -> Proposal:
    """The start of a workflow, which must not happen twice, waiting for the agent."""
    found = proposal(clock, workflow(clock), actions=[starting()], risk="medium")
    approve(clock, found, maya)
    run(clock)
    return found


def step_of(wish: Proposal) -> Step:
    """Return the only step of a proposal."""
    (step,) = steps(wish)
    return step


def stop(clock: Clock, person: User, in_flight: str = "stop") -> holds.Placed:
    wanted = holds.HoldRequest(
        kind="stop", scope="organisation", reason="Fire.", in_flight=in_flight
    )
    return holds.place(wanted, person=person, now=clock.now)


def test_an_agent_claims_works_and_reports(clock: Clock, scribe: Resource, wish: Proposal) -> None:
    """O-39"""
    (offered,) = agent_tasks.claimable(scribe, clock.now)
    claim = agent_tasks.claim(offered.pk, scribe, clock.now)

    assert (claim.operation, claim.target) == ("restart", f"agent/{AGENT}")
    assert claim.key == offered.key
    assert claim.deadline == clock.now + timedelta(seconds=60)
    assert list(agent_tasks.claimable(scribe, clock.now)) == []
    clock.advance(seconds=50)
    beat = agent_tasks.heartbeat(offered.pk, claim.fence, claim.epoch, clock.now)
    assert beat.deadline == clock.now + timedelta(seconds=60)
    agent_tasks.report(offered.pk, claim.fence, DONE, clock.now)

    assert state(wish) == "verifying"
    step = step_of(wish)
    assert (step.state, step.result, step.attempts) == ("done", {"pid": 7}, 1)
    entry = LedgerEvent.objects.get(stream=wish.stream, event="proposal.claimed")
    assert entry.actor == f"agent/{AGENT}"
    assert entry.payload["authority"][0]["actor"] == "person/maya"
    assert entry.payload["fence"] == claim.fence
    assert evidence.verify().findings == []


def test_nobody_else_is_shown_the_work_or_may_claim_it(clock: Clock, wish: Proposal) -> None:
    """O-39"""
    other = agent(clock, "editor")

    assert list(agent_tasks.claimable(other, clock.now)) == []
    with refuses("not-found"):
        agent_tasks.claim(step_of(wish).pk, other, clock.now)
    with refuses("not-found"):
        agent_tasks.claim(999, other, clock.now)
    assert step_of(wish).state == "waiting"


def test_what_is_claimed_is_not_claimed_again(
    clock: Clock, scribe: Resource, wish: Proposal
) -> None:
    agent_tasks.claim(step_of(wish).pk, scribe, clock.now)

    with refuses("taken"):
        agent_tasks.claim(step_of(wish).pk, scribe, clock.now)
    assert story(wish).count("claimed") == 1


@pytest.mark.usefixtures("real_database")
@pytest.mark.django_db(transaction=True)
def test_of_many_processes_of_an_agent_one_gets_the_claim(
    clock: Clock, scribe: Resource, wish: Proposal
) -> None:
    """I3"""
    key = step_of(wish).pk

    def attempt() -> bool:
        try:
            agent_tasks.claim(key, scribe, clock.now)
        except Problem as problem:
            if problem.code != "taken":
                raise
            return False
        return True

    assert sum(together([attempt] * 5)) == 1
    assert step_of(wish).attempts == 1


def test_a_hold_keeps_work_from_being_claimed(
    clock: Clock, scribe: Resource, wish: Proposal, maya: User
) -> None:
    """I2"""
    placed = stop(clock, maya)

    with refuses("stopped", match="Fire"):
        agent_tasks.claim(step_of(wish).pk, scribe, clock.now)

    holds.lift(placed.hold.pk, person=maya, now=clock.now, reason="It is out.")
    assert agent_tasks.claim(step_of(wish).pk, scribe, clock.now).epoch == holds.epoch()


def test_an_approval_that_no_longer_stands_keeps_work_from_being_claimed(
    clock: Clock, scribe: Resource, wish: Proposal, maya: User
) -> None:
    """I1"""
    Grant.objects.filter(person=maya).delete()

    with refuses("refused", match="stands behind"):
        agent_tasks.claim(step_of(wish).pk, scribe, clock.now)


def test_a_hold_stops_work_that_has_begun(
    clock: Clock, scribe: Resource, wish: Proposal, maya: User
) -> None:
    """I-97 I2: at the next safe point, and it can be taken up later."""
    claim = agent_tasks.claim(step_of(wish).pk, scribe, clock.now)
    placed = stop(clock, maya)

    with refuses("stopped", match="Fire"):
        agent_tasks.heartbeat(step_of(wish).pk, claim.fence, claim.epoch, clock.now)
    with refuses("stopped"):
        agent_tasks.heartbeat(step_of(wish).pk, claim.fence, holds.epoch(), clock.now)
    agent_tasks.report(step_of(wish).pk, claim.fence, StepResult("stopped", "As told."), clock.now)

    assert (state(wish), step_of(wish).state) == ("approved", "waiting")
    holds.lift(placed.hold.pk, person=maya, now=clock.now, reason="It is out.")
    run(clock)
    assert agent_tasks.claim(step_of(wish).pk, scribe, clock.now).key == claim.key


def test_a_hold_that_lets_work_finish_does(
    clock: Clock, scribe: Resource, wish: Proposal, maya: User
) -> None:
    """I-97"""
    claim = agent_tasks.claim(step_of(wish).pk, scribe, clock.now)
    stop(clock, maya, in_flight="finish")

    beat = agent_tasks.heartbeat(step_of(wish).pk, claim.fence, holds.epoch(), clock.now)
    agent_tasks.report(step_of(wish).pk, beat.fence, DONE, clock.now)

    assert state(wish) == "verifying"


def test_an_epoch_from_before_a_hold_is_refused_with_the_present_one(
    clock: Clock, scribe: Resource, wish: Proposal, maya: User
) -> None:
    """I2"""
    claim = agent_tasks.claim(step_of(wish).pk, scribe, clock.now)
    agent(clock, "painter", domain="arts")
    wanted = holds.HoldRequest(
        kind="pause", scope="resource", reason="Wait.", resource=live("Agent", "painter").pk
    )
    holds.place(wanted, person=maya, now=clock.now)

    with refuses("stale-epoch") as refused:
        agent_tasks.heartbeat(step_of(wish).pk, claim.fence, claim.epoch, clock.now)

    present = int(refused.value.facts["epoch"])
    beat = agent_tasks.heartbeat(step_of(wish).pk, claim.fence, present, clock.now)
    assert beat.epoch == present == holds.epoch()


def test_a_decision_of_a_person_ends_the_work(
    clock: Clock, scribe: Resource, wish: Proposal, maya: User
) -> None:
    """I-95"""
    claim = agent_tasks.claim(step_of(wish).pk, scribe, clock.now)
    about = now(wish)
    answers.override(
        about.pk, person=maya, seen=seen(about), now=clock.now, reason="I do it myself."
    )

    with refuses("stopped", match="overridden"):
        agent_tasks.heartbeat(step_of(wish).pk, claim.fence, holds.epoch(), clock.now)
    agent_tasks.report(step_of(wish).pk, claim.fence, DONE, clock.now)

    assert (state(wish), step_of(wish).state) == ("overridden", "done")
    assert story(wish)[-1] == "late-result"


def test_a_silent_agent_loses_its_claim_and_may_claim_again(
    clock: Clock, scribe: Resource, wish: Proposal
) -> None:
    """O-40 O-39 I12"""
    first = agent_tasks.claim(step_of(wish).pk, scribe, clock.now)
    clock.advance(seconds=61)
    with refuses("taken"):
        agent_tasks.heartbeat(step_of(wish).pk, first.fence, first.epoch, clock.now)

    execution.recover(clock.now)

    assert (state(wish), step_of(wish).state) == ("executing", "waiting")
    second = agent_tasks.claim(step_of(wish).pk, scribe, clock.now)
    assert second.fence > first.fence
    assert second.key == first.key
    with refuses("taken"):
        agent_tasks.heartbeat(step_of(wish).pk, first.fence, second.epoch, clock.now)
    with refuses("taken"):
        agent_tasks.report(step_of(wish).pk, first.fence, StepResult("failed", "Late."), clock.now)
    assert step_of(wish).state == "claimed"
    agent_tasks.report(step_of(wish).pk, second.fence, DONE, clock.now)
    assert state(wish) == "verifying"


def test_what_must_not_happen_twice_goes_to_a_person_when_its_agent_falls_silent(
    clock: Clock, scribe: Resource, once: Proposal
) -> None:
    """I3: a result that comes too late is kept for whoever decides."""
    claim = agent_tasks.claim(step_of(once).pk, scribe, clock.now)
    clock.advance(seconds=61)
    execution.recover(clock.now)

    assert (state(once), step_of(once).state) == ("unknown", "unknown")
    with refuses("taken", match="too late"):
        agent_tasks.report(step_of(once).pk, claim.fence, DONE, clock.now)
    assert state(once) == "unknown"
    late = LedgerEvent.objects.get(stream=once.stream, event="proposal.late-result")
    assert (late.actor, late.payload["word"]) == (f"agent/{AGENT}", "done")


def test_an_agent_that_is_only_slow_is_heard(
    clock: Clock, scribe: Resource, once: Proposal
) -> None:
    """As long as nobody took the claim from it, its word is the best there is."""
    claim = agent_tasks.claim(step_of(once).pk, scribe, clock.now)
    clock.advance(seconds=300)

    agent_tasks.report(step_of(once).pk, claim.fence, DONE, clock.now)

    assert state(once) == "verifying"


def test_an_agent_that_falls_silent_every_time_is_given_up(
    clock: Clock, scribe: Resource, wish: Proposal
) -> None:
    for _ in range(3):
        agent_tasks.claim(step_of(wish).pk, scribe, clock.now)
        clock.advance(seconds=61)
        execution.recover(clock.now)

    assert state(wish) == "unknown"


def test_work_that_no_agent_takes_lapses(clock: Clock, scribe: Resource, wish: Proposal) -> None:
    """I13"""
    clock.advance(hours=25)

    assert list(agent_tasks.claimable(scribe, clock.now)) == []
    with refuses("taken"):
        agent_tasks.claim(step_of(wish).pk, scribe, clock.now)
    execution.recover(clock.now)

    assert state(wish) == "lapsed"


@pytest.mark.parametrize(
    ("word", "becomes"),
    [
        ("failed", "failed"),
        ("unknown", "unknown"),
        ("transient", "failed"),
        ("stopped", "approved"),
    ],
)
def test_what_an_agent_says_of_something_that_must_not_happen_twice(
    clock: Clock, scribe: Resource, once: Proposal, word: str, becomes: str
) -> None:
    claim = agent_tasks.claim(step_of(once).pk, scribe, clock.now)

    answer = StepResult(word, "So it went.")  # type: ignore[arg-type]
    agent_tasks.report(step_of(once).pk, claim.fence, answer, clock.now)

    assert state(once) == becomes
    assert now(once).error == ("scribe says “So it went.”" if becomes != "approved" else "")


def test_what_failed_for_now_is_offered_again(
    clock: Clock, scribe: Resource, wish: Proposal
) -> None:
    claim = agent_tasks.claim(step_of(wish).pk, scribe, clock.now)

    agent_tasks.report(step_of(wish).pk, claim.fence, StepResult("transient", "Busy."), clock.now)
    assert state(wish) == "approved"
    clock.advance(seconds=2)
    run(clock)

    again = agent_tasks.claim(step_of(wish).pk, scribe, clock.now)
    assert (again.key, again.fence > claim.fence) == (claim.key, True)


def test_what_comes_after_the_agents_part_is_left_to_a_worker(
    clock: Clock, scribe: Resource, maya: User
) -> None:
    """No request of an agent carries out an effect."""
    actions = [restarting(), action(sequence=2)]
    wish = approve(clock, proposal(clock, scribe, actions=actions), maya)
    run(clock)
    (step,) = agent_tasks.claimable(scribe, clock.now)
    claim = agent_tasks.claim(step.pk, scribe, clock.now)

    agent_tasks.report(step.pk, claim.fence, DONE, clock.now)
    assert (state(wish), limit()) == ("executing", LIMIT)

    run(clock)
    assert (state(wish), limit()) == ("verifying", LIMIT // 2)
