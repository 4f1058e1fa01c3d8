"""The answers there are: every module of this package that has an `ANSWER`; and which ones fit."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from datetime import datetime
from importlib import import_module
from typing import Any

from controllers.decisions import answers as package
from controllers.decisions.answers.proposal_answer import ProposalAnswer
from controllers.decisions.creation.reproposal import is_late
from controllers.engine import proposal_lifecycle
from controllers.engine.proposal_lifecycle import ANSWERS, OPEN
from controllers.models import Proposal


def _found() -> Iterator[ProposalAnswer]:
    for module in pkgutil.iter_modules(package.__path__):
        found = import_module(f"{package.__name__}.{module.name}")
        if hasattr(found, "ANSWER"):
            yield found.ANSWER


ALL: tuple[ProposalAnswer, ...] = tuple(
    sorted(_found(), key=lambda answer: (answer.order, answer.verb))
)
KEYS = [answer.key for answer in ALL if answer.key]
if len(KEYS) != len(set(KEYS)):
    raise ValueError("Two answers have one key.")
_BY_NAME = {answer.name: answer for answer in ALL}
_BY_VERB = {str(answer.verb): answer for answer in ALL}


def find(name: str) -> ProposalAnswer | None:
    """Return the answer of a name, such as `request-changes`."""
    return _BY_NAME.get(name)


def said_with(verb: str) -> ProposalAnswer | None:
    """Return the answer of a verb, such as `request_changes`."""
    return _BY_VERB.get(verb)


def fitting(proposal: Proposal, now: datetime) -> list[ProposalAnswer]:
    """Return what people may say about a proposal as it stands."""
    late = is_late(proposal, now)
    return [each for each in ALL if each.when_late == late and _fits(each, proposal, now)]


def allowed(proposal: Proposal, now: datetime) -> list[str]:
    """Name what people may say about a proposal through the API, as the lifecycle lists it."""
    spoken = [each for each in fitting(proposal, now) if each.in_api]
    order: dict[str, int] = {verb: place for place, verb in enumerate(ANSWERS)}
    spoken.sort(key=lambda each: order.get(str(each.verb), len(order)))
    return [each.name for each in spoken]


def _fits(answer: ProposalAnswer, proposal: Proposal, now: datetime) -> bool:
    state: Any = proposal.state
    if answer.leads:
        undoing = proposal.undoing and state in OPEN
        if not proposal_lifecycle.allows(state, answer.verb):
            return False
        if undoing and not answer.while_undoing:
            return False
    return answer.fits(proposal, now)
