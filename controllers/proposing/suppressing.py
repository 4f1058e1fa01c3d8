"""What is not proposed again: what people said no to, and more than they can decide about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Q

from controllers.engine.types import Controller
from controllers.lifecycle import OPEN, UNDO_WINDOW
from controllers.models import Proposal, Shadow
from controllers.proposing.wanting import Stopped, Wanted
from controllers.rows import these

# So many proposals of one controller may be open at once.
MOST_OPEN = 1_000
URGENCIES = ("none", "low", "medium", "high", "critical")
# Answers of people that closed a proposal, and after which it does not come straight back.
NO = Q(state__in=("rejected", "withdrawn")) | Q(state="rolled_back", answer="undo")

New = tuple[Wanted, Proposal | None]


def admitted(
    controller: Controller, created: Sequence[New], now: datetime
) -> tuple[list[New], int]:
    """Keep the plans that may be proposed now, and count those that are too many."""
    refused = said_no(controller, created)
    left = [new for new in created if not is_refused(new[0], refused, now)]
    if not left:
        return [], 0
    # One that takes the place of another adds nothing.
    fresh = [new for new in left if new[1] is None]
    standing = Proposal.objects.filter(controller=controller.key, state__in=OPEN).count()
    room = max(0, MOST_OPEN - standing)
    beyond = {id(wanted) for wanted, _ in fresh[room:]}
    return [new for new in left if id(new[0]) not in beyond], len(beyond)


def said_no(controller: Controller, created: Sequence[New]) -> dict[tuple[int, str], Proposal]:
    """Return the last no to each plan about these resources."""
    rows = Proposal.objects.filter(
        NO,
        controller=controller.key,
        resource__in=these({wanted.resource for wanted, _ in created}),
        # What the product itself closed is not a no.
        decided_by__startswith="person/",
    ).defer("actions", "evidence", "explanation", "policy")
    found: dict[tuple[int, str], Proposal] = {}
    for each in rows.order_by("decided_at", "pk"):
        found[each.resource_id, each.planned_digest or each.action_digest] = each
    return found


def is_refused(wanted: Wanted, refused: dict[tuple[int, str], Proposal], now: datetime) -> bool:
    """Tell whether people said no to a plan, and nothing has changed since that would matter."""
    no = refused.get((wanted.resource, wanted.plan.digest))
    if no is None:
        return False
    if no.quiet_until is not None:
        return now < no.quiet_until
    judgement = wanted.case.judgement
    if URGENCIES.index(judgement.urgency) > URGENCIES.index(no.urgency):
        return False
    # To undo something is to declare it anew: only time tells whether the no still stands.
    if no.state == "rolled_back":
        return now < no.changed_at + UNDO_WINDOW
    declared: int = no.basis.get("generation", 0)
    return judgement.generation <= declared


def unshadowed(
    controller: Controller, stopped: Sequence[Stopped], since: datetime
) -> list[Stopped]:
    """Keep what is not in the shadow log yet, or was last written there long ago."""
    resources = {each.case.judgement.resource for each in stopped}
    lately = Shadow.objects.filter(
        controller=controller.key,
        hold__in={each.hold for each in stopped},
        resource__in=these(resources),
        last_at__gt=since,
    )
    known = set(lately.values_list("hold_id", "resource_id", "action_digest"))
    return [
        each
        for each in stopped
        if (each.hold, each.case.judgement.resource, each.digest) not in known
    ]
