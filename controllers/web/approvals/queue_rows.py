"""One proposal as a row of the queue, and how much time is left to decide it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from controllers.engine.proposal_lifecycle import WAITING
from controllers.models import Proposal
from controllers.narrative import proposal_text

URGENT, SOON = timedelta(minutes=10), timedelta(hours=1)


@dataclass(frozen=True)
class Row:
    """One proposal in the queue."""

    proposal: Proposal
    now: datetime
    current: bool

    @cached_property
    def title(self) -> str:
        """What would be done."""
        return proposal_text.title(self.proposal)

    @cached_property
    def why(self) -> str:
        """Why, in one clause."""
        return proposal_text.why(self.proposal)

    @property
    def waits(self) -> bool:
        """Whether somebody may still decide."""
        return self.proposal.state in WAITING and self.proposal.expires_at > self.now

    @property
    def state(self) -> proposal_text.Word:
        """How it stands."""
        return proposal_text.state(self.proposal, self.now)

    @property
    def risk(self) -> str:
        """The word for its risk."""
        return proposal_text.RISKS[self.proposal.risk]

    @property
    def simple(self) -> bool:
        """Whether it may be decided together with others."""
        return self.proposal.risk != "high" and self.proposal.reversible

    @property
    def due(self) -> Due:
        """How much time is left."""
        return due(self.proposal, self.now)


class Due(NamedTuple):
    """The time left to decide: as a share of all of it, and how pressing it is."""

    share: int
    tone: str
    word: str


def due(proposal: Proposal, now: datetime) -> Due:
    """Return how much time is left to decide."""
    left, whole = proposal.expires_at - now, proposal.expires_at - proposal.created_at
    share = round(100 * max(left, timedelta()) / whole) if whole > timedelta() else 0
    if left < URGENT:
        return Due(share, "danger", "late")
    return Due(share, "warn", "soon") if left < SOON else Due(share, "ok", "")
