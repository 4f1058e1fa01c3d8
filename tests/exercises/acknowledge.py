"""Acknowledge: somebody has seen it, and says when they will decide."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

from django.contrib.auth.models import User

from controllers.decisions import proposals
from controllers.decisions.answers.answer import GivenAnswer, record, settle, worded
from controllers.decisions.answers.decider_check import check_decider
from controllers.decisions.answers.proposal_answer import (
    AnswerField,
    LedgerSentence,
    ProposalAnswer,
)
from controllers.decisions.proposals import SeenRevision
from controllers.engine import proposal_lifecycle
from controllers.models import Proposal

VERB = proposal_lifecycle.declare(
    "acknowledge", {"recommended": "same", "pending": "same"}, past="acknowledged"
)


def acknowledge(
    key: int, *, person: User, seen: SeenRevision, now: datetime, reason: str = "", **details: Any
) -> Proposal:
    """Say that it was seen; it waits on."""
    said = GivenAnswer(VERB, person, seen, now, worded(reason))
    return settle(key, said, partial(note, details=details))


def note(proposal: Proposal, said: GivenAnswer, *, details: dict[str, Any]) -> Proposal:
    """Write down who has seen it."""
    authority = check_decider(said.person, proposal, said.now)
    record(proposal, said, authority, counts=False)
    until = details["until"]
    payload = said.payload(authority, **details | {"until": until and until.isoformat()})
    return proposals.move(proposal, VERB, actor=said.actor, now=said.now, payload=payload)


ANSWER = ProposalAnswer(
    verb=VERB,
    use_case=acknowledge,
    rule=check_decider,
    who="Whoever may approve in its domain, also what is their own.",
    offer="Acknowledge",
    button="I have seen it",
    heading="Acknowledge {number}",
    hint="It waits on, and others see that you look after it.",
    success="Acknowledged. It waits on.",
    noun="acknowledgement",
    answered="acknowledged this",
    sentence=LedgerSentence("acknowledged {it}{on}{until}", icon="eye"),
    payload=("focus", "hours", "loudly", "ticket", "until"),
    fields=(
        AnswerField(
            name="focus",
            type="choice",
            label="What you look at",
            help="What you look at first.",
            example="risk",
            required=True,
            missing="Say what you look at.",
            choices={"risk": "The risk", "cost": "The cost"},
        ),
        AnswerField(name="ticket", type="text", label="Ticket", help="Where.", example="OPS-7"),
        AnswerField(name="hours", type="number", label="Hours", help="How long.", example=2.5),
        AnswerField(name="loudly", type="switch", label="Tell all", help="Loudly.", example=True),
        AnswerField(
            name="until",
            type="time",
            label="Decide by",
            help="When you will have decided.",
            example="2026-03-04T10:00:00Z",
        ),
    ),
    icon="eye",
    key="e",
    place="below",
    together=True,
)
