"""Approve: a vote, and with enough of them the plan runs."""

from __future__ import annotations

from datetime import timedelta

from controllers.access import roles
from controllers.decisions.answers.proposal_answer import LedgerSentence, ProposalAnswer
from controllers.decisions.answers.votes import approve, routine

ANSWER = ProposalAnswer(
    verb="approve",
    use_case=approve,
    rule=roles.authority,
    who="Whoever may approve in its domain, and has no part in it.",
    offer="Approve",
    button="Approve and run",
    heading="Approve {number}",
    success="Approved.",
    noun="approval",
    answered="approved this",
    sentence=LedgerSentence("approved {it}{on}{behalf}{votes}", tone="ok"),
    payload=("people", "votes"),
    reason="As proposed",
    spares_reason=routine,
    grace=timedelta(seconds=8),
    icon="check",
    tone="primary",
    key="a",
    place="first",
    order=10,
    together=True,
    advances=True,
)
