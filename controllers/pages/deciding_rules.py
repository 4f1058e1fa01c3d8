"""Which rule each answer asks before a page offers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from controllers import roles
from controllers.deciding.entitling import check_decider, check_responsible, check_withdrawer
from controllers.models import Proposal
from controllers.roles import Denied

Check = Callable[..., Any]


def _may_stop(person: User, proposal: Proposal, now: datetime) -> None:
    roles.check_stop(person, proposal.resource.domain, now)


def _may_pause(person: User, proposal: Proposal, now: datetime) -> None:
    controller = proposal.controller
    if controller is None or controller.deleted_at is not None:
        raise Denied("NoController", "No controller proposed it.")
    roles.check_stop(person, controller.domain, now)


def _may_break_glass(person: User, proposal: Proposal, now: datetime) -> None:
    roles.check_glass(person, proposal.resource.domain, now)


def _may_ask_again(person: User, proposal: Proposal, now: datetime) -> None:
    if not roles.holds_role(person, ("approver",), proposal.resource.domain, now):
        roles.check_propose(person, proposal.resource.domain, now)


# The rule that each answer asks; the use cases ask the same again.
RULES: Mapping[str, Check] = {
    "approve": roles.authority,
    "adopt": roles.authority,
    "review": roles.authority,
    "reject": check_decider,
    "change": check_decider,
    "accept": check_decider,
    "snooze": check_decider,
    "request-changes": check_decider,
    "extend": check_decider,
    "override": _may_stop,
    "pause": _may_pause,
    "withdraw": check_withdrawer,
    "undo": check_responsible,
    "resolve": check_responsible,
    "break-glass": _may_break_glass,
    "repropose": _may_ask_again,
}
