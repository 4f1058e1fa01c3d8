"""Break the glass: one person approves alone, in an emergency."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User

from controllers.access import roles
from controllers.decisions.answers.proposal_answer import LedgerSentence, ProposalAnswer
from controllers.decisions.answers.votes import break_glass
from controllers.models import Proposal


def check_glass(person: User, proposal: Proposal, now: datetime) -> None:
    """Let those approve alone who may in an emergency."""
    roles.check_glass(person, proposal.resource.domain, now)


ANSWER = ProposalAnswer(
    verb="break_glass",
    use_case=break_glass,
    rule=check_glass,
    who="Whoever may break the glass in its domain.",
    offer="Approve alone, in an emergency",
    button="Approve alone now",
    heading="Approve {number} alone. What is the emergency?",
    hint="Everybody on the escalation path is told at once, and somebody else reviews it.",
    success="Approved alone. It runs now, and somebody else reviews it.",
    answered="approved this alone, in an emergency",
    sentence=LedgerSentence("forced {it}{on} in an emergency{until}", tone="danger", icon="zap"),
    payload=("reviewBy",),
    icon="zap",
    tone="danger",
    order=120,
)
