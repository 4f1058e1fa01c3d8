"""Tidy up: write down what the clock has ended, and remind people of what it will end."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from controllers.common.clocks import current
from controllers.decisions.holds import in_force
from controllers.decisions.holds.placement import resume, tell
from controllers.models import Hold
from controllers.notifications import delivery
from resources.documents.actor import SYSTEM

# As many as one round writes; the rest comes with the next.
MOST = 200


def sweep(now: datetime) -> int:
    """End what is over and remind owners of what will be; return how many holds that were.

    Nothing depends on it for safety: a hold stops standing by the clock.
    """
    ended = [each for each in some(in_force.over(now)) if end(each, now)]
    reminded = [each for each in some(ending_soon(now)) if remind(each, now)]
    return len(ended) + len(reminded)


def some(holds: QuerySet[Hold]) -> list[Hold]:
    """Read the holds of one round, with what they name."""
    named = holds.select_related("controller", "resource", "owner")
    return list(named.order_by("ends_at", "pk")[:MOST])


def ending_soon(now: datetime) -> QuerySet[Hold]:
    """Return the holds whose owners are to be reminded."""
    at = current(now)
    return Hold.objects.filter(ended_at=None, ends_at__gt=at, remind_at__lte=at, reminded_at=None)


def end(hold: Hold, now: datetime) -> bool:
    """Write down that a hold is over, unless somebody has, or has renewed it."""
    with transaction.atomic():
        hold.epoch = in_force.advance()
        ended = {"ended_at": now, "ended_by": str(SYSTEM), "end_reason": "Its time was over."}
        if not in_force.over(now).filter(pk=hold.pk).update(**ended, epoch=hold.epoch):
            # Nothing changed, so nothing is counted.
            transaction.set_rollback(True)
            return False
        resume(hold)
        tell(hold, "ended", {"placedBy": hold.author}, actor=SYSTEM, now=now)
    return True


def remind(hold: Hold, now: datetime) -> bool:
    """Remind people once that a hold ends soon."""
    with transaction.atomic():
        if not ending_soon(now).filter(pk=hold.pk).update(reminded_at=now):
            return False
        owner = hold.owner.get_username() if hold.owner else "nobody"
        delivery.tell(
            "",
            title=f"The {hold.kind} of {hold.subject} ends at {hold.ends_at:%Y-%m-%d %H:%M} UTC",
            body=f"{hold.reason}\nIt belongs to {owner}. Renew it, or let it end.",
            severity="warning",
            key=f"hold/{hold.uid}/{hold.ends_at:%Y%m%dT%H%M%S}",
            now=now,
            hold=hold,
        )
        tell(hold, "reminded", {"owner": owner}, actor=SYSTEM, now=now)
    return True
