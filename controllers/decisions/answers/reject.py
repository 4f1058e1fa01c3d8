"""Reject: nothing runs, and the same plan does not come again by itself."""

from __future__ import annotations

from controllers.decisions.answers.decider_check import check_decider
from controllers.decisions.answers.proposal_answer import LedgerSentence, ProposalAnswer
from controllers.decisions.answers.votes import reject

ANSWER = ProposalAnswer(
    verb="reject",
    use_case=reject,
    rule=check_decider,
    who="Whoever may approve in its domain, also what is their own.",
    offer="Reject",
    button="Reject",
    heading="Reject {number}. Why?",
    hint="The same plan is not proposed again unless things change or get worse.",
    success="Rejected. Nothing runs.",
    noun="rejection",
    answered="rejected this",
    sentence=LedgerSentence("rejected {it}{on}{behalf}", icon="x"),
    icon="x",
    tone="danger",
    key="r",
    place="pair",
    order=20,
    together=True,
    advances=True,
)
