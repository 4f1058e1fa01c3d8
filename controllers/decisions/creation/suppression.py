"""What is not proposed again: what people said no to, and more than they can decide about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet

from controllers.common.rows import Prepared, Slot, listed, these
from controllers.decisions.creation.controller_plan import ProposalDraft, Stopped
from controllers.engine.proposal_lifecycle import OPEN, UNDO_WINDOW
from controllers.engine.terms import Controller, Document
from controllers.models import Proposal, Shadow

# So many proposals of one controller may be open at once.
MOST_OPEN = 1_000
URGENCIES = ("none", "low", "medium", "high", "critical")
# Answers of people that closed a proposal, and after which it does not come straight back.
NO = Q(state__in=("rejected", "withdrawn")) | Q(state="rolled_back", answer="undo")

New = tuple[ProposalDraft, Proposal | None]


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
    room = max(0, MOST_OPEN - sum(found for (found,) in OPEN_OF(controller=controller.key)))
    beyond = {id(wanted) for wanted, _ in fresh[room:]}
    return [new for new in left if id(new[0]) not in beyond], len(beyond)


class No(NamedTuple):
    """A person's no to a plan about a resource."""

    resource: int
    planned_digest: str
    action_digest: str
    state: str
    urgency: str
    quiet_until: datetime | None
    changed_at: datetime
    basis: Document


def _said_no() -> QuerySet[Proposal, Any]:
    """Ask for what people said no to, the last one at the end."""
    rows = Proposal.objects.filter(
        NO,
        controller=Slot("controller"),
        resource__in=these(Slot("keys")),
        # What the product itself closed is not a no.
        decided_by__startswith="person/",
    )
    columns = ("resource_id", *No._fields[1:])
    return rows.order_by("decided_at", "pk").values_list(*columns)


def _open() -> QuerySet[Proposal, Any]:
    """Ask how much a controller has proposed that nobody has closed."""
    rows = Proposal.objects.filter(controller=Slot("controller"), state__in=OPEN).order_by()
    return rows.values("controller").annotate(found=Count("pk")).values_list("found")


SAID_NO, OPEN_OF = Prepared(_said_no), Prepared(_open)


def said_no(controller: Controller, created: Sequence[New]) -> dict[tuple[int, str], No]:
    """Return the last no to each plan about these resources."""
    keys = listed({wanted.resource for wanted, _ in created})
    found = [No(*row) for row in SAID_NO(controller=controller.key, keys=keys)]
    return {(each.resource, each.planned_digest or each.action_digest): each for each in found}


def is_refused(wanted: ProposalDraft, refused: dict[tuple[int, str], No], now: datetime) -> bool:
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
