"""How a proposal moves: taken with the whole precondition, moved by one verb, told to the ledger.

`take` is the first statement of every transaction about a proposal. It changes a row or nothing:
of many who press at once one goes on, and the others are told who won.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q

from controllers.common.clocks import current
from controllers.decisions import autonomy
from controllers.engine import proposal_lifecycle
from controllers.engine.proposal_lifecycle import WAITING, Verb
from controllers.models import Check, Proposal
from resources.documents.actor import Actor
from resources.documents.problems import CHANGED, DECIDED, EXPIRED, Problem, missing
from resources.observability import metrics
from resources.store import announcements
from resources.tables import ledger

# What begins a revision: the ledger keeps what people see of it.
REVISING = ("created", "revised", "revise", "change")
LONGEST_REVISION = 9
DIGEST_LENGTH = 64
# How loud the ledger is about a verb.
SEVERITIES: Mapping[str, str] = {"break_glass": "critical"}


@dataclass(frozen=True)
class SeenRevision:
    """What somebody saw when they decided: a revision and the digest of its actions."""

    revision: int
    digest: str


def as_seen(tag: str) -> SeenRevision | None:
    """Turn a tag into what was seen; nothing when it is none."""
    revision, _, digest = tag.strip('"').partition(":")
    whole = revision.isascii() and revision.isdecimal() and len(revision) <= LONGEST_REVISION
    if not whole or len(digest) != DIGEST_LENGTH or not digest.isalnum():
        return None
    return SeenRevision(int(revision), digest)


def take(key: int, verb: Verb, now: datetime, *, seen: SeenRevision | None = None) -> Proposal:
    """Take a proposal for a verb: one guarded update, or an explanation of why not."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("A proposal is taken in the transaction that moves it.")
    if not fitting(key, verb, now, seen).update(lock=F("lock") + 1, changed_at=now):
        raise explanation(key, verb, now, seen)
    return Proposal.objects.select_related("controller", "resource").get(pk=key)


def fitting(key: int, verb: Verb, now: datetime, seen: SeenRevision | None) -> Any:
    """Return the row if a verb fits it at this moment, and it is what was seen."""
    row = Proposal.objects.filter(pk=key, state__in=proposal_lifecycle.sources(verb))
    if seen is not None:
        row = row.filter(revision=seen.revision, action_digest=seen.digest)
    if verb == "claim":
        # A check brings nothing about, whatever state it is in.
        row = row.filter(~is_check())
    # The clock ends what waits, not the sweep that writes it down.
    if verb != "expire":
        row = row.filter(~Q(state__in=WAITING) | Q(expires_at__gt=current(now)))
    return row


def is_check() -> Exists:
    """Choose what was only filed to see whether people look; without a join, see `scoping`."""
    return Exists(Check._base_manager.filter(proposal=OuterRef("pk")))


def explanation(key: int, verb: Verb, now: datetime, seen: SeenRevision | None) -> Problem:
    """Say why a proposal could not be taken."""
    found = Proposal.objects.select_related("controller", "resource").filter(pk=key).first()
    if found is None:
        return missing(f"There is no proposal/{key}.")
    state: Any = found.state
    if state == "expired":
        return expired(found)
    if not proposal_lifecycle.allows(state, verb):
        return decided(told(found, verb), found, proposal_lifecycle.answers(state))
    if seen is not None and seen != SeenRevision(found.revision, found.action_digest):
        told_so = "It has changed since you looked."
        return Problem(CHANGED, told_so, proposal=key, revision=seen.revision)
    if state in WAITING:
        return expired(found)
    return decided(told(found, verb), found, proposal_lifecycle.answers(state))


def expired(proposal: Proposal) -> Problem:
    """Say that the clock has ended a proposal."""
    at = f"{proposal.expires_at:%Y-%m-%d %H:%M} UTC"
    return Problem(EXPIRED, f"It expired at {at}.", proposal=proposal.pk)


def decided(message: str, proposal: Proposal, allowed: Sequence[str] = ()) -> Problem:
    """Say that somebody or something decided first, and what may still be said."""
    return Problem(DECIDED, message, proposal=proposal.pk, allowed=list(allowed))


def told(proposal: Proposal, verb: Verb) -> str:
    """Say who was faster, and what they said."""
    state: Any = proposal.state
    if not proposal.decided_by:
        return proposal_lifecycle.misfit(state, verb)
    at = f" at {proposal.decided_at:%Y-%m-%d %H:%M:%S} UTC" if proposal.decided_at else ""
    why = f": {proposal.reason}" if proposal.reason else "."
    return f"It is {state.replace('_', ' ')}, decided by {proposal.decided_by}{at}{why}"


def move(
    proposal: Proposal,
    verb: Verb,
    *,
    actor: Actor,
    now: datetime,
    payload: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Proposal:
    """Move a taken proposal: its state and fields, and the ledger's entry of it."""
    state: Any = proposal.state
    if state in WAITING and changes.get("answer") and changes.get("decided_at"):
        # It was people who decided: how long they took counts once it is true.
        taken = (now - proposal.created_at).total_seconds()
        transaction.on_commit(
            partial(metrics.DECISION_SECONDS.labels(changes["answer"]).observe, taken)
        )
    changes["state"] = proposal_lifecycle.after(state, verb)
    for name, value in changes.items():
        setattr(proposal, name, value)
    proposal.changed_at = now
    Proposal.objects.filter(pk=proposal.pk).update(changed_at=now, **changes)
    tell(proposal, verb, actor=actor, now=now, payload=payload)
    autonomy.demote(proposal, verb, actor, now)
    return proposal


def tell(
    proposal: Proposal,
    verb: str,
    *,
    actor: Actor,
    now: datetime,
    payload: Mapping[str, Any] | None = None,
) -> None:
    """Write what happened to a proposal into its chain, and announce it on commit."""
    entry = entry_of(proposal, verb, payload or {})
    story = ledger.correlation.get() or proposal.correlation_id
    token = ledger.correlation.set(story)
    try:
        ledger.append([entry], actor=actor, now=now)
    finally:
        ledger.correlation.reset(token)
    announcements.announce()


def entry_of(proposal: Proposal, verb: str, payload: Mapping[str, Any]) -> ledger.Entry:
    """Write what happened as an entry: what was decided about is named by its digest."""
    told = {
        "proposal": proposal.pk,
        "resource": str(proposal.resource),
        "state": proposal.state,
        "revision": proposal.revision,
        "actionDigest": proposal.action_digest,
        "basisDigest": proposal.basis_digest,
        **({"facts": facts(proposal)} if verb in REVISING else {}),
        **payload,
    }
    return ledger.Entry(
        proposal.stream,
        f"proposal.{proposal_lifecycle.told(verb)}",
        f"proposal/{proposal.pk}",
        told,
        severity=SEVERITIES.get(verb, "info"),
    )


def facts(proposal: Proposal) -> dict[str, Any]:
    """Return what people see of a revision, so that two of them can be held side by side."""
    return {
        "actions": {
            str(each["sequence"]): {
                "operation": each["operation"],
                "parameters": each.get("parameters", {}),
                "touches": each.get("touches", []),
            }
            for each in proposal.actions
        },
        "evidence": {
            f"{each['dimension']}:{each['subject']}": {
                name: each[name] for name in ("verdict", "desired", "observed") if name in each
            }
            for each in proposal.evidence
        },
        "risk": proposal.risk,
        "people": proposal.people,
        "score": proposal.score,
    }
