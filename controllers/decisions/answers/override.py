"""Override: something else is done instead, and held."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from controllers.access import roles
from controllers.decisions.answers.overrides import Instead, override
from controllers.decisions.answers.proposal_answer import (
    AnswerField,
    LedgerSentence,
    ProposalAnswer,
    Values,
)
from controllers.models import Proposal


def check_stopper(person: User, proposal: Proposal, now: datetime) -> None:
    """Let those hold its target who may stop something there."""
    roles.check_stop(person, proposal.resource.domain, now)


def instead(values: Values) -> dict[str, Any]:
    """Say what is to hold instead, and until when."""
    path, value = values.get("path", ""), values.get("value")
    return {"instead": Instead(path, value, values["until"])}


ANSWER = ProposalAnswer(
    verb="override",
    use_case=override,
    rule=check_stopper,
    who="Whoever may stop something in its domain.",
    offer="Do something else instead",
    short="Override",
    button="Override",
    heading="Do something else than {number}",
    hint="No controller can change it while you hold it.",
    success="Overridden. No controller changes it while you hold it.",
    noun="override",
    answered="did something else instead",
    sentence=LedgerSentence("did something else than {it}{on}{instead}", icon="hand"),
    payload=("decidedBy", "from", "hold", "instead", "path", "value"),
    fields=(
        AnswerField(
            name="path",
            type="path",
            label="Hold",
            help="The field, such as `spec.tokenBudget.maxDaily`; without it the whole resource.",
            example="spec.tokenBudget.maxDaily",
        ),
        AnswerField(
            name="value",
            type="value",
            label="At",
            help="What the field is held at.",
            example=900_000,
        ),
        AnswerField(
            name="until",
            type="time",
            label="Keep for",
            help="Until when it is held.",
            example="2026-03-04T10:00:00Z",
            missing="Say until when.",
            lengths=("4d", "8h", "7d", "30d"),
        ),
    ),
    give=instead,
    icon="hand",
    tone="human",
    key="o",
    place="below",
    afterwards=True,
    order=90,
    advances=True,
)
