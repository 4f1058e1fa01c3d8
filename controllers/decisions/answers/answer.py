"""How every answer is heard: taken with what was seen, checked, recorded once, told once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from controllers.access import people
from controllers.access.roles import Authority
from controllers.decisions import attention_checks, proposals
from controllers.decisions.proposals import SeenRevision
from controllers.engine.proposal_lifecycle import OPEN, Answer, Declared
from controllers.models import Decision, Proposal
from resources.documents import reader
from resources.documents.actor import Actor
from resources.documents.problems import DECIDED, Problem, invalid, missing
from resources.observability import spans

LONGEST_REASON = 2_000
# What a proposal says of its answer before there is one.
UNDECIDED: dict[str, Any] = {"decided_at": None, "decided_by": "", "answer": "", "reason": ""}


@dataclass(frozen=True)
class GivenAnswer:
    """An answer as it was given: what, by whom, about what they saw, when and why."""

    verb: Answer | Declared
    person: User
    seen: SeenRevision
    now: datetime
    reason: str

    @property
    def actor(self) -> Actor:
        """Who said it, as the ledger names them."""
        return people.actor_for(self.person)

    def payload(self, authority: Authority | None = None, **more: Any) -> dict[str, Any]:
        """Return what the ledger keeps of it: the answer, why, what was shown, and for whom."""
        return {
            "answer": self.verb,
            "reason": self.reason,
            "shownRevision": self.seen.revision,
            "shownDigest": self.seen.digest,
            **on_behalf(authority),
            **more,
        }

    def decided(self) -> dict[str, Any]:
        """Return what a proposal keeps of the answer that decided it."""
        return {
            "decided_at": self.now,
            "decided_by": str(self.actor),
            "answer": self.verb,
            "reason": self.reason,
        }


def on_behalf(authority: Authority | None) -> dict[str, str]:
    """Name the one for whom a deputy speaks."""
    behalf = authority.behalf if authority else None
    return {"behalf": str(people.actor_for(behalf))} if behalf else {}


Act = Callable[[Proposal, GivenAnswer], Proposal]


def settle(
    key: int, said: GivenAnswer, act: Act, lock: Callable[[Proposal], None] | None = None
) -> Proposal:
    """Take a proposal for an answer and act on it in one transaction; a repeated one is kept.

    `lock` takes the locks that come before the proposal's own, so that nobody waits in a circle.
    """
    try:
        about = {"answer": said.verb, "proposal": key}
        with spans.span("decision", **about) as span, transaction.atomic():
            if lock is not None:
                lock(known(key))
            proposal = proposals.take(key, said.verb, said.now, seen=said.seen)
            spans.belong(span, proposal.correlation_id)
            if proposal.undoing and proposal.state in OPEN and said.verb != "resolve":
                raise proposals.decided(f"It is being undone by {proposal.decided_by}.", proposal)
            check = attention_checks.open_of(proposal)
            if check is None:
                return act(proposal, said)
            rehearse(act, proposal, said)
            return attention_checks.answered(check, said.person, said.verb, said.now)
    except Problem as problem:
        if problem.code == DECIDED and repeated(said, late := known(key)):
            return late
        raise
    except IntegrityError as error:
        # Of each plan one proposal is open: this one would have become the second.
        raise invalid("The same plan is open in another proposal.") from error


class Rehearsed(Exception):
    """Everything was as if; now it is taken back."""


def rehearse(act: Act, proposal: Proposal, said: GivenAnswer) -> None:
    """Act as if, so that whoever may not is refused, and take all of it back."""
    with suppress(Rehearsed), transaction.atomic():
        act(proposal, said)
        raise Rehearsed


def known(key: int) -> Proposal:
    """Return a proposal as it is, without taking it: what it is about never changes."""
    found = Proposal.objects.select_related("resource").filter(pk=key).first()
    if found is None:
        raise missing(f"There is no proposal/{key}.")
    return found


def repeated(said: GivenAnswer, proposal: Proposal) -> bool:
    """Tell whether a proposal was decided by this very answer, of this person too."""
    if SeenRevision(proposal.revision, proposal.action_digest) != said.seen:
        return False
    if proposal.answer != said.verb:
        return False
    return proposal.decided_by == str(said.actor) or given(proposal, said)


def given(proposal: Proposal, said: GivenAnswer) -> bool:
    """Tell whether this person has already given this answer to this revision."""
    return Decision.objects.filter(
        proposal=proposal, revision=proposal.revision, person=said.person, answer=said.verb
    ).exists()


def record(
    proposal: Proposal,
    said: GivenAnswer,
    authority: Authority | None = None,
    *,
    counts: bool = True,
) -> None:
    """Keep a person's answer to a revision; another one takes the place of the one before."""
    answer = {
        "behalf": authority.behalf if authority else None,
        "actor": str(said.actor),
        "answer": said.verb,
        "counts": counts,
        "reason": said.reason,
        "shown": said.seen.digest,
        "at": said.now,
    }
    whose = {"proposal": proposal, "revision": proposal.revision, "person": said.person}
    # Whoever has taken the proposal is alone with it.
    if not Decision.objects.filter(**whose).update(**answer):
        Decision.objects.create(**whose, **answer)


def worded(reason: str, least: int = 1) -> str:
    """Return a reason as it is kept; one that is missing or too long is refused."""
    text = reason.strip()
    if len(text) < least:
        wanted = "Say why." if least == 1 else f"Say why, in at least {least} characters."
        raise invalid(wanted)
    if len(text) > LONGEST_REASON:
        raise invalid(f"A reason has at most {LONGEST_REASON} characters.")
    for fault in reader.text_faults(text):
        raise invalid(f"The reason cannot be kept: {fault}")
    return text


def later(until: datetime, now: datetime) -> datetime:
    """Return a time that lies ahead; another one is refused."""
    if until.tzinfo is None:
        raise invalid("A time needs its zone.")
    if until <= now:
        raise invalid("That time has already passed.")
    return until
