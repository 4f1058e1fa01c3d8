"""Agent: a worker of the organisation, bound to one domain."""

from __future__ import annotations

import re

from resources.documents.kind import V01, V02, Document, Kind, Link, conditions
from resources.documents.paths import objects, rename, rewrite

_ROLES = {"advisory": "analytical", "reactive": "observer"}


def _capability(text: str) -> Document:
    name = re.sub(r"\s+", "-", text.lower())[:40]
    return {"name": name, "type": "analysis", "description": text}


def _migrate(document: Document) -> None:
    for spec in objects(document, "spec"):
        spec.setdefault("role", _ROLES.get(str(spec.get("type")), "tactical"))
    for memory in objects(document, "spec.memory"):
        memory.setdefault("scope", "domain")


def _tolerate(document: Document) -> None:
    rename(document, "status.costConsumed.value", "cost")
    rewrite(document, "spec.memory.scope", lambda s: "agent-private" if s == "agent" else s)


KIND = Kind(
    name="Agent",
    path="agent",
    folder="agents",
    title="Agent",
    plural="Agents",
    icon="bot",
    order=2,
    versions=(V01, V02),
    own_conditions=conditions(
        Ready="It is able to work.",
        KPIsMet="Every objective with an observation is met.",
        BudgetHealthy="It spends no more than its share and its token budget.",
        SecurityCompliant="It violates no rule of its domain's security policies.",
        ExecutedOnSchedule="Its last run is no older than its schedule asks.",
    ),
    links=(
        Link("spec.domain", "Domain", "error", "1"),
        Link("spec.governance.escalatesTo", "Agent", "info", "16"),
        Link("spec.triggers[].event", "event", "info", "20"),
    ),
    unions={"spec.capabilities": _capability},
    tolerate=_tolerate,
    migrate=_migrate,
)
