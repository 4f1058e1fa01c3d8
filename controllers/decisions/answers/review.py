"""Review: a second person looks at what one approved alone."""

from __future__ import annotations

from datetime import datetime

from controllers.access import roles
from controllers.decisions.answers.proposal_answer import LedgerSentence, ProposalAnswer
from controllers.decisions.answers.undo_and_review import review
from controllers.models import Proposal


def is_asked(proposal: Proposal, now: datetime) -> bool:
    """Tell whether somebody has to look at it."""
    return proposal.review_by is not None


ANSWER = ProposalAnswer(
    verb="review",
    use_case=review,
    rule=roles.authority,
    who="Whoever may approve in its domain, and has no part in it.",
    offer="Review it",
    button="I have reviewed it",
    heading="Review {number}",
    hint="One person approved it alone, in an emergency.",
    success="Reviewed. Thank you.",
    answered="reviewed this",
    sentence=LedgerSentence("reviewed {it}{on}{behalf}", icon="eye"),
    reason="Reviewed",
    icon="eye",
    tone="primary",
    place="",
    afterwards=True,
    order=150,
    fits=is_asked,
    bound=False,
)
