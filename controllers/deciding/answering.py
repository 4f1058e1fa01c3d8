"""How every answer is heard: taken with what was seen, checked, recorded once, told once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from controllers import checks, people, proposals
from controllers.lifecycle import OPEN, Answer
from controllers.models import Decision, Proposal
from controllers.proposals import Decided, Refused, Seen
from controllers.roles import Authority
from resources import reader, tracing
from resources.actor import Actor

LONGEST_REASON = 2_000
# What a proposal says of its answer before there is one.
UNDECIDED: dict[str, Any] = {"decided_at": None, "decided_by": "", "answer": "", "reason": ""}


class Invalid(Refused):
    """It is no answer: something is missing, or does not fit."""


class Held(Refused):
    """A hold of a person stands in the way."""


@dataclass(frozen=True)
class Said:
    """An answer as it was given: what, by whom, about what they saw, when and why."""

    verb: Answer
    person: User
    seen: Seen
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


Act = Callable[[Proposal, Said], Proposal]


def settle(
    key: int, said: Said, act: Act, lock: Callable[[Proposal], None] | None = None
) -> Proposal:
    """Take a proposal for an answer and act on it in one transaction; a repeated one is kept.

    `lock` takes the locks that come before the proposal's own, so that nobody waits in a circle.
    """
    try:
        about = {"answer": said.verb, "proposal": key}
        with tracing.span("decision", **about) as span, transaction.atomic():
            if lock is not None:
                lock(known(key))
            proposal = proposals.take(key, said.verb, said.now, seen=said.seen)
            tracing.belong(span, proposal.correlation_id)
            if proposal.undoing and proposal.state in OPEN and said.verb != "resolve":
                raise Decided(f"It is being undone by {proposal.decided_by}.", proposal, ())
            check = checks.open_of(proposal)
            if check is None:
                return act(proposal, said)
            rehearse(act, proposal, said)
            return checks.answered(check, said.person, said.verb, said.now)
    except Decided as late:
        if late.proposal is not None and repeated(said, late.proposal):
            return late.proposal
        raise
    except IntegrityError as error:
        # Of each plan one proposal is open: this one would have become the second.
        raise Invalid("The same plan is open in another proposal.", known(key)) from error


class Rehearsed(Exception):
    """Everything was as if; now it is taken back."""


def rehearse(act: Act, proposal: Proposal, said: Said) -> None:
    """Act as if, so that whoever may not is refused, and take all of it back."""
    with suppress(Rehearsed), transaction.atomic():
        act(proposal, said)
        raise Rehearsed


def known(key: int) -> Proposal:
    """Return a proposal as it is, without taking it: what it is about never changes."""
    found = Proposal.objects.select_related("resource").filter(pk=key).first()
    if found is None:
        raise proposals.Missing(f"There is no proposal/{key}.")
    return found


def repeated(said: Said, proposal: Proposal) -> bool:
    """Tell whether a proposal was decided by this very answer, of this person too."""
    if Seen(proposal.revision, proposal.action_digest) != said.seen:
        return False
    if proposal.answer != said.verb:
        return False
    return proposal.decided_by == str(said.actor) or given(proposal, said)


def given(proposal: Proposal, said: Said) -> bool:
    """Tell whether this person has already given this answer to this revision."""
    return Decision.objects.filter(
        proposal=proposal, revision=proposal.revision, person=said.person, answer=said.verb
    ).exists()


def record(
    proposal: Proposal, said: Said, authority: Authority | None = None, *, counts: bool = True
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
        raise Invalid(wanted)
    if len(text) > LONGEST_REASON:
        raise Invalid(f"A reason has at most {LONGEST_REASON} characters.")
    for fault in reader.text_faults(text):
        raise Invalid(f"The reason cannot be kept: {fault}")
    return text


def later(until: datetime, now: datetime) -> datetime:
    """Return a time that lies ahead; another one is refused."""
    if until.tzinfo is None:
        raise Invalid("A time needs its zone.")
    if until <= now:
        raise Invalid("That time has already passed.")
    return until
