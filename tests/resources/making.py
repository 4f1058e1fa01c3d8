"""Small documents, and short ways to write them, for the tests of the core."""

from __future__ import annotations

from copy import deepcopy
from datetime import datetime
from typing import Any

from django.db.models import Model

from resources.documents.actor import Actor
from resources.documents.kind import Document
from resources.store import snapshots
from resources.tables.models import (
    ChangeCounter,
    Condition,
    Label,
    LedgerEvent,
    LedgerStream,
    Reference,
    Resource,
    ResourceRevision,
)
from resources.usecases import specs, statuses

ALICE = Actor("person", "alice")
ROBIN = Actor("agent", "robin")
TABLES: tuple[type[Model], ...] = (
    Resource,
    ResourceRevision,
    Condition,
    Label,
    Reference,
    LedgerEvent,
    LedgerStream,
    ChangeCounter,
)
SMALLEST: dict[str, Document] = {
    "Domain": {"purpose": "Bring ships in."},
    "Agent": {"domain": "harbour", "type": "supervised", "purpose": "Plan berths."},
    "Budget": {"domain": "harbour", "period": "2026-Q4"},
    "SecurityPolicy": {"domain": "harbour"},
    "Controller": {"targetKind": "Domain", "reconcileInterval": "5m"},
    "Governance": {"domain": "harbour"},
}


def made(
    kind: str,
    name: str,
    spec: Document | None = None,
    *,
    metadata: Document | None = None,
    status: Document | None = None,
) -> Document:
    """Make a document with the least a kind needs."""
    document = {
        "apiVersion": "ioa.dev/v0.2",
        "kind": kind,
        "metadata": {"name": name} | (metadata or {}),
        "spec": deepcopy(SMALLEST[kind]) | (spec or {}),
    }
    return document | ({"status": status} if status else {})


def owned(
    kind: str, name: str, *owners: tuple[str, str, str], spec: Document | None = None
) -> Document:
    """Make a document with owners, each a kind, a name and a delete policy."""
    listed = [{"kind": k, "name": n, "deletePolicy": policy} for k, n, policy in owners]
    return made(kind, name, spec, metadata={"ownerReferences": listed})


def apply(now: datetime, *documents: Document, **options: Any) -> specs.Outcome:
    """Apply documents as Alice."""
    return specs.apply(
        [specs.DesiredDocument(each) for each in documents], actor=ALICE, now=now, **options
    )


def actions(outcome: specs.Outcome) -> list[str]:
    return [each.action for each in outcome.results]


def report(now: datetime, name: str, status: Document, **options: Any) -> statuses.Observed:
    """Let the agent of that name report its status."""
    told = statuses.Report("Agent", name, status, **options)
    return statuses.observe([told], actor=Actor("agent", name), now=now)[0]


def live(kind: str, name: str) -> Resource:
    return Resource.objects.get(kind=kind, name=name, deleted_at=None)


def shown(kind: str, name: str) -> Document:
    """Return the whole document of a live resource."""
    row = live(kind, name)
    return snapshots.document_of(row, row.conditions.all())


def condition(kind: str, name: str, type_: str) -> Condition | None:
    return Condition.objects.filter(resource=live(kind, name), type=type_).first()


def everything() -> dict[str, list[Any]]:
    """Return every row of the core, to see that nothing was written."""
    return {each.__name__: list(each._default_manager.order_by("pk").values()) for each in TABLES}
