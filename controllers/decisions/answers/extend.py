"""Extend: people get more time to decide."""

from __future__ import annotations

from controllers.decisions.answers.decider_check import check_decider
from controllers.decisions.answers.deferral import extend
from controllers.decisions.answers.proposal_answer import (
    AnswerField,
    LedgerSentence,
    ProposalAnswer,
)

ANSWER = ProposalAnswer(
    verb="extend",
    use_case=extend,
    rule=check_decider,
    who="Whoever may approve in its domain, also what is their own.",
    offer="Give it more time",
    button="Give it more time",
    heading="Give {number} more time",
    hint="Silence never approves: it only waits longer.",
    success="It waits longer now.",
    answered="gave it more time",
    sentence=LedgerSentence("gave {it}{on} more time{until}{behalf}", icon="clock"),
    payload=("expiresAt",),
    fields=(
        AnswerField(
            name="until",
            type="time",
            label="Wait longer by",
            help="Until when people may decide.",
            example="2026-03-04T10:00:00Z",
            required=True,
            missing="Say until when.",
            lengths=("1d", "4d", "7d"),
            from_deadline=True,
        ),
    ),
    icon="clock",
    order=70,
)
