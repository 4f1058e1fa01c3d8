"""What lifting a hold would bring about, before anybody does it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Case, Value, When

from controllers.decisions.holds import in_force, scopes
from controllers.decisions.holds.hold_end import find
from controllers.engine import precedence
from controllers.engine.precedence import Standing
from controllers.models import Hold, Proposal, Shadow
from resources.tables import ledger

# As many as a person looks through.
SHOWN = 200


def preview(key: int, now: datetime) -> dict[str, Any]:
    """Return what would happen if a hold were lifted: what would run comes first."""
    hold = find(key)
    others = tuple(each for each in in_force.standing(now) if each.key != hold.pk)
    listed = [told(each, others, now) for each in held(hold)]
    listed.sort(key=lambda each: (not each["runs"], each["state"] != "approved"))
    shadows = hold.shadows.select_related("controller", "resource").order_by("-last_at", "pk")
    return {
        "hold": hold.pk,
        "subject": hold.subject,
        "runs": sum(each["runs"] for each in listed),
        "proposals": listed[:SHOWN],
        "moreProposals": max(len(listed) - SHOWN, 0),
        "shadows": [would_have(each) for each in shadows[:SHOWN]],
        "moreShadows": max(shadows.count() - SHOWN, 0),
        "restores": {"path": hold.path, "value": hold.former} if hold.value is not None else None,
    }


def held(hold: Hold) -> list[Proposal]:
    """Return the open proposals that a hold covers, the approved first."""
    stood = scopes.as_standing(hold)
    first = Case(When(state="approved", then=Value(0)), default=Value(1))
    rows = scopes.held_by(hold).order_by(first, "expires_at", "pk")
    return [each for each in rows if scopes.covers(stood, each)]


def told(proposal: Proposal, others: tuple[Standing, ...], now: datetime) -> dict[str, Any]:
    """Describe a proposal: whether it would run, wait for people, or stay held by another."""
    reaches = scopes.reaches(proposal)
    found = (precedence.strongest(others, each) for each in reaches)
    still = next((each for each in found if each), None)
    before = proposal.execute_before
    in_time = before is None or before > now
    return {
        "proposal": proposal.pk,
        "resource": str(proposal.resource),
        "proposer": proposal.proposer,
        "state": proposal.state,
        "risk": proposal.risk,
        "operations": [each["operation"] for each in proposal.actions],
        "explanation": proposal.explanation,
        "runs": proposal.state == "approved" and in_time and still is None,
        "executeBefore": ledger.instant(before) if before else None,
        "heldBy": {"hold": still.key, "reason": precedence.sentence(still)} if still else None,
    }


def would_have(shadow: Shadow) -> dict[str, Any]:
    """Describe what a controller would have done meanwhile."""
    return {
        "controller": str(shadow.controller),
        "resource": str(shadow.resource),
        "actions": shadow.actions,
        "explanation": shadow.explanation,
        "firstAt": ledger.instant(shadow.first_at),
        "lastAt": ledger.instant(shadow.last_at),
        "times": shadow.times,
    }
