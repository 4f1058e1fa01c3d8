"""Pause: the controller of a proposal is stopped, as the answer to it."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User

from controllers.access import roles
from controllers.decisions import holds
from controllers.decisions.answers.proposal_answer import AnswerField, ProposalAnswer
from controllers.engine.proposal_lifecycle import WAITING
from controllers.models import Proposal
from resources.documents.problems import denied


def check_pauser(person: User, proposal: Proposal, now: datetime) -> None:
    """Let those stop its controller who may stop something there."""
    controller = proposal.controller
    if controller is None or controller.deleted_at is not None:
        raise denied("NoController", "No controller proposed it.")
    roles.check_stop(person, controller.domain, now)


def pause(key: int, *, person: User, now: datetime, reason: str, until: datetime) -> Proposal:
    """Stop the controller of a proposal; the proposal waits on."""
    proposal = Proposal.objects.select_related("resource", "controller").get(pk=key)
    wanted = holds.HoldRequest(
        "pause",
        "controller",
        reason,
        controller=proposal.controller_id,
        ends_at=until,
        proposal=key,
    )
    holds.place(wanted, person=person, now=now)
    return proposal


def waits(proposal: Proposal, now: datetime) -> bool:
    """Tell whether it waits for people."""
    return proposal.state in WAITING


ANSWER = ProposalAnswer(
    verb="pause",
    use_case=pause,
    rule=check_pauser,
    who="Whoever may stop something in the domain of its controller.",
    offer="Pause {controller}",
    short="Pause",
    button="Pause {controller}",
    heading="Pause {controller}",
    hint="It still watches and measures, but changes nothing until the pause ends.",
    success="Paused. It watches and measures, and changes nothing.",
    answered="paused its controller",
    fields=(
        AnswerField(
            name="until",
            type="time",
            label="For",
            required=True,
            missing="Say until when.",
            lengths=("8h", "1d", "7d"),
        ),
    ),
    icon="circle-pause",
    key="p",
    place="below",
    order=110,
    fits=waits,
    bound=False,
    # The API places a hold at `/holds`.
    in_api=False,
)
