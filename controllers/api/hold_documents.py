"""Holds as plain values, in the API's spelling."""

from __future__ import annotations

from controllers.api.spelling import said, times
from controllers.holds import Flight, Placed
from controllers.models import Hold
from resources.kind import Document


def hold(hold: Hold) -> Document:
    """Write a hold."""
    found: Document = {
        "id": hold.pk,
        "kind": hold.kind,
        "scope": hold.scope,
        "domain": hold.domain,
        "controller": str(hold.controller) if hold.controller else "",
        "resource": str(hold.resource) if hold.resource else "",
        "path": hold.path,
        "window": hold.window or None,
        "inFlight": hold.in_flight,
        "reason": hold.reason,
        "author": hold.author,
        "owner": hold.owner.get_username() if hold.owner else "",
        "proposal": hold.proposal_id,
        "endedBy": hold.ended_by,
        "endReason": hold.end_reason,
        "epoch": str(hold.epoch),
        **times((("placedAt", hold.placed_at), ("startsAt", hold.starts_at))),
        **times((("endsAt", hold.ends_at), ("endedAt", hold.ended_at))),
    }
    # An empty text is a value, too.
    swapped = {"value": hold.value, "former": hold.former}
    return said(found) | {key: value for key, value in swapped.items() if value is not None}


def placed(placed: Placed) -> Document:
    """Write a hold that was just placed, and the calls that had begun before it."""
    return {
        "hold": hold(placed.hold),
        "inFlight": [flight(each) for each in placed.in_flight],
        "detail": placed.sentence,
    }


def flight(flight: Flight) -> Document:
    """Write a call that is under way, and by when it has ended."""
    found: Document = {
        "proposal": flight.proposal,
        "operation": flight.operation,
        "target": flight.target,
        "state": flight.state,
        "claimedBy": flight.claimed_by,
        **times((("deadline", flight.deadline),)),
    }
    return said(found)
