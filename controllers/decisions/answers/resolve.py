"""Resolve: a person says what became of something nobody saw the end of."""

from __future__ import annotations

from controllers.decisions.answers.decider_check import check_responsible
from controllers.decisions.answers.proposal_answer import (
    AnswerField,
    LedgerSentence,
    ProposalAnswer,
)
from controllers.decisions.answers.undo_and_review import resolve

ANSWER = ProposalAnswer(
    verb="resolve",
    use_case=resolve,
    rule=check_responsible,
    who="Approvers and operators of its domain.",
    offer="Say what became of it",
    button="Save",
    heading="What became of {number}?",
    hint="Nobody saw how it ended. Look, then say.",
    success="Noted.",
    answered="said what became of it",
    sentence=LedgerSentence("said how {it}{on} ended"),
    payload=("outcome",),
    fields=(
        AnswerField(
            name="outcome",
            type="choice",
            label="What became of it",
            help="What became of it.",
            example="happened",
            required=True,
            missing="Say what became of it.",
            choices={
                "happened": "It happened",
                "failed": "It did not happen",
                "retry": "Try it again",
            },
        ),
    ),
    icon="circle-help",
    place="",
    afterwards=True,
    order=140,
    while_undoing=True,
)
