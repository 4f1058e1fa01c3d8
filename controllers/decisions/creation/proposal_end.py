"""Proposals end with their time, with what they are about, and with who made them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from controllers.common.clocks import current
from controllers.decisions import proposals
from controllers.engine import proposal_lifecycle
from controllers.models import Proposal, Step
from resources.documents.actor import SYSTEM

# So many are read at a time.
SOME = 200
# A step in one of these has changed nothing.
UNTOUCHED = (Step.State.WAITING, Step.State.FAILED, Step.State.SKIPPED)

Act = Callable[[Proposal], object]


def move_each(rows: QuerySet[Proposal], act: Act, now: datetime) -> int:
    """Do something with each of some proposals, in a transaction of its own; return how many.

    `rows` holds the whole precondition: it is asked again by the statement that takes each one.
    """
    moved, after = 0, 0
    while keys := list(
        rows.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)[:SOME]
    ):
        after = keys[-1]
        for key in keys:
            with transaction.atomic():
                if rows.filter(pk=key).update(lock=F("lock") + 1, changed_at=now):
                    act(Proposal.objects.select_related("controller", "resource").get(pk=key))
                    moved += 1
    return moved


def begun() -> Exists:
    """Tell of each proposal whether any of its steps has been taken."""
    return Exists(Step.objects.filter(proposal=OuterRef("pk")).exclude(state__in=UNTOUCHED))


def overdue(now: datetime) -> QuerySet[Proposal]:
    """Return what waited for longer than people had."""
    waiting = proposal_lifecycle.sources("expire")
    return Proposal.objects.filter(state__in=waiting, expires_at__lte=current(now))


def expire(rows: QuerySet[Proposal], now: datetime) -> int:
    """Write down that the time to decide is over: silence never approves."""

    def end(proposal: Proposal) -> None:
        payload = {"expiresAt": proposal.expires_at.isoformat()}
        proposals.move(proposal, "expire", actor=SYSTEM, now=now, payload=payload)

    return move_each(rows, end, now)


def close_gone(rows: QuerySet[Proposal], reason: str, now: datetime) -> int:
    """Withdraw what has lost its subject or its author; what is being carried out goes on."""

    def end(proposal: Proposal) -> None:
        proposals.move(
            proposal,
            "withdraw",
            actor=SYSTEM,
            now=now,
            payload={"reason": reason},
            decided_at=now,
            decided_by=str(SYSTEM),
            reason=reason,
        )

    left = rows.filter(~begun(), state__in=proposal_lifecycle.sources("withdraw"), undoing=False)
    return move_each(left, end, now)
