"""What becomes of a proposal in the hands of the executor: each a move, told to the ledger."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

from controllers.decisions import proposals
from controllers.engine import digests
from controllers.engine.proposal_lifecycle import UNDO_WINDOW, WAITS, Verb
from controllers.engine.terms import Ruling
from controllers.execution import steps
from controllers.execution.authority import Authority
from controllers.models import Proposal, Step
from controllers.workqueue import compiled_controllers, drift_episodes, queue
from resources.documents.actor import SYSTEM, Actor
from resources.tables.models import Resource

LEASE = timedelta(seconds=30)
# What is held is tried again this often, in case nobody says that the way is free.
PATIENCE = timedelta(seconds=30)
MOST_ATTEMPTS = 3
# How long later looks may take to see the effect, where no controller says how often it looks.
VERIFY_WITHIN = timedelta(hours=1)
LOOKS = 3

FREE: dict[str, Any] = {"holder": "", "claimed_until": None}
UNHELD: dict[str, Any] = {"held": "", "held_reason": ""}
UNDECIDED: dict[str, Any] = {"decided_at": None, "decided_by": "", "answer": "", "reason": ""}


def move(proposal: Proposal, verb: Verb, now: datetime, payload: Any, **changes: Any) -> Proposal:
    """Move a proposal on behalf of the product itself."""
    return proposals.move(proposal, verb, actor=SYSTEM, now=now, payload=payload, **changes)


def change(proposal: Proposal, **changes: Any) -> None:
    """Change fields of a taken proposal that are no news."""
    for name, value in changes.items():
        setattr(proposal, name, value)
    Proposal.objects.filter(pk=proposal.pk).update(**changes)


def author(proposal: Proposal) -> Actor:
    """Return who changes what a proposal changes: its proposer, or whoever wants it undone."""
    if proposal.undoing and proposal.answer != "undo":
        return SYSTEM
    kind, _, name = (proposal.decided_by if proposal.undoing else proposal.proposer).partition("/")
    actor: Any = kind
    return Actor(actor, name)


def claim(proposal: Proposal, holder: str, authority: Authority, now: datetime) -> None:
    """Give a proposal to a worker: from here on nobody with an older fence writes."""
    fence = proposal.fence + 1
    payload = {"fence": fence, "holder": holder, "authority": authority}
    claimed = {"fence": fence, "holder": holder, "claimed_until": now + LEASE, "run_at": None}
    if proposal.state == "executing":
        change(proposal, **claimed, **UNHELD)
        proposals.tell(proposal, "resumed", actor=SYSTEM, now=now, payload=payload)
    else:
        attempts = proposal.attempts + 1
        move(proposal, "claim", now, payload, attempts=attempts, **claimed, **UNHELD)


def hold_back(proposal: Proposal, ruling: Ruling, now: datetime) -> None:
    """Let a proposal wait for whatever stands in its way; it is said once."""
    again = now + PATIENCE
    payload = {"code": ruling.code, "reason": ruling.reason, "hold": ruling.hold}
    held = {"held": ruling.code, "held_reason": ruling.reason, "run_at": again}
    if steps.on_the_wire(proposal):
        claim(proposal, "", [], now)
        lose(proposal, f"Its outcome is not known. {ruling.reason}", now)
    elif proposal.state == "executing":
        move(proposal, "stop", now, payload, **held, **FREE)
    elif (proposal.held, proposal.held_reason) == (ruling.code, ruling.reason):
        change(proposal, run_at=again)
    else:
        change(proposal, **held)
        proposals.tell(proposal, "held", actor=SYSTEM, now=now, payload=payload)


def ask_again(proposal: Proposal, reason: str, now: datetime, **changes: Any) -> None:
    """Take an approval back: what was approved is not what would happen, or not enough agree."""
    revised = {
        "revision": proposal.revision + 1,
        "expires_at": now + WAITS[proposal.risk],
        "execute_before": None,
        "run_at": None,
    }
    move(proposal, "revise", now, {"reason": reason}, **revised, **UNDECIDED, **UNHELD, **changes)


def rest_on(proposal: Proposal, generation: int) -> dict[str, Any]:
    """Return what a proposal rests on, with another generation of its target."""
    basis = {**proposal.basis, "generation": generation}
    return {"basis": basis, "basis_digest": digests.of_basis(basis)}


def look_again(proposal: Proposal, now: datetime) -> None:
    """Ask the controller of a proposal to look at its target."""
    if proposal.controller_id is not None:
        target = Resource.objects.filter(pk=proposal.resource_id, deleted_at=None)
        asked = queue.Request(queue.APPROVAL, now, queue.URGENT, story=proposal.correlation_id)
        queue.enqueue(proposal.controller_id, target, asked)


def finish(proposal: Proposal, now: datetime) -> None:
    """End an execution whose every step was done; later looks say whether it helped."""
    payload = {"fence": proposal.fence, "steps": keys(proposal)}
    if proposal.undoing:
        move(proposal, "roll_back", now, payload, error="", undo_until=None, **FREE)
    else:
        ended = {
            "executed_at": now,
            "undo_until": now + UNDO_WINDOW if steps.way_back(proposal) else None,
            "verify_by": now + verified_within(proposal),
            "error": "",
        }
        move(proposal, "finish", now, payload, **ended, **FREE)
        tell_story(proposal, done=True)
    look_again(proposal, now)


def tell_story(proposal: Proposal, *, done: bool) -> None:
    """Let the story of the drift know what was done about it, where a controller follows it."""
    if proposal.controller_id is not None:
        drift_episodes.note(proposal.controller_id, proposal.resource_id, done=done)


def fail(proposal: Proposal, error: str, now: datetime) -> None:
    """End an execution that cannot go on; what was done stays, and can be undone."""
    steps.skip_rest(proposal, now)
    done = steps.done_of(proposal)
    ended: dict[str, Any] = {"error": error[:2_000], **FREE}
    if done and not proposal.undoing:
        window = now + UNDO_WINDOW if steps.way_back(proposal) else None
        ended |= {"executed_at": now, "undo_until": window}
    payload = {"fence": proposal.fence, "error": error[:500], "steps": keys(proposal)}
    move(proposal, "fail", now, payload, **ended)
    if proposal.undoing:
        return
    tell_story(proposal, done=False)
    if done and proposal.reversible and proposal.policy.get("onFailure") == "rollback":
        turn_back(proposal, error, now)
    look_again(proposal, now)


def turn_back(proposal: Proposal, error: str, now: datetime) -> None:
    """Undo what was done before a failure, where the policy says so."""
    reason = f"The policy undoes what is left half done: {error}"[:2_000]
    back = {
        "undoing": True,
        "run_at": now,
        "execute_before": now + UNDO_WINDOW,
        "decided_by": f"policy/{proposal.mode or 'rollback'}",
        "answer": "undo",
        "reason": reason,
    }
    move(proposal, "undo", now, {"reason": reason}, **back)


def lose(proposal: Proposal, reason: str, now: datetime) -> None:
    """Hand over to a person what may or may not have happened."""
    open_ended = proposal.steps.filter(state__in=[Step.State.DISPATCHED, Step.State.CLAIMED])
    open_ended.update(state=Step.State.UNKNOWN, ended_at=now)
    payload = {"fence": proposal.fence, "reason": reason, "steps": keys(proposal)}
    lost = {"error": reason, "executed_at": now, "run_at": None}
    move(proposal, "lose", now, payload, **lost, **FREE)


def retry(proposal: Proposal, reason: str, after: timedelta, now: datetime) -> None:
    """Let an execution be tried again later, with the same keys."""
    payload = {"fence": proposal.fence, "reason": reason}
    move(proposal, "retry", now, payload, error=reason, run_at=now + after, **FREE)


def backoff(attempts: int) -> timedelta:
    """Return how long to wait after so many attempts: twice as long each time, never the same."""
    return timedelta(seconds=2 ** (attempts - 1) * random.uniform(0.75, 1.25))  # noqa: S311


def keys(proposal: Proposal) -> list[dict[str, Any]]:
    """Return the steps of an execution as the ledger names them."""
    found = proposal.steps.filter(undoes=proposal.undoing).order_by("sequence")
    return [
        {"sequence": each.sequence, "operation": each.operation, "state": each.state}
        | {"key": each.key, "epoch": each.epoch}
        for each in found
    ]


def verified_within(proposal: Proposal) -> timedelta:
    """Return how long later looks may take to see the effect."""
    if proposal.controller is None:
        return VERIFY_WITHIN
    declared = compiled_controllers.attempt(
        (proposal.controller.pk, proposal.controller.generation)
    )
    return max(declared.interval * LOOKS, VERIFY_WITHIN) if declared else VERIFY_WITHIN
