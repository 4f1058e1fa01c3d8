"""Undo: what was done is taken back, while its window is open."""

from __future__ import annotations

from datetime import datetime

from controllers.decisions.answers.decider_check import check_responsible
from controllers.decisions.answers.proposal_answer import LedgerSentence, ProposalAnswer
from controllers.decisions.answers.undo_and_review import undo
from controllers.models import Proposal


def is_open(proposal: Proposal, now: datetime) -> bool:
    """Tell whether it can be undone, and still may be."""
    window = proposal.undo_until
    return proposal.reversible and window is not None and window > now


ANSWER = ProposalAnswer(
    verb="undo",
    use_case=undo,
    rule=check_responsible,
    who="Approvers and operators of its domain.",
    offer="Undo",
    button="Undo it",
    heading="Undo {number}",
    hint="What was there before is declared again, where nobody changed it since.",
    success="It is being undone.",
    too_late="It is too late to undo this.",
    answered="asked to undo this",
    sentence=LedgerSentence("asked to undo {it}{on}{because}", tone="warn", icon="undo-2"),
    icon="undo-2",
    place="",
    afterwards=True,
    order=130,
    fits=is_open,
)
