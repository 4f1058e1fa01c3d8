"""Snooze: out of sight until a time, or until it is worse."""

from __future__ import annotations

from controllers.decisions.answers.decider_check import check_decider
from controllers.decisions.answers.deferral import Rest, snooze
from controllers.decisions.answers.proposal_answer import (
    AnswerField,
    LedgerSentence,
    ProposalAnswer,
)

ANSWER = ProposalAnswer(
    verb="snooze",
    use_case=snooze,
    rule=check_decider,
    who="Whoever may approve in its domain, also what is their own.",
    offer="Snooze",
    button="Snooze",
    heading="Snooze {number}",
    hint="It comes back by itself, with as much time as it has left now.",
    success="Snoozed. It comes back by itself.",
    noun="snooze",
    answered="snoozed this",
    sentence=LedgerSentence("put {it}{on} aside{until}{behalf}", icon="alarm-clock"),
    payload=("above", "expiresAt", "until"),
    fields=(
        AnswerField(
            name="until",
            type="time",
            label="For",
            help="Until when it is out of sight.",
            example="2026-02-26T09:00:00Z",
            missing="Say until when.",
            lengths=("1h", "tomorrow", "7d"),
            switches={"worse": "Until it is worse"},
        ),
        AnswerField(
            name="worse",
            type="switch",
            help="Come back when it is worse.",
            example=True,
            on_page=False,
        ),
    ),
    give=lambda values: {"rest": Rest(values.get("until"), values.get("worse", False))},
    reason="Not now",
    icon="alarm-clock",
    key="s",
    place="pair",
    order=100,
    together=True,
    advances=True,
)
