"""Withdraw: whoever answers for a proposal takes it back."""

from __future__ import annotations

from controllers.decisions.answers.decider_check import check_withdrawer
from controllers.decisions.answers.deferral import withdraw
from controllers.decisions.answers.proposal_answer import LedgerSentence, ProposalAnswer

ANSWER = ProposalAnswer(
    verb="withdraw",
    use_case=withdraw,
    rule=check_withdrawer,
    who="Whoever proposed it, stands behind it or approved it, and operators of its domain.",
    offer="Take it back",
    button="Take it back",
    heading="Take {number} back",
    hint="Nothing runs. A new one appears if the drift is still there.",
    success="Taken back. Nothing runs.",
    answered="took this back",
    sentence=LedgerSentence("withdrew {it}{on}", icon="undo-2"),
    reason="Not needed any more",
    icon="undo-2",
    afterwards=True,
    order=80,
    together=True,
)
