"""What people say once something was done: undo it, say what became of it, look at it again."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F

from controllers.access import people, roles
from controllers.common.clocks import current
from controllers.decisions import proposals
from controllers.decisions.answers.answer import GivenAnswer, on_behalf, settle, worded
from controllers.decisions.answers.decider_check import check_responsible
from controllers.decisions.proposals import SeenRevision
from controllers.engine.proposal_lifecycle import LAPSES, UNDO_WINDOW, Verb
from controllers.models import Proposal, Step
from resources.documents.problems import EXPIRED, Problem, invalid

# What became of something nobody heard of again.
Outcome = Literal["happened", "failed", "retry"]
LOST = (Step.State.CLAIMED, Step.State.DISPATCHED, Step.State.UNKNOWN)
# How long later looks may take to see the effect.
VERIFY_WITHIN = timedelta(hours=1)


def undo(
    key: int, *, person: User, seen: SeenRevision, now: datetime, reason: str = ""
) -> Proposal:
    """Ask for what was done to be undone; the runner does it, as it did the rest."""
    return settle(key, GivenAnswer("undo", person, seen, now, worded(reason)), turn_back)


def turn_back(proposal: Proposal, said: GivenAnswer) -> Proposal:
    """Mark something done for being undone, while its window is open."""
    check_responsible(said.person, proposal, said.now)
    if not proposal.reversible:
        raise invalid("It cannot be undone.")
    if proposal.undo_until is None:
        raise invalid("There is nothing that could be undone.")
    if not Proposal.objects.filter(pk=proposal.pk, undo_until__gt=current(said.now)).exists():
        ended = f"{proposal.undo_until:%Y-%m-%d %H:%M} UTC"
        raise Problem(EXPIRED, f"It could be undone until {ended}.", proposal=proposal.pk)
    return proposals.move(
        proposal,
        "undo",
        actor=said.actor,
        now=said.now,
        payload=said.payload(),
        undoing=True,
        run_at=said.now,
        # To go back is the safe way: it has the longest time whatever the risk was.
        execute_before=said.now + max(LAPSES.values()),
        **said.decided(),
    )


def resolve(
    key: int,
    *,
    person: User,
    seen: SeenRevision,
    now: datetime,
    outcome: Outcome,
    reason: str = "",
) -> Proposal:
    """Say what became of something whose end nobody saw."""
    said = GivenAnswer("resolve", person, seen, now, worded(reason))
    return settle(key, said, partial(clear_up, outcome=outcome))


def clear_up(proposal: Proposal, said: GivenAnswer, *, outcome: Outcome) -> Proposal:
    """Go on as a person says: it happened and is looked at, it failed, or it is tried again."""
    check_responsible(said.person, proposal, said.now)
    end_steps(proposal, outcome, said.now)
    verb, changes = consequence(proposal, outcome, said)
    payload = said.payload(outcome=outcome)
    return proposals.move(
        proposal, verb, actor=said.actor, now=said.now, payload=payload, **changes
    )


def end_steps(proposal: Proposal, outcome: Outcome, now: datetime) -> None:
    """Write down how the steps ended that nobody saw the end of."""
    lost = Step.objects.filter(proposal=proposal, undoes=proposal.undoing, state__in=LOST)
    happened = outcome == "happened"
    if happened and proposal.undoing:
        undone = list(lost.values_list("sequence", flat=True))
        proposal.steps.filter(undoes=False, sequence__in=undone).update(state=Step.State.UNDONE)
    lost.update(state=Step.State.DONE if happened else Step.State.FAILED, ended_at=now)


def consequence(
    proposal: Proposal, outcome: Outcome, said: GivenAnswer
) -> tuple[Verb, dict[str, Any]]:
    """Return what follows for a proposal whose steps have all ended."""
    done = proposal.steps.filter(undoes=False, state=Step.State.DONE).count()
    left = done if proposal.undoing else len(proposal.actions) - done
    if outcome == "retry" or (outcome == "happened" and left):
        return "retry", {"run_at": said.now, "execute_before": said.now + LAPSES[proposal.risk]}
    window = said.now + UNDO_WINDOW if proposal.reversible and done else None
    if outcome == "failed":
        return "fail", {"error": said.reason, "undo_until": window}
    if proposal.undoing:
        return "roll_back", {"error": "", "undo_until": None}
    return "resolve", {
        "error": "",
        "executed_at": said.now,
        "undo_until": window,
        "verify_by": said.now + VERIFY_WITHIN,
    }


def review(key: int, *, person: User, now: datetime, reason: str = "") -> Proposal:
    """Look at what somebody approved alone, as the second person it was spared."""
    why = worded(reason)
    with transaction.atomic():
        waiting = Proposal.objects.filter(pk=key, review_by__isnull=False)
        if not waiting.update(review_by=None, lock=F("lock") + 1, changed_at=now):
            raise invalid(f"Nobody has to review proposal/{key}.")
        proposal = Proposal.objects.select_related("controller", "resource").get(pk=key)
        authority = roles.authority(person, proposal, now)
        payload = {"answer": "review", "reason": why, **on_behalf(authority)}
        actor = people.actor_for(person)
        proposals.tell(proposal, "review", actor=actor, now=now, payload=payload)
    return proposal
