"""What people say to a proposal is on every open page as it would be on a fresh one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from controllers.decisions import answers, creation, expiry
from controllers.models import Proposal, Step
from tests.decisions.making import seen
from tests.live.watching import KEEPER, World, about_proposal, about_resource
from tests.live.watching import world as world
from tests.web.conftest import clock as clock

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
EMERGENCY = "The shop is down and nobody else is awake to look at it."
STEP = {
    "sequence": 2,
    "operation": "throttle",
    "executor": "agent",
    "idempotent": False,
    "state": "unknown",
    "key": "k" * 64,
}
ADOPTABLE = {
    "dimension": "field",
    "subject": "field/spec.purpose",
    "verdict": "missed",
    "note": "drifted",
    "desired": "Writes.",
    "observed": "Writes letters.",
}


def said(world: World, wish: Proposal, person: str = "maya", **more: Any) -> dict[str, Any]:
    """Return what goes with every answer."""
    wish.refresh_from_db()
    who, now = world.person(person), world.clock.now
    return {"person": who, "seen": seen(wish), "now": now, "reason": "It is right.", **more}


def done(world: World, **given: Any) -> Proposal:
    """Return a proposal that was carried out."""
    now = world.clock.now
    usual = {
        "state": "succeeded",
        "decided_by": "person/tomas",
        "decided_at": now,
        "executed_at": now,
        "answer": "approve",
        "undo_until": now + DAY,
    }
    return world.wish(**usual | given)


def test_yes_and_no(world: World) -> None:
    yes, two, no, emergency = (
        world.wish(),
        world.wish(people=2),
        world.wish(),
        world.wish(people=2, risk="high"),
    )
    with world.watch("proposal.approved", [*about_proposal(yes), f"/controllers/{KEEPER}"]):
        answers.approve(yes.pk, **said(world, yes))
    with world.watch("proposal.voted", about_proposal(two)):
        answers.approve(two.pk, **said(world, two, "tomas"))
    with world.watch("proposal.rejected", [*about_proposal(no), "/approvals?state=decided"]):
        answers.reject(no.pk, **said(world, no))
    with world.watch("proposal.glass-broken", about_proposal(emergency)):
        answers.break_glass(emergency.pk, **said(world, emergency, "tomas", reason=EMERGENCY))
    with world.watch("proposal.withdrawn", about_proposal(yes)):
        answers.withdraw(yes.pk, **said(world, yes))


def test_something_else(world: World) -> None:
    change, override, adopt = world.wish(), world.wish(), world.wish(evidence=[ADOPTABLE])
    with world.watch("proposal.changed", about_proposal(change)):
        edits = {change.actions[0]["sequence"]: {"factor": 0.8}}
        answers.change(change.pk, **said(world, change, "tomas"), edits=edits)
    with world.watch("proposal.overridden hold.placed", about_proposal(override)):
        instead = answers.Instead("spec.tokenBudget.maxDaily", 90_000)
        answers.override(override.pk, **said(world, override), instead=instead)
    with world.watch("proposal.adopted", about_proposal(adopt)):
        answers.adopt(adopt.pk, **said(world, adopt))


def test_not_now(world: World) -> None:
    now = world.clock.now
    accept, snooze, extend = world.wish(), world.wish(), world.wish(expires_at=now + HOUR)
    with world.watch("proposal.accepted", about_proposal(accept)):
        answers.accept(accept.pk, **said(world, accept), until=now + DAY)
    with world.watch("proposal.snoozed", about_proposal(snooze)):
        answers.snooze(snooze.pk, **said(world, snooze), rest=answers.Rest(now + HOUR))
    with world.watch("proposal.extended", about_proposal(extend)):
        answers.extend(extend.pk, **said(world, extend), until=now + DAY)


def test_afterwards(world: World) -> None:
    late = world.clock.now - HOUR
    undo, unseen = done(world), world.wish(state="unknown", error="Nobody heard of it.")
    Step.objects.create(**STEP, proposal=unseen)
    review = done(world, answer="break_glass", review_by=world.clock.now + HOUR)
    with world.watch("proposal.undo-requested", about_proposal(undo)):
        answers.undo(undo.pk, **said(world, undo))
    with world.watch("proposal.resolved", about_proposal(unseen)):
        answers.resolve(unseen.pk, **said(world, unseen), outcome="happened")
    with world.watch("proposal.reviewed", about_proposal(review)):
        answer = said(world, review)
        answers.review(review.pk, person=answer["person"], now=answer["now"], reason="Good.")
    forgotten = done(world, answer="break_glass", review_by=late, undo_until=None)
    with world.watch("proposal.unreviewed", about_proposal(forgotten)):
        expiry.sweep(world.clock.now)


def test_proposing(world: World) -> None:
    agent, ines, now = world.agent(), world.person("ines"), world.clock.now
    wanted = {"operation": "throttle", "parameters": {"factor": 0.5}}
    filing = creation.Filing(agent.pk, [wanted], "It is time.")
    with world.watch("proposal.created", about_resource(agent)):
        wish = creation.propose(filing, by=ines, now=now).proposal
    with world.watch("proposal.changes-requested", about_proposal(wish)):
        answers.request_changes(wish.pk, **said(world, wish))
    with world.watch("proposal.revised", about_proposal(wish)):
        better = {"operation": "throttle", "parameters": {"factor": 0.9}}
        filing = creation.Filing(agent.pk, [better], "Less of it.")
        creation.revise(wish.pk, filing, by=ines, now=now)
    late = world.wish(state="expired")
    with world.watch("proposal.reproposed", about_proposal(late)):
        creation.repropose(late.pk, person=world.person(), now=now, reason="Look again.")
