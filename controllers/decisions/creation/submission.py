"""What agents and people propose, and how they answer when they are asked for something better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from controllers.access import people, roles
from controllers.decisions import proposals
from controllers.decisions.creation.draft import Author, draft
from controllers.decisions.creation.suppression import MOST_OPEN
from controllers.engine.proposal_lifecycle import OPEN
from controllers.engine.terms import Document
from controllers.models import Decision, Proposal
from resources.documents.actor import Actor
from resources.documents.canonical import digest
from resources.documents.problems import invalid, missing, refused
from resources.tables.models import AgentToken, Resource
from resources.usecases import access

Proposer = User | AgentToken


@dataclass(frozen=True)
class Filing:
    """What somebody wants done to a resource: operations with parameters, and why."""

    resource: int
    actions: Sequence[Document]
    why: str
    # What the caller names its request by: repeated, it proposes nothing new.
    request_key: str = ""

    @property
    def digest(self) -> str:
        """What names its content."""
        return digest([self.resource, [dict(each) for each in self.actions], self.why])


class Filed(NamedTuple):
    """What came of a filing, and whether that is new."""

    proposal: Proposal
    new: bool


def propose(filing: Filing, *, by: Proposer, now: datetime) -> Filed:
    """File a proposal of an agent or a person; a repeated request gets the same one back."""
    author = author_of(by)
    if known := repeated(filing, author):
        return Filed(known, new=False)
    drafted = draft(target(filing.resource, by, now), author, filing.actions, filing.why, now)
    drafted.request_key = filing.request_key
    drafted.policy["request"] = filing.digest
    check_room(drafted, now)
    try:
        with transaction.atomic():
            return Filed(file(drafted, author.actor, now), new=True)
    except IntegrityError:
        # Somebody, most likely the same caller, filed it at the same moment or before.
        found = repeated(filing, author) or same_plan(drafted)
        if found is None:
            raise
        return Filed(found, new=False)


def author_of(by: Proposer) -> Author:
    """Return who proposes, as the ledger and the gate know them."""
    if isinstance(by, AgentToken):
        return Author(Actor("agent", by.agent.name), by.agent)
    return Author(people.actor_for(by))


def repeated(filing: Filing, author: Author) -> Proposal | None:
    """Return what the same request came to before; another one under its name is refused."""
    if not filing.request_key:
        return None
    rows = Proposal.objects.select_related("controller", "resource")
    found = rows.filter(proposer=str(author.actor), request_key=filing.request_key).first()
    if found is not None and found.policy.get("request") != filing.digest:
        raise refused(
            "Another proposal was filed under this name of a request.", proposal=found.pk
        )
    return found


def same_plan(drafted: Proposal) -> Proposal | None:
    """Return the open proposal of the same proposer that would do the same."""
    rows = Proposal.objects.select_related("controller", "resource")
    return rows.filter(
        proposer=drafted.proposer,
        resource=drafted.resource,
        action_digest=drafted.action_digest,
        state__in=OPEN,
    ).first()


def target(key: int, by: Proposer, now: datetime) -> Resource:
    """Return the resource a filing is about; an agent reaches no further than it sees."""
    rows = Resource.objects.filter(pk=key, deleted_at=None)
    row = (access.visible(rows, by) if isinstance(by, AgentToken) else rows).first()
    if row is None:
        raise missing("There is no such resource.")
    if isinstance(by, User):
        roles.check_propose(by, row.domain, now)
    return row


def check_room(drafted: Proposal, now: datetime) -> None:
    """Refuse what people said no to, and more than they can decide about."""
    mine = Proposal.objects.filter(proposer=drafted.proposer)
    if drafted.proposer.startswith("agent/"):
        said = mine.filter(
            resource=drafted.resource, planned_digest=drafted.action_digest, state="rejected"
        )
        no = said.order_by("decided_at", "pk").last()
        if no is not None and still_no(no, drafted.resource, now):
            raise refused(f"People said no to this before: {no.reason}", proposal=no.pk)
    if mine.filter(state__in=OPEN).count() >= MOST_OPEN:
        raise invalid(f"{MOST_OPEN:,} of your proposals are open: people decide first.")


def still_no(no: Proposal, row: Resource, now: datetime) -> bool:
    """Tell whether a no still stands: until its date, or until the resource is declared anew."""
    if no.quiet_until is not None:
        return now < no.quiet_until
    declared: int = no.basis.get("generation", 0)
    return row.generation <= declared


def file(drafted: Proposal, actor: Actor, now: datetime) -> Proposal:
    """Write a proposal and tell of it; what an agent may do alone carries its policy's answer."""
    drafted.save(force_insert=True)
    if drafted.lane == "run":
        Decision.objects.create(
            proposal=drafted,
            revision=drafted.revision,
            actor=drafted.decided_by,
            answer="approve",
            shown=drafted.action_digest,
            at=now,
        )
    payload = {"lane": drafted.lane, "actions": drafted.actions, "why": drafted.explanation}
    proposals.tell(drafted, "created", actor=actor, now=now, payload=payload)
    return drafted


def revise(key: int, filing: Filing, *, by: Proposer, now: datetime) -> Proposal:
    """Answer a request for changes with a new revision; the votes for the old one are void.

    Whoever repeats an answer, named by the same key, gets what it came to.
    """
    author = author_of(by)
    if known := answered(key, filing, author):
        return known
    wished = draft(target(filing.resource, by, now), author, filing.actions, filing.why, now)
    try:
        with transaction.atomic():
            proposal = proposals.take(key, "revise", now)
            check_sent_back(proposal, wished)
            proposal.feedback = answer_of(filing)
            return change(proposal, wished, author.actor, now)
    except IntegrityError as error:
        raise invalid("The same plan is already proposed.") from error


def answered(key: int, filing: Filing, author: Author) -> Proposal | None:
    """Return the proposal that this very answer revised before; another one is refused."""
    if not filing.request_key:
        return None
    rows = Proposal.objects.select_related("controller", "resource")
    found = rows.filter(pk=key, proposer=str(author.actor)).first()
    if found is None or found.feedback.get("answered") != filing.request_key:
        return None
    if found.feedback != answer_of(filing):
        raise refused("Another answer was given under this name of a request.", proposal=found.pk)
    return found


def answer_of(filing: Filing) -> dict[str, str]:
    """Return what an answer is known by, if it is named."""
    if not filing.request_key:
        return {}
    return {"answered": filing.request_key, "said": filing.digest}


def check_sent_back(proposal: Proposal, wished: Proposal) -> None:
    """Let only the proposer revise, only what was sent back, and only about the same resource."""
    if proposal.proposer != wished.proposer:
        raise refused(f"It was proposed by {proposal.proposer}.", proposal=proposal.pk)
    if proposal.state != "changes_requested":
        raise proposals.decided("Nobody has asked for changes.", proposal)
    if proposal.resource_id != wished.resource_id:
        raise refused(f"It is about {proposal.resource}.", proposal=proposal.pk)


def change(proposal: Proposal, wished: Proposal, actor: Actor, now: datetime) -> Proposal:
    """Put the new plan in the place of the old one."""
    plan = ("actions", "action_digest", "planned_digest", "basis", "basis_digest", "cause")
    ruled = ("risk", "reversible", "mode", "held", "held_reason", "explanation", "expires_at")
    return proposals.move(
        proposal,
        "revise",
        actor=actor,
        now=now,
        payload={"why": wished.explanation, "actions": wished.actions, "votesKept": False},
        revision=proposal.revision + 1,
        # People have asked for it: it does not run by itself any more.
        lane="recommend" if wished.lane == "recommend" else "ask",
        people=max(1, proposal.people, wished.people),
        interested=sorted({*proposal.interested, *wished.interested}),
        policy=wished.policy | {"request": proposal.policy.get("request", "")},
        feedback=proposal.feedback,
        decided_at=None,
        decided_by="",
        answer="",
        reason="",
        **{name: getattr(wished, name) for name in (*plan, *ruled)},
    )
