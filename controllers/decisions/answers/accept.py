"""Accept: live with what it is about until a date."""

from __future__ import annotations

from controllers.decisions.answers.decider_check import check_decider
from controllers.decisions.answers.deferral import accept
from controllers.decisions.answers.proposal_answer import (
    AnswerField,
    LedgerSentence,
    ProposalAnswer,
    StateWord,
)

ANSWER = ProposalAnswer(
    verb="accept",
    use_case=accept,
    rule=check_decider,
    who="Whoever may approve in its domain, also what is their own.",
    offer="Accept as it is",
    button="Accept as it is",
    heading="Live with what {number} is about",
    hint="Nothing runs, and the same plan is not proposed again before then.",
    success="Accepted as it is. Nothing runs.",
    answered="accepted it as it is",
    sentence=LedgerSentence("let the drift of {it}{on} be{behalf}{until}"),
    state_word=StateWord("Accepted as it is", icon="hand"),
    payload=("until",),
    fields=(
        AnswerField(
            name="until",
            type="time",
            label="Accept for",
            help="Until when it is not proposed again.",
            example="2026-03-04T10:00:00Z",
            required=True,
            missing="Say until when.",
            lengths=("7d", "30d", "90d"),
        ),
    ),
    icon="circle-check",
    order=40,
    together=True,
    advances=True,
)
