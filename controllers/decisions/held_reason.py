"""What keeps a proposal from running: a hold that stands now, or what the last try found."""

from __future__ import annotations

from datetime import datetime

from controllers.decisions import gate_facts
from controllers.decisions.holds.scopes import HELD
from controllers.engine.gate import CODES
from controllers.models import Proposal
from resources.documents.kind import Document

# The codes that name a hold.
HOLDING = tuple(CODES.values())


def held(proposal: Proposal, now: datetime) -> Document | None:
    """Say what keeps a proposal from running; a hold counts from when it is placed or lifted."""
    ruling = gate_facts.examine(proposal, now) if proposal.state in HELD else None
    if ruling is not None and ruling.hold is not None:
        return {"code": ruling.code, "reason": ruling.reason, "hold": ruling.hold}
    return None if proposal.held in HOLDING else written(proposal)


def written(proposal: Proposal) -> Document | None:
    """Say what kept a proposal from running when somebody last tried."""
    if not proposal.held:
        return None
    return {"code": proposal.held, "reason": proposal.held_reason}
