"""What changed since somebody looked: the facts of two revisions, side by side."""

from __future__ import annotations

from typing import Any

from controllers.decisions import proposals
from controllers.models import Proposal
from resources.documents.differences import compare
from resources.tables.models import LedgerEvent


def since(proposal: Proposal, revision: int) -> list[dict[str, Any]]:
    """Return what is different from a revision somebody saw: where, before and after."""
    before = seen_then(proposal, revision)
    if before is None:
        return []
    return [
        {
            "what": each.pointer.split("/")[1],
            "pointer": each.pointer,
            "operation": each.operation,
            "before": each.before,
            "after": each.after,
        }
        for each in compare(before, proposals.facts(proposal))
    ]


def seen_then(proposal: Proposal, revision: int) -> dict[str, Any] | None:
    """Return the facts of a revision, as the ledger kept them when it began."""
    told = LedgerEvent.objects.filter(stream=proposal.stream).order_by("seq")
    for payload in told.values_list("payload", flat=True):
        if payload and payload.get("revision") == revision and "facts" in payload:
            facts: dict[str, Any] = payload["facts"]
            return facts
    return None
