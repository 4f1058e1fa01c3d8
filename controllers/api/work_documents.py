"""Work and outside controllers as plain values, in the API's spelling."""

from __future__ import annotations

from controllers import outside
from controllers.api.documents import cycle_summary
from controllers.api.spelling import said, times
from controllers.engine.precedence import Standing
from controllers.engine.types import Outcome
from controllers.executing.work import LEASE, Claim
from controllers.models import Step
from resources.api.problems import as_error
from resources.kind import Document
from resources.ledger import instant
from resources.models import Resource


def step(step: Step) -> Document:
    """Write one action that was or is being carried out."""
    found: Document = {
        "sequence": step.sequence,
        "operation": step.operation,
        "undoes": step.undoes,
        "executor": step.executor,
        "state": step.state,
        "attempts": step.attempts,
        "agent": step.agent,
        "claimedBy": step.claimed_by,
        "error": step.error,
        "percent": step.percent,
        "note": step.note,
        **times((("startedAt", step.started_at), ("endedAt", step.ended_at))),
        **times((("deadline", step.deadline),)),
    }
    return said(found)


def action(step: Step) -> Document:
    """Write one action that somebody is to do, or did."""
    proposal = step.proposal
    found: Document = {
        "id": step.pk,
        "proposal": proposal.pk,
        "sequence": step.sequence,
        "operation": step.operation,
        "parameters": step.parameters,
        "target": str(proposal.resource),
        "for": f"{step.executor}/{step.agent}",
        "state": step.state,
        "undoes": step.undoes,
        "key": step.key,
        "attempts": step.attempts,
        "why": proposal.explanation,
        "error": step.error,
        "percent": step.percent,
        "note": step.note,
        "outputs": dict(step.result) or None,
        "correlationId": proposal.correlation_id,
        **times((("executeBefore", proposal.execute_before), ("deadline", step.deadline))),
        **times((("startedAt", step.started_at), ("endedAt", step.ended_at))),
    }
    return said(found)


def claim(key: int, claim: Claim) -> Document:
    """Write the right to do an action."""
    return {
        "id": key,
        "fence": str(claim.fence),
        "epoch": str(claim.epoch),
        "deadline": instant(claim.deadline),
        "ttlSeconds": int(LEASE.total_seconds()),
        "key": claim.key,
        "operation": claim.operation,
        "parameters": claim.parameters,
        "target": claim.target,
    }


def begun(found: outside.Begun, row: Resource) -> Document:
    """Write an open cycle, and what its process must send with every call about it."""
    return {
        "cycle": cycle_summary(found.cycle, row),
        "fence": str(found.lease.token),
        "leasedUntil": instant(found.leased_until),
        "correlationId": found.cycle.correlation_id,
        **told(found.told),
    }


def told(found: outside.Told) -> Document:
    """Write what people said no to, and what is asked of a controller."""
    return {
        "epoch": str(found.epoch),
        "holds": [held(each, found) for each in found.holds],
        "onlyProposes": found.only_proposes,
        "resync": found.overdue,
        "asked": list(found.asked),
    }


def held(hold: Standing, about: outside.Told) -> Document:
    """Write a hold as machines read it."""
    found: Document = {
        "id": hold.key,
        "kind": hold.kind,
        "scope": hold.scope,
        "reason": hold.reason,
        "author": hold.author,
        "domain": hold.domain,
        "resource": about.names.get(hold.resource or 0, ""),
        "path": hold.path,
        "inFlight": hold.in_flight,
        **times((("endsAt", hold.ends_at),)),
    }
    return said(found)


def heard(found: outside.Heard, kind: str) -> Document:
    """Write what became of one finding."""
    body: Document = {"resource": f"{kind}/{found.name}", "verdict": found.verdict}
    if found.version is not None:
        body["version"] = str(found.version)
    if found.problems:
        body["problems"] = [as_error(each) for each in found.problems]
    if found.case is not None:
        judgement = found.case.judgement
        body |= said(
            {
                "score": judgement.score,
                "drifted": judgement.drifted,
                "status": judgement.status,
                "reason": judgement.reason,
                "message": judgement.message,
                "actions": [ruled(each) for each in found.case.outcomes],
            }
        )
    return body


def ruled(outcome: Outcome) -> Document:
    """Write an action, and what the gate said of it."""
    ruling = outcome.verdict
    found: Document = {
        "operation": outcome.action.operation,
        "kind": outcome.action.kind,
        "risk": outcome.action.risk,
        "result": outcome.result,
        "disposition": ruling.word if ruling else "",
        "code": ruling.code if ruling else "",
        "reason": ruling.reason if ruling else outcome.reason,
    }
    return said(found)
