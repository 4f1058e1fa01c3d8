"""Change and approve: another person's eyes see what one person edited."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from datetime import datetime
from functools import partial
from typing import Any

from django.contrib.auth.models import User

from controllers import operations
from controllers.access import roles
from controllers.decisions import gate_facts, proposals
from controllers.decisions.answers.answer import (
    UNDECIDED,
    GivenAnswer,
    known,
    record,
    settle,
    worded,
)
from controllers.decisions.answers.decider_check import check_decider
from controllers.decisions.creation.draft import lowers
from controllers.decisions.proposals import SeenRevision
from controllers.engine import digests
from controllers.engine.proposal_lifecycle import WAITS
from controllers.models import Decision, Proposal
from resources.documents import reader
from resources.documents.differences import merge, same
from resources.documents.problems import CHANGED, Problem, invalid

RISKS = tuple(WAITS)
# For the number of an action: a merge patch of its parameters.
Edits = Mapping[int, Mapping[str, Any]]


def change(
    key: int, *, person: User, seen: SeenRevision, now: datetime, edits: Edits, reason: str = ""
) -> Proposal:
    """Edit what a proposal would do: a new revision, which somebody else has to approve."""
    said = GivenAnswer("change", person, seen, now, worded(reason))
    try:
        return settle(key, said, partial(edit, edits=edits))
    except Problem as problem:
        if problem.code == CHANGED and made(moved := known(key), said, edits):
            return moved
        raise


def edit(proposal: Proposal, said: GivenAnswer, *, edits: Edits) -> Proposal:
    """Begin a new revision with other parameters; the votes for the old one are void."""
    authority = check_decider(said.person, proposal, said.now)
    actions = edited(proposal, edits)
    if actions == proposal.actions:
        raise invalid("That changes nothing.")
    digest = digests.of_actions(str(proposal.resource.uid), actions)
    weakens = any(lowers(proposal.resource, each) for each in actions)
    policy = {**proposal.policy, "lowers": weakens}
    payload = said.payload(authority, before=proposal.actions, after=actions)
    proposals.move(
        proposal,
        "change",
        actor=said.actor,
        now=said.now,
        payload=payload,
        actions=actions,
        action_digest=digest,
        planned_digest=proposal.planned_digest or proposal.action_digest,
        revision=proposal.revision + 1,
        risk=max(proposal.risk, operations.risk_of(actions), key=RISKS.index),
        people=people_for(proposal, actions, policy, said.now),
        policy=policy,
        interested=sorted({*proposal.interested, *roles.interested_in(said.actor, None)}),
        expires_at=max(proposal.expires_at, said.now + WAITS[proposal.risk]),
        quiet_until=None,
        quiet_above=None,
        **UNDECIDED,
    )
    record(proposal, said, authority, counts=False)
    return proposal


def edited(proposal: Proposal, edits: Edits) -> list[dict[str, Any]]:
    """Return the actions with the wished parameters, each checked by its operation."""
    strangers = sorted(set(edits) - {each["sequence"] for each in proposal.actions})
    if strangers:
        raise invalid(f"There is no action {strangers[0]}.")
    return [
        adjusted(proposal, each, edits[each["sequence"]]) if each["sequence"] in edits else each
        for each in proposal.actions
    ]


def adjusted(
    proposal: Proposal, action: dict[str, Any], patch: Mapping[str, Any]
) -> dict[str, Any]:
    """Return one action with other parameters, and the fields it touches with them."""
    name, target = action["operation"], proposal.resource
    before = action.get("parameters", {})
    try:
        parameters = merge(before, reader.admit(dict(patch)))
    except reader.Unreadable as error:
        raise invalid(f"The parameters cannot be kept: {error}") from error
    if same(before, parameters):
        return action
    for problem in operations.check(name, parameters, target.kind, target.name):
        raise invalid(f"{problem.pointer} {problem.message}.")
    known = operations.find(name)
    touches = {*action.get("touches", ()), *(known.touches(parameters) if known else ())}
    return action | {"parameters": parameters, "touches": sorted(touches)}


def people_for(
    proposal: Proposal, actions: list[dict[str, Any]], policy: dict[str, Any], now: datetime
) -> int:
    """Return how many have to approve the edited plan: never fewer than before."""
    wished = copy(proposal)
    wished.actions, wished.policy = actions, policy
    return max(proposal.people, gate_facts.examine(wished, now).people)


def made(proposal: Proposal, said: GivenAnswer, edits: Edits) -> bool:
    """Tell whether a proposal is what this very edit made of it."""
    by_this = Decision.objects.filter(
        proposal=proposal,
        revision=proposal.revision,
        person=said.person,
        answer=said.verb,
        shown=said.seen.digest,
    )
    return (
        proposal.revision == said.seen.revision + 1
        and by_this.exists()
        and edited(proposal, edits) == proposal.actions
    )
