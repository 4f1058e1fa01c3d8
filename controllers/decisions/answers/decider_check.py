"""Who may give which answer, besides approving: that is written in `roles`."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User

from controllers.access import people, roles
from controllers.access.roles import Authority, Quorum
from controllers.access.roles.eligibility import Case
from controllers.access.roles.rights import OPERATE
from controllers.models import Proposal
from resources.documents.problems import Problem, denied


def check_decider(
    person: User, proposal: Proposal, now: datetime, needs: Quorum | None = None
) -> Authority:
    """Let somebody answer who may decide here, whatever part they have in the proposal.

    To stop, to change or to put off what is one's own needs no second pair of eyes.
    """
    try:
        return roles.authority(person, proposal, now, needs)
    except Problem as problem:
        if problem.rule not in roles.INTERESTED:
            raise
        lacking = Case.read(proposal, now).lack(person)
        if lacking is not None:
            raise lacking from problem
        return Authority(person, None)


def check_responsible(person: User, proposal: Proposal, now: datetime) -> None:
    """Let approvers and operators of the domain speak of what was done."""
    if not roles.holds_role(person, ("approver", "operator"), proposal.resource.domain, now):
        raise denied("NotOperator", "Only approvers and operators of its domain may say that.")


def check_withdrawer(person: User, proposal: Proposal, now: datetime) -> None:
    """Let an operator take a proposal back, and whoever proposed, stands behind or approved it."""
    own = str(people.actor_for(person)) in (proposal.proposer, proposal.decided_by)
    behind = bool(roles.names_of(person).intersection(proposal.interested))
    if (own or behind) and User.objects.filter(pk=person.pk, is_active=True).exists():
        return
    if not roles.holds_role(person, OPERATE, proposal.resource.domain, now):
        said = "Only who proposed or approved it and operators of its domain may withdraw it."
        raise denied("NotProposer", said)
