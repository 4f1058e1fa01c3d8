"""Propose again: what nobody decided in time is looked at afresh, never approved late."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from controllers.access import people, roles
from controllers.common.quotation import WORDED_HERE
from controllers.decisions import proposals
from controllers.decisions.creation.draft import Author, draft
from controllers.decisions.creation.proposal_end import expire, overdue
from controllers.decisions.creation.submission import file, same_plan
from controllers.engine.proposal_lifecycle import WAITING
from controllers.models import Proposal
from controllers.workqueue import queue
from resources.documents.actor import Actor
from resources.documents.problems import missing, refused
from resources.tables import ledger
from resources.tables.models import Resource

# What was not decided, or not begun, in time.
LATE = ("expired", "lapsed")


def is_late(proposal: Proposal, now: datetime) -> bool:
    """Tell whether the clock has ended a proposal; it may be proposed again."""
    waited = proposal.state in WAITING and proposal.expires_at <= now
    return waited or proposal.state in LATE


def repropose(key: int, *, person: User, now: datetime, reason: str = "") -> Proposal:
    """Have a controller look again now, or file an agent's plan anew; return what is then so."""
    expire(overdue(now).filter(pk=key), now)
    late = Proposal.objects.select_related("controller", "resource").filter(pk=key).first()
    if late is None:
        raise missing(f"There is no proposal/{key}.")
    # Whoever came too late to decide may ask for it as well.
    if not roles.holds_role(person, ("approver",), late.resource.domain, now):
        roles.check_propose(person, late.resource.domain, now)
    if late.state not in LATE:
        raise proposals.decided(f"It is {late.state.replace('_', ' ')}, not late.", late)
    if late.resource.deleted_at is not None:
        raise refused(f"{late.resource} no longer exists.", proposal=late.pk)
    actor = people.actor_for(person)
    with transaction.atomic():
        if late.controller is not None:
            look_again(late, late.controller, actor, now, reason)
            return late
        return file_anew(late, actor, now, reason)


def look_again(
    late: Proposal, controller: Resource, actor: Actor, now: datetime, reason: str
) -> None:
    """Ask the controller of a proposal for another look, before everything else."""
    if controller.deleted_at is not None:
        raise refused(f"{controller} no longer exists.", proposal=late.pk)
    story = ledger.correlation.get() or late.correlation_id
    asked = queue.Request(queue.MANUAL, now, queue.URGENT, str(actor), reason, story)
    queue.enqueue(controller.pk, Resource.objects.filter(pk=late.resource_id), asked)
    proposals.tell(late, "reproposed", actor=actor, now=now, payload={"reason": reason})


def file_anew(late: Proposal, actor: Actor, now: datetime, reason: str) -> Proposal:
    """File the same plan again for whoever proposed it, under what holds now."""
    drafted = draft(late.resource, author_of(late), late.actions, late.explanation, now)
    drafted.policy |= {WORDED_HERE: True} if late.policy.get(WORDED_HERE) else {}
    known = same_plan(drafted)
    if known is not None:
        return known
    drafted.thread_id = late.thread_id or late.pk
    proposals.tell(late, "reproposed", actor=actor, now=now, payload={"reason": reason})
    return file(drafted, actor, now)


def author_of(late: Proposal) -> Author:
    """Return who proposed it, as far as they are still there."""
    kind, _, name = late.proposer.partition("/")
    if kind != "agent":
        return Author(Actor("person", name))
    agent = Resource.objects.filter(kind="Agent", name=name, deleted_at=None).first()
    if agent is None:
        raise refused(f"{late.proposer} no longer exists.", proposal=late.pk)
    return Author(Actor("agent", name), agent)
