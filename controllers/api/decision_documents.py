"""Proposals and decisions as plain values, in the API's spelling."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from controllers import gating, lifecycle, roles
from controllers.api.spelling import Times, said, spelled, times
from controllers.api.work_documents import step
from controllers.deciding.voting import votes
from controllers.engine.gate import CODES
from controllers.grouping import Group, Result
from controllers.holds.scopes import HELD
from controllers.lifecycle import OPEN, WAITING, Answer
from controllers.models import Decision, Proposal
from controllers.proposing.again import LATE
from resources.kind import Document
from resources.ledger import instant

# The codes that name a hold.
HOLDING = tuple(CODES.values())


def summaries(proposals: Sequence[Proposal]) -> list[Document]:
    """Write what a list shows of proposals, with what policies ask of each."""
    needs = roles.quorums_of(proposals) if proposals else []
    return [summary(each, asked.people) for each, asked in zip(proposals, needs, strict=True)]


def current(proposal: Proposal) -> Document:
    """Write the same of one proposal, for somebody who saw it otherwise."""
    return summary(proposal, roles.quorum_of(proposal).people)


def summary(proposal: Proposal, people: int | None = None) -> Document:
    """Write what a list shows of a proposal; `people` is how many have to approve it now."""
    found: Document = {
        "id": proposal.pk,
        "resource": str(proposal.resource),
        "domain": proposal.resource.domain,
        "proposer": proposal.proposer,
        "state": proposal.state,
        "lane": proposal.lane,
        "mode": proposal.mode,
        "revision": proposal.revision,
        "actionDigest": proposal.action_digest,
        "tag": proposal.tag,
        "operations": [each["operation"] for each in proposal.actions],
        "explanation": proposal.explanation,
        "risk": proposal.risk,
        "reversible": proposal.reversible,
        "people": proposal.people if people is None else people,
        "score": proposal.score,
        "urgency": proposal.urgency,
        "cause": proposal.cause,
        "held": written(proposal),
        "answer": spelled(proposal.answer),
        "decidedBy": proposal.decided_by,
        "reason": proposal.reason,
        "feedback": feedback(proposal),
        "outcome": proposal.outcome,
        "error": proposal.error,
        "undoing": proposal.undoing or None,
        "correlationId": proposal.correlation_id,
        **times(clocks(proposal)),
    }
    return said(found)


def feedback(proposal: Proposal) -> Document | None:
    """Write what people who sent it back want to be different, while it waits for an answer."""
    if proposal.state != "changes_requested":
        return None
    found: Document = {
        "reason": proposal.reason,
        "by": proposal.decided_by,
        "revision": proposal.revision,
        "thread": proposal.thread_id or proposal.pk,
        "fields": proposal.feedback.get("fields") or None,
        **times((("at", proposal.decided_at),)),
    }
    return said(found)


def clocks(proposal: Proposal) -> Times:
    """Return the times of a proposal."""
    return (
        ("createdAt", proposal.created_at),
        ("changedAt", proposal.changed_at),
        ("confirmedAt", proposal.confirmed_at),
        ("expiresAt", proposal.expires_at),
        ("runAt", proposal.run_at),
        ("executeBefore", proposal.execute_before),
        ("quietUntil", proposal.quiet_until),
        ("decidedAt", proposal.decided_at),
        ("executedAt", proposal.executed_at),
        ("undoUntil", proposal.undo_until),
        ("verifyBy", proposal.verify_by),
        ("reviewBy", proposal.review_by),
    )


def record(proposal: Proposal, reader: User | None, now: datetime) -> Document:
    """Write everything about a proposal, and what its reader may say about it."""
    decisions = proposal.decisions.select_related("behalf").order_by("at", "pk")
    # Who may decide is of interest while there is something to decide.
    asked = proposal.review_by or (proposal.state in WAITING and not is_late(proposal, now))
    needs = roles.quorum_of(proposal)
    able = roles.entitled(proposal, now, needs) if asked else []
    found = summary(proposal, needs.people) | {
        "actions": proposal.actions,
        "basis": proposal.basis,
        "basisDigest": proposal.basis_digest,
        "policy": proposal.policy,
        "evidence": proposal.evidence,
        "decisions": [decision(each) for each in decisions],
        "steps": [step(each) for each in proposal.steps.order_by("undoes", "sequence")],
        "deciders": [each.person.get_username() for each in able],
        "entitled": [entitled(each) for each in able],
        "quorum": quorum(proposal, needs, now) if proposal.state in WAITING else None,
        "allowed": allowed(proposal, now),
        "supersededBy": proposal.superseded_by_id,
        "thread": proposal.thread_id,
        "you": standing_of(proposal, reader, now, needs) if reader and asked else None,
        "held": held(proposal, now),
    }
    return said(found)


def entitled(decider: roles.Decider) -> Document:
    """Name somebody who may decide, and say why."""
    behalf = decider.behalf.get_username() if decider.behalf else ""
    name, groups = decider.person.get_username(), list(decider.groups) or None
    return said({"person": name, "behalf": behalf, "groups": groups, "why": decider.why})


def quorum(proposal: Proposal, needs: roles.Quorum, now: datetime) -> Document:
    """Say what a proposal needs to be approved, which policies ask for it, and what is missing."""
    given = votes(proposal)
    tally = needs.tally(roles.still_valid(given, proposal, now) if given else [])
    policies = [
        said({"governance": e.governance, "name": e.name, "people": e.people, "group": e.group})
        for e in needs.policies
    ]
    groups = [
        {"group": e.group, "people": e.needed, "given": e.given, "exists": e.known}
        for e in tally.shares
    ]
    counts = {"people": tally.needed, "given": tally.given, "missing": tally.missing}
    return {**counts, "policies": policies, "groups": groups, **said({"reason": tally.sentence})}


def held(proposal: Proposal, now: datetime) -> Document | None:
    """Say what keeps a proposal from running; a hold counts from when it is placed or lifted."""
    ruling = gating.examine(proposal, now) if proposal.state in HELD else None
    if ruling is not None and ruling.hold is not None:
        return {"code": ruling.code, "reason": ruling.reason, "hold": ruling.hold}
    return None if proposal.held in HOLDING else written(proposal)


def written(proposal: Proposal) -> Document | None:
    """Say what kept a proposal from running when somebody last tried."""
    if not proposal.held:
        return None
    return {"code": proposal.held, "reason": proposal.held_reason}


def allowed(proposal: Proposal, now: datetime) -> list[str]:
    """Return what people may say about a proposal as it stands."""
    if is_late(proposal, now):
        return ["repropose"]
    state: Any = proposal.state
    found = [spelled(each) for each in lifecycle.answers(state) if fits(each, proposal, now)]
    return [*found, "review"] if proposal.review_by else found


def is_late(proposal: Proposal, now: datetime) -> bool:
    """Tell whether the clock has ended a proposal; it may be proposed again."""
    waited = proposal.state in WAITING and proposal.expires_at <= now
    return waited or proposal.state in LATE


def fits(answer: Answer, proposal: Proposal, now: datetime) -> bool:
    """Tell whether an answer that fits a state fits this proposal in it."""
    if proposal.undoing and proposal.state in OPEN:
        return answer == "resolve"
    if answer == "undo":
        window = proposal.undo_until
        return proposal.reversible and window is not None and window > now
    return True


def standing_of(proposal: Proposal, reader: User, now: datetime, needs: roles.Quorum) -> Document:
    """Say whether somebody may decide, and if not, by which rule."""
    try:
        authority = roles.authority(reader, proposal, now, needs)
    except roles.Denied as error:
        return {"mayDecide": False, "code": error.code, "reason": str(error)}
    behalf = {"behalf": authority.behalf.get_username()} if authority.behalf else {}
    return {"mayDecide": True, **behalf}


def decision(decision: Decision) -> Document:
    """Write one answer."""
    found: Document = {
        "by": decision.actor,
        "answer": spelled(decision.answer),
        "revision": decision.revision,
        "counts": decision.counts,
        "reason": decision.reason,
        "behalf": f"person/{decision.behalf.get_username()}" if decision.behalf else "",
        "shown": decision.shown,
        "at": instant(decision.at),
    }
    return said(found)


def causes(groups: Sequence[Group]) -> list[Document]:
    """Write root causes with what waits because of each."""
    samples = summaries([each.sample for each in groups])
    return [group(each, sample) for each, sample in zip(groups, samples, strict=True)]


def group(group: Group, sample: Document) -> Document:
    """Write a root cause with what waits because of it."""
    found: Document = {
        "cause": group.cause,
        "count": group.count,
        "together": group.together,
        "worst": group.worst,
        "oldest": instant(group.oldest),
        "expiresAt": instant(group.ends),
        "sample": sample,
    }
    return said(found)


def results(found: Iterable[Result]) -> Document:
    """Write what became of each of many answers."""
    results = list(found)
    items = [result(each) for each in results]
    return {"items": items, "done": sum(each.done for each in results)}


def result(found: Result) -> Document:
    """Write what became of one of many answers; `tag` is what to look at now."""
    now = found.proposal
    return said(
        {
            "id": found.key,
            "result": found.word,
            "detail": found.message,
            "state": now.state if now else "",
            "tag": now.tag if now else "",
        }
    )
