"""By whose authority: votes and policies hold at the moment of the effect, or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from controllers.access import roles
from controllers.decisions import holds
from controllers.decisions.answers.decider_check import check_responsible
from controllers.engine.terms import Ruling
from controllers.models import Decision, Proposal
from resources.documents.actor import SYSTEM
from resources.documents.problems import Problem

Authority = list[dict[str, Any]]


def given(proposal: Proposal, ruling: Ruling, now: datetime) -> Authority:
    """Return who lets a proposal run as things stand; nobody when that is not enough."""
    if proposal.undoing:
        return to_undo(proposal, now)
    decisions = decisions_of(proposal)
    policies = [each for each in decisions if each.person_id is None]
    if policies and ruling.word == "run" and not only_proposes(proposal, now):
        return told(policies)
    votes = roles.still_valid(decisions, proposal, now)
    alone = [each for each in votes if each.answer == "break_glass"]
    tally = roles.quorum_of(proposal, asked=max(ruling.people, 1)).tally(votes)
    return told(alone or votes) if alone or tally.enough else []


def decisions_of(proposal: Proposal) -> list[Decision]:
    """Return what lets the present revision run, whether it still counts or not."""
    return list(
        Decision.objects.filter(proposal=proposal, revision=proposal.revision, counts=True)
        .filter(answer__in=["approve", "break_glass"])
        .select_related("person", "behalf")
        .order_by("pk")
    )


def shortfall(proposal: Proposal, ruling: Ruling, now: datetime) -> str:
    """Say why those who approved do not suffice: who lost the right, or what a policy asks."""
    said = "Not enough people who may decide it stand behind it any more."
    if proposal.undoing or proposal.lane == "run":
        return said
    needs = roles.quorum_of(proposal, asked=max(ruling.people, 1))
    tally = needs.tally(roles.still_valid(decisions_of(proposal), proposal, now))
    asked = [each.sentence for each in needs.policies]
    return " ".join([said, *asked, tally.sentence]) if asked else said


def only_proposes(proposal: Proposal, now: datetime) -> bool:
    """Tell whether its controller may only propose: a hold has ended, and nobody has looked."""
    return proposal.controller_id is not None and holds.only_proposes(proposal.controller_id, now)


def to_undo(proposal: Proposal, now: datetime) -> Authority:
    """Return who wants it undone: a person who still may, the policy, or that nobody reviewed."""
    kind, _, name = proposal.decided_by.partition("/")
    if proposal.answer == "break_glass":
        return [{"actor": str(SYSTEM), "answer": "unreviewed"}]
    asked = [{"actor": proposal.decided_by, "answer": proposal.answer}]
    if kind == "policy":
        return asked if proposal.policy.get("onFailure") == "rollback" else []
    person = User.objects.filter(username=name).first() if kind == "person" else None
    try:
        check_responsible(person or User(), proposal, now)
    except Problem:
        return []
    return asked


def told(decisions: Iterable[Decision]) -> Authority:
    """Write decisions as the ledger keeps them."""
    return [
        {
            "decision": each.pk,
            "actor": each.actor,
            "answer": each.answer,
            **({"behalf": f"person/{each.behalf.get_username()}"} if each.behalf else {}),
        }
        for each in decisions
    ]
