"""Request changes: whoever proposed it comes with a better plan."""

from __future__ import annotations

from controllers.decisions.answers.decider_check import check_decider
from controllers.decisions.answers.deferral import request_changes
from controllers.decisions.answers.proposal_answer import (
    AnswerField,
    LedgerSentence,
    ProposalAnswer,
)
from controllers.models import Proposal


def is_read(proposal: Proposal) -> bool:
    """Tell whether its proposer reads words: a person or an agent does, a controller does not."""
    return proposal.controller_id is None


ANSWER = ProposalAnswer(
    verb="request_changes",
    use_case=request_changes,
    rule=check_decider,
    who="Whoever may approve in its domain, also what is their own.",
    offer="Send back",
    button="Send back",
    heading="Send {number} back. What should be different?",
    success="Sent back. It returns as a new plan.",
    answered="sent this back",
    sentence=LedgerSentence("asked to change {it}{on}{behalf}", icon="pencil-line"),
    payload=("fields",),
    fields=(
        AnswerField(
            name="fields",
            type="places",
            help="What should be different.",
            example=["/actions/0/parameters/factor"],
            on_page=False,
        ),
    ),
    icon="undo-2",
    order=60,
    offered=is_read,
    together=True,
    advances=True,
)
