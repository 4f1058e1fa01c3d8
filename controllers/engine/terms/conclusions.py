"""What is concluded about a resource, and what is said about it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from controllers.engine.terms.declarations import Severity
from controllers.engine.terms.measurements import Urgency
from controllers.engine.terms.plans import Episode, Outcome, Planned
from controllers.engine.terms.readings import Condition, Document, Word

# What became of the conditions of a controller that is gone: anybody may take them over.
ORPHANED = "ControllerDeleted"


class Judgement(NamedTuple):
    """What a controller last concluded about a resource."""

    resource: int
    generation: int
    version: int
    basis: str
    score: float | None
    drifted: bool
    status: Word
    reason: str
    message: str
    urgency: Urgency
    dimensions: Document
    evidence: tuple[Document, ...]
    since: datetime
    evaluated_at: datetime
    recheck_at: datetime | None = None
    episode: Episode = Episode()
    plan: str = ""

    @property
    def plain(self) -> bool:
        """Whether it has no story to go on with."""
        return not self.plan and self.episode == Episode()

    @property
    def even(self) -> bool:
        """Whether it found nothing amiss."""
        return not self.evidence

    def whole(self) -> Judgement:
        """Return it with all its parts decoded, wherever it was read from."""
        return self


class Event(NamedTuple):
    """Something to tell the ledger, in the seed's spelling."""

    name: str
    subject: str
    payload: Document
    category: str = "audit"
    severity: Severity = "info"


class Renewed(NamedTuple):
    """A resource about which the same holds as before: it was well and is so in every figure."""

    resource: int
    # The version for which it holds now.
    version: int
    # Whether that is another one than before.
    changed: bool


class Case(NamedTuple):
    """One resource after all five phases: what to store, to say and to do next.

    What was read of it is not kept, save in the plan of one that drifted: a chunk of documents is
    more than a processor has at hand.
    """

    ref: str
    judgement: Judgement
    # Whether the judgement says anything the stored one does not.
    changed: bool
    # Whether the score moved, so that the history gains a point.
    moved: bool
    # What was concluded before.
    before: Judgement | None = None
    condition: Condition | None = None
    events: tuple[Event, ...] = ()
    plan: Planned | None = None
    outcomes: tuple[Outcome, ...] = ()
    error: str = ""
    phase: str = ""
    # Why it must be looked at again without anything changing; retried with a growing delay.
    failure: Exception | None = None
