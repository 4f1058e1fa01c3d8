"""Admissions and usage as plain values, in the API's spelling."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from controllers import admission as use_case
from controllers.accounting.standing import money
from controllers.admission import Result
from controllers.admission.noting import on_of
from controllers.models import Admission, Usage
from resources.kind import Document
from resources.ledger import instant

State = Admission.State
LAPSED = {"code": "PermitLapsed", "reason": "The permit was not used in time: ask again."}
REFUSED = (State.DENIED, State.LAPSED)


def decision_of(row: Admission) -> str:
    """Say what the answer is."""
    if row.state == State.WAITING:
        return "waiting"
    return "denied" if row.state in REFUSED else "allowed"


def admission(row: Admission, *, permit: bool = False) -> Document:
    """Write what was asked and answered; the permit is for its agent's eyes only."""
    found: Document = {
        "id": row.pk,
        "decision": decision_of(row),
        "state": row.state,
        "agent": row.agent.name,
        "operation": row.operation,
        "resource": on_of(row),
        "digest": row.digest,
        "tokens": row.tokens,
        "cost": {"value": money(row.cost), "currency": row.currency},
        "reasons": [*row.reasons, *([LAPSED] if row.state == State.LAPSED else [])],
        "warnings": row.warnings,
        "askedAt": instant(row.asked_at),
        "correlationId": row.correlation_id,
        **times(("redeemedAt", row.redeemed_at)),
    }
    if row.proposal_id is not None:
        found["proposal"] = row.proposal_id
    if row.state == State.ALLOWED:
        found |= {"epoch": str(row.epoch), **times(("expiresAt", row.expires_at))}
        if permit:
            found["permit"] = use_case.text_of(row)
    return found


def times(*found: tuple[str, datetime | None]) -> Document:
    """Write the times that there are."""
    return {name: instant(at) for name, at in found if at is not None}


def usage(row: Usage) -> Document:
    """Write what one call spent."""
    found: dict[str, Any] = {
        "id": row.record,
        "agent": row.agent.name,
        "domain": row.domain,
        "at": instant(row.at),
        "day": row.day.isoformat(),
        "tokens": {"input": row.tokens_in, "output": row.tokens_out},
        "cost": {"value": money(row.cost), "currency": row.currency},
        "priced": row.priced,
        "correlationId": row.correlation_id,
        "admission": row.admission_id,
        "workflow": row.workflow,
        "step": row.step,
        "decision": row.decision,
    }
    if row.model:
        model = {"provider": row.provider, "name": row.model, "version": row.version}
        found["model"] = {key: value for key, value in model.items() if value}
    return {key: value for key, value in found.items() if value not in ("", None)}


def result(found: Result) -> Document:
    """Write what became of one record."""
    body: Document = {"verdict": found.verdict}
    if found.usage is not None:
        spent = usage(found.usage)
        body |= {key: spent[key] for key in ("id", "cost", "priced", "day")}
    if found.permit:
        body["permit"] = found.permit
    if found.problems:
        body["problems"] = [
            {"pointer": pointer, "detail": detail} for pointer, detail in found.problems
        ]
    return body
