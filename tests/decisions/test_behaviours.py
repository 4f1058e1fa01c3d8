"""From drift to effect: what is done, undone and claimed, and what is told of it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import Min
from django.test import Client

from controllers.execution import agent_tasks as agents
from controllers.loop.cycle_run import Means
from controllers.models import Judgement, Proposal
from controllers.worker import worker_loop
from resources.tables.ledger import instant
from resources.tables.models import LedgerEvent, ResourceRevision
from tests.api.conftest import Api
from tests.conftest import Clock
from tests.decisions.carrying import (
    LIMIT,
    approve,
    consume,
    keeper,
    limit,
    overspending,
    restarting,
    run,
    state,
    steps,
    story,
)
from tests.decisions.making import AGENT, action, agent, proposal
from tests.resources.making import live

pytestmark = pytest.mark.django_db


@pytest.mark.full
def test_looking_again_and_again_brings_all_of_them_home(clock: Clock, maya: User) -> None:
    """D-46 I-04 Twenty that spend twice what they may, and use less once they are throttled."""
    names = [f"agent-{number:02}" for number in range(20)]
    keeper(clock)
    for name in names:
        overspending(clock, name)
    means = Means(clock=lambda: clock.now)
    worker_loop.work("worker", means)
    before = Judgement.objects.aggregate(least=Min("score"))["least"]
    assert Judgement.objects.filter(drifted=True).count() == 20

    for wish in Proposal.objects.filter(state="pending"):
        approve(clock, wish, maya)
    clock.advance(seconds=1)
    worker_loop.work("worker", means)
    for name in names:
        consume(clock, name, limit(name))
    clock.advance(minutes=5)
    worker_loop.work("worker", means)

    assert Judgement.objects.filter(score__lt=before).count() == 20
    assert not Judgement.objects.filter(drifted=True).exists()
    assert {each.outcome for each in Proposal.objects.all()} == {"effective"}


def pausing(sequence: int) -> dict[str, Any]:
    return action(
        sequence=sequence,
        operation="pause",
        parameters={"agent": AGENT},
        touches=["spec.state"],
        rollback={"operation": "resume", "parameters": {"agent": AGENT}},
    )


@pytest.fixture
def half_done(clock: Clock, maya: User) -> Proposal:
    """A plan whose fourth action fails and whose policy then undoes the others."""
    actions = [
        action(),
        pausing(2),
        action(sequence=3, parameters={"factor": 0.25}),
        action(sequence=4, parameters={"factor": 7}),
    ]
    policy = {"onFailure": "rollback"}
    return approve(clock, proposal(clock, agent(clock), actions=actions, policy=policy), maya)


def test_what_is_left_half_done_is_undone_from_its_end(clock: Clock, half_done: Proposal) -> None:
    """D-33 O-65 D-19"""
    before = live("Agent", AGENT).spec
    run(clock)
    assert [each.before != [] for each in steps(half_done)] == [True, True, True, False]

    run(clock)
    run(clock)

    assert (state(half_done), live("Agent", AGENT).spec) == ("rolled_back", before)
    revisions = ResourceRevision.objects.filter(resource=half_done.resource).order_by("pk")
    told = [
        (each.spec["tokenBudget"]["maxDaily"], each.spec.get("state")) for each in revisions[1:]
    ]
    there, back = told[:3], told[3:]
    assert there == [(LIMIT // 2, None), (LIMIT // 2, "paused"), (LIMIT // 4, "paused")]
    assert back == [(LIMIT // 2, "paused"), (LIMIT // 2, None), (LIMIT, None)]


def test_each_step_of_acting_is_told(clock: Clock, half_done: Proposal, maya: User) -> None:
    """D-35"""
    fine = agent(clock, "editor")
    other = approve(clock, proposal(clock, fine, actions=[action("editor")]), maya)

    run(clock)
    run(clock)

    assert story(other)[-2:] == ["begun", "executed"]
    assert story(half_done)[-5:] == [
        "begun",
        "failed",
        "undo-requested",
        "begun",
        "rolled-back",
    ]


def test_the_end_of_a_plan_says_what_became_of_each_action(
    clock: Clock, half_done: Proposal
) -> None:
    """D-34"""
    run(clock)

    told = LedgerEvent.objects.get(stream=half_done.stream, event="proposal.failed")
    assert told.correlation_id == half_done.correlation_id
    assert told.payload["error"] == steps(half_done)[3].error != ""
    states = {each["sequence"]: each["state"] for each in told.payload["steps"]}
    assert states == {1: "done", 2: "done", 3: "done", 4: "failed"}


def test_claims_can_be_looked_at(clock: Clock, maya: User) -> None:
    """O-34 Who does it, since when and until when."""
    scribe = agent(clock)
    wish = approve(clock, proposal(clock, scribe, actions=[restarting()]), maya)
    run(clock)
    (offered,) = agents.claimable(scribe, clock.now)
    claim = agents.claim(offered.pk, scribe, clock.now)
    client = Client()
    client.force_login(maya)

    (step,) = Api(client).get(f"proposals/{wish.pk}").json()["steps"]

    assert (step["state"], step["claimedBy"]) == ("claimed", f"agent/{AGENT}")
    assert step["startedAt"] == instant(clock.now)
    assert step["deadline"] == instant(claim.deadline)
