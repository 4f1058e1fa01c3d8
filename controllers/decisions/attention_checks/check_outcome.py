"""How a check ends: answered, or taken away; only then does the ledger say what it was."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from controllers.access import people
from controllers.decisions import proposals
from controllers.engine import proposal_lifecycle
from controllers.models import Check, Proposal
from resources.documents.actor import SYSTEM
from resources.documents.canonical import digest

ENDED = "It was a check: nothing runs, whatever is answered."
CAUGHT = "That was a check, and you caught it. Nothing would have run."
FELL_FOR = "That was a check: its plan was plainly wrong, and you let it through. Nothing runs."


def open_of(proposal: Proposal) -> Check | None:
    """Return the check that a proposal is, while it lasts."""
    return Check.objects.filter(proposal=proposal, ended_at=None).first()


def answered(check: Check, person: User, answer: str, now: datetime) -> Proposal:
    """End a check with an answer, inside the transaction that has taken its proposal.

    Whoever does not let its plan happen has seen that something is wrong.
    """
    caught = not proposal_lifecycle.starts(answer)
    found = {"person": person, "answer": answer, "caught": caught}
    return end(check, now, **found)


def end(check: Check, now: datetime, **found: Any) -> Proposal:
    """Take the proposal of a check away, and say that it was one."""
    Check.objects.filter(pk=check.pk, ended_at=None).update(ended_at=now, **found)
    rows = Proposal.objects.select_related("controller", "resource")
    proposal = rows.get(pk=check.proposal_id)
    if is_open(proposal):
        said = {"reason": ENDED}
        proposals.move(proposal, "withdraw", actor=SYSTEM, now=now, payload=said, **said)
    proposals.tell(
        proposal, "checked", actor=SYSTEM, now=now, payload=proof(check, proposal, found)
    )
    return proposal


def is_open(proposal: Proposal) -> bool:
    """Tell whether the proposal of a check can still be taken away."""
    state: Any = proposal.state
    return proposal_lifecycle.allows(state, "withdraw")


def proof(check: Check, proposal: Proposal, found: dict[str, Any]) -> dict[str, Any]:
    """Return what proves that it was a check when it was made.

    The first entry keeps the digest of the basis, the basis that of the salt. The answer is kept
    as a digest alone: how somebody answered is for their eyes.
    """
    said = {"salt": check.salt, "basis": proposal.basis}
    if not found:
        return said
    by = str(people.actor_for(found["person"]))
    return {**said, "answerDigest": digest([check.salt, by, found["answer"]])}


def told(proposal: Proposal, person: User) -> str:
    """Tell whoever answered a check that it was one, and whether they saw it."""
    check = Check.objects.filter(proposal=proposal, person=person).first()
    if check is None or check.caught is None:
        return ""
    return CAUGHT if check.caught else FELL_FOR
