"""What the ledger hears of admissions, one chain for each agent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from controllers.engine.admission import Finding
from controllers.models import Admission
from resources.documents.actor import Actor
from resources.store import announcements
from resources.tables import ledger
from resources.tables.models import Resource


def entry(
    agent: Resource, event: str, payload: dict[str, Any], severity: str = "info"
) -> ledger.Entry:
    """Write an entry of an agent's chain."""
    return ledger.Entry(f"admission/{agent.uid}", event, str(agent), payload, "audit", severity)


def about(admission: Admission, on: str) -> dict[str, Any]:
    """Write what an admission is about as the ledger keeps it."""
    return {
        "admission": admission.pk,
        "agent": admission.agent.name,
        "operation": admission.operation,
        "resource": on,
        "digest": admission.digest,
        "tokens": admission.tokens,
        "cost": admission.cost,
        "currency": admission.currency,
        "epoch": admission.epoch,
    }


def append(entries: Iterable[ledger.Entry], agent: Resource, now: datetime) -> None:
    """Chain entries, and announce them on commit."""
    told = list(entries)
    if told:
        ledger.append(told, actor=Actor("agent", agent.name), now=now)
        announcements.announce()


def said(findings: Sequence[Finding]) -> list[dict[str, str]]:
    """Write findings as a row and an answer keep them."""
    return [{"code": each.code, "reason": each.reason[:1_000]} for each in findings]


def on_of(admission: Admission) -> str:
    """Return what an admission is about, as people name it."""
    return f"asset/{admission.asset}" if admission.asset else str(admission.target)
