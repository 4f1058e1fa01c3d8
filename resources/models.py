"""Django's door to the tables of `resources`: the registry of apps imports this module by name."""

from __future__ import annotations

from resources.tables.models import (
    AgentToken,
    ChangeCounter,
    Checkpoint,
    Compaction,
    Condition,
    DirtyMark,
    Label,
    LedgerEvent,
    LedgerStream,
    Reference,
    Resource,
    ResourceRevision,
)

__all__ = [
    "AgentToken",
    "ChangeCounter",
    "Checkpoint",
    "Compaction",
    "Condition",
    "DirtyMark",
    "Label",
    "LedgerEvent",
    "LedgerStream",
    "Reference",
    "Resource",
    "ResourceRevision",
]
