"""Adopt: what is observed becomes what is declared."""

from __future__ import annotations

from controllers.access import roles
from controllers.decisions.answers.overrides import adopt, differing
from controllers.decisions.answers.proposal_answer import LedgerSentence, ProposalAnswer, StateWord
from controllers.models import Proposal


def differs(proposal: Proposal) -> bool:
    """Tell whether a field of the spec differs from what is observed."""
    return any(True for _ in differing(proposal))


ANSWER = ProposalAnswer(
    verb="adopt",
    use_case=adopt,
    rule=roles.authority,
    who="Whoever may approve in its domain, and has no part in it.",
    offer="Adopt what is there",
    button="Adopt what is there",
    heading="Adopt what {target} does now",
    hint="What is observed becomes what is declared.",
    success="Adopted. What is there is now declared.",
    answered="adopted what is there",
    sentence=LedgerSentence("declared what {it}{on} found as wanted{behalf}"),
    state_word=StateWord("Adopted"),
    payload=("adopted",),
    icon="circle-dot",
    order=50,
    offered=differs,
    advances=True,
)
