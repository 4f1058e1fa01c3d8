"""What time alone does to proposals, written down: expired, lapsed, woken, unverified, unreviewed.

Nothing is safe because of it: every deadline is held against the clock by the statement that
decides or carries out. A sweep that never comes leaves rows untidy, and lets nothing happen.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from controllers import operations
from controllers.common.clocks import current
from controllers.decisions import proposals
from controllers.decisions.creation.proposal_end import (
    begun,
    close_gone,
    expire,
    move_each,
    overdue,
)
from controllers.decisions.creation.verification import effect
from controllers.engine.proposal_lifecycle import DONE, LAPSES, WAITING
from controllers.models import Judgement, Proposal
from controllers.notifications import alerts
from controllers.workqueue.cycle_effects import Notice
from resources.documents.actor import SYSTEM

UNREVIEWED = "Unreviewed"
GONE = Q(resource__deleted_at__isnull=False) | Q(controller__deleted_at__isnull=False)


@dataclass(frozen=True)
class Swept:
    """How many proposals time has ended, woken or judged."""

    expired: int
    lapsed: int
    woken: int
    verified: int
    unreviewed: int
    gone: int


def sweep(now: datetime) -> Swept:
    """Write down what is over; each proposal is moved by a statement that asks again."""
    rows = Proposal.objects.all()
    gone = rows.filter(pk__in=rows.filter(GONE).values("pk"))
    return Swept(
        expired=expire(overdue(now), now),
        lapsed=lapse(now),
        woken=wake(now),
        verified=verify(now),
        unreviewed=call_back(now),
        gone=close_gone(gone, "What it is about, or who proposed it, no longer exists.", now),
    )


def lapse(now: datetime) -> int:
    """End what was approved and did not begin in time."""
    # What has begun is for the executor to end.
    late = Proposal.objects.filter(~begun(), state="approved", execute_before__lte=current(now))

    def end(proposal: Proposal) -> None:
        payload = {"reason": "It was not begun in time."}
        proposals.move(proposal, "lapse", actor=SYSTEM, now=now, payload=payload, run_at=None)

    return move_each(late, end, now)


def wake(now: datetime) -> int:
    """Show again what people put aside for a while."""
    rested = Proposal.objects.filter(state__in=WAITING, quiet_until__lte=current(now))

    def show(proposal: Proposal) -> None:
        Proposal.objects.filter(pk=proposal.pk).update(quiet_until=None, quiet_above=None)
        payload = {"reason": "It was put aside until now."}
        proposals.tell(proposal, "woken", actor=SYSTEM, now=now, payload=payload)

    return move_each(rested, show, now)


def verify(now: datetime) -> int:
    """Judge what was carried out and has not shown its effect in time."""
    due = Proposal.objects.filter(state="verifying", undoing=False, verify_by__lte=current(now))

    def judge(proposal: Proposal) -> None:
        helped = outcome_of(proposal)
        verb: Any = "verify" if helped in ("", "effective") else "fail"
        proposals.move(
            proposal, verb, actor=SYSTEM, now=now, payload={"outcome": helped}, outcome=helped
        )

    return move_each(due, judge, now)


def outcome_of(proposal: Proposal) -> str:
    """Say what the last look shows; where nobody looks there is nothing to say."""
    if all(declares_nothing(each["operation"]) for each in proposal.actions):
        return ""
    looks = Judgement.objects.filter(resource=proposal.resource_id)
    if proposal.controller_id is not None:
        looks = looks.filter(controller=proposal.controller_id)
    found = [
        effect(proposal.score, drifted, score)
        for drifted, score in looks.values_list("drifted", "score")
    ]
    if not found:
        return ""
    if "worse" in found:
        return "worse"
    return "effective" if all(each == "effective" for each in found) else "ineffective"


def declares_nothing(name: str) -> bool:
    """Tell whether an operation lets somebody else act, so that no look can judge it."""
    known = operations.find(name)
    return known is not None and known.here


def call_back(now: datetime) -> int:
    """Undo what was forced in an emergency and that nobody looked at, as far as it can be."""
    alone = Proposal.objects.filter(state__in=DONE, undoing=False, review_by__lte=current(now))
    return move_each(alone, lambda proposal: take_back(proposal, now), now)


def take_back(proposal: Proposal, now: datetime) -> None:
    """Mark one for being undone, and ring for somebody; it is said once."""
    said = f"proposal/{proposal.pk} was forced by {proposal.decided_by} and not reviewed in time"
    if can_undo(proposal, now):
        said = f"{said}: it is undone."
        proposals.move(
            proposal,
            "undo",
            actor=SYSTEM,
            now=now,
            payload={"reason": said},
            undoing=True,
            review_by=None,
            run_at=now,
            execute_before=now + max(LAPSES.values()),
        )
    else:
        said = f"{said}: it cannot be undone."
        Proposal.objects.filter(pk=proposal.pk).update(review_by=None)
        proposals.tell(proposal, "unreviewed", actor=SYSTEM, now=now, payload={"reason": said})
    # Without a controller the alert is the resource's own.
    key = proposal.controller_id or proposal.resource_id
    notice = Notice(proposal.resource_id, UNREVIEWED, "", "critical", said)
    alerts.raise_all(key, [notice], proposal.correlation_id, now)


def can_undo(proposal: Proposal, now: datetime) -> bool:
    """Tell whether there is something to take back, and still time for it."""
    if not proposal.reversible or proposal.undo_until is None:
        return False
    return Proposal.objects.filter(pk=proposal.pk, undo_until__gt=current(now)).exists()
