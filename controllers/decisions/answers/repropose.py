"""Propose again: what nobody decided in time is looked at afresh."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User

from controllers.access import roles
from controllers.decisions.answers.proposal_answer import ProposalAnswer
from controllers.decisions.creation import repropose
from controllers.models import Proposal


def check_asker(person: User, proposal: Proposal, now: datetime) -> None:
    """Let those ask again who may decide or propose there."""
    if not roles.holds_role(person, ("approver",), proposal.resource.domain, now):
        roles.check_propose(person, proposal.resource.domain, now)


ANSWER = ProposalAnswer(
    verb="repropose",
    use_case=repropose,
    rule=check_asker,
    who="Whoever may approve or propose in its domain.",
    offer="Propose it again now",
    button="Propose it again",
    heading="Propose {number} again",
    hint="It is looked at afresh; if the drift is still there, a new one appears.",
    success="It is looked at again. A new one appears if it is still needed.",
    answered="asked for it again",
    reason="Still needed",
    icon="refresh-cw",
    tone="primary",
    place="",
    afterwards=True,
    order=160,
    when_late=True,
    bound=False,
)
