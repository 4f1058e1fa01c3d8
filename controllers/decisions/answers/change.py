"""Change: other parameters, which somebody else has to approve."""

from __future__ import annotations

from controllers.decisions.answers.change_and_approve import change
from controllers.decisions.answers.decider_check import check_decider
from controllers.decisions.answers.proposal_answer import (
    AnswerField,
    LedgerSentence,
    ProposalAnswer,
)

ANSWER = ProposalAnswer(
    verb="change",
    use_case=change,
    rule=check_decider,
    who="Whoever may approve in its domain, also what is their own.",
    offer="Change the plan",
    button="Change it",
    heading="Change what {number} would do",
    hint="Somebody else has to approve what you change.",
    success="Changed. Somebody else has to approve it now.",
    answered="changed the plan",
    sentence=LedgerSentence("changed the plan of {it}{on}{behalf}", icon="pencil-line"),
    payload=("after", "before", "facts"),
    fields=(
        AnswerField(
            name="actions",
            type="parameters",
            help="The parameters to edit.",
            example=[{"sequence": 2, "parameters": {"factor": 0.7}}],
            required=True,
        ),
    ),
    give=lambda values: {"edits": values["actions"]},
    icon="pencil-line",
    order=30,
)
