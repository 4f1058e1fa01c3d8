"""An event as its sender tells it, and what is found wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from resources.documents.canonical import digest
from resources.tables.ledger import instant

# What is wrong, by name.
Code = Literal[
    "name",
    "size",
    "time",
    "source",
    "uncontracted",
    "category",
    "severity",
    "correlation",
    "schema",
    "pii",
    "injection",
]
# What follows: it is not taken; it is taken and marked; it is taken and only written down.
Effect = Literal["refuse", "flag", "note"]
EFFECTS: dict[str, Effect] = {
    "enforce": "refuse",
    "warn": "flag",
    "advise": "flag",
    "observe": "note",
}


class Finding(NamedTuple):
    """One thing that is wrong with an event, and what follows from it."""

    code: Code
    pointer: str
    message: str
    effect: Effect
    # The policy that asks for it, and what it looks for.
    policy: str = ""
    pattern: str = ""


@dataclass(frozen=True)
class Arrival:
    """One event; what its sender left out is empty."""

    event: str
    payload: dict[str, Any] = field(default_factory=dict)
    # What its sender names it by; nothing when the sender does not care.
    uid: str = ""
    category: str = ""
    severity: str = ""
    at: datetime | None = None
    correlation_id: str = ""
    causation_id: str = ""
    # Who the sender says it is.
    agent: str = ""
    domain: str = ""

    def told(self) -> str:
        """Return the digest of what was told: the same event has the same one."""
        return digest(
            {
                "event": self.event,
                "category": self.category,
                "severity": self.severity,
                "time": instant(self.at) if self.at else "",
                "correlationId": self.correlation_id,
                "causationId": self.causation_id,
                "payload": self.payload,
            }
        )
