"""What to know about a resource at a glance: a few fields of its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from controllers.narrative.event_text import shortly
from resources.documents import paths
from resources.documents.kind import Document


class Fact(NamedTuple):
    """One thing to know."""

    name: str
    value: str


# The fields of each kind: those of one text are one figure, the others are listed.
FIELDS: Mapping[str, Sequence[tuple[str, Sequence[str]]]] = {
    "Agent": (
        ("Type", ("spec.type", "spec.role")),
        ("Model", ("spec.model.name", "spec.model.version")),
        ("Schedule", ("spec.schedule.type", "spec.schedule.cron")),
        ("State", ("status.state",)),
        ("Health", ("status.healthScore",)),
        ("Cost", ("status.costConsumed.cost status.costConsumed.currency",)),
        ("Tokens", ("status.costConsumed.tokens", "status.costConsumed.period")),
    ),
    "Budget": (
        ("Period", ("spec.period",)),
        ("Enforcement", ("spec.enforcement",)),
        ("Used", ("status.utilizationRate",)),
        ("Cost", ("status.consumed.cost status.consumed.currency",)),
    ),
    "Domain": (
        ("Health", ("status.health",)),
        ("Agents", ("status.activeAgents",)),
        ("Incidents", ("status.activeIncidents",)),
        ("Cost", ("status.costToDate.value status.costToDate.currency",)),
    ),
    "Workflow": (
        ("State", ("status.state",)),
        ("Step", ("status.currentStep",)),
        ("Time limit", ("spec.timeout",)),
        ("On failure", ("spec.failurePolicy",)),
    ),
    "Decision": (
        ("Status", ("spec.status",)),
        ("Chosen", ("spec.chosen",)),
        ("Decided", ("spec.date",)),
        ("Review", ("spec.reviewDate",)),
    ),
    "SecurityPolicy": (
        ("Threat", ("status.threatLevel",)),
        ("Violations", ("status.violations",)),
        ("Blocked", ("status.blockedOperations",)),
    ),
    "Memory": (
        ("Scope", ("spec.scope",)),
        ("Kept for", ("spec.retention.duration",)),
        ("State", ("status.state",)),
    ),
    "Telemetry": (
        ("Event", ("spec.event",)),
        ("Severity", ("spec.severity",)),
        ("Rate", ("status.eventRate",)),
    ),
    "Governance": (
        ("Extends", ("spec.extends",)),
        ("Standing", ("status.complianceStatus",)),
    ),
    "Controller": (
        ("Watches", ("spec.targetKind",)),
        ("Mode", ("spec.enforcementMode",)),
        ("Interval", ("spec.reconcileInterval",)),
        ("Drift limit", ("spec.driftThreshold",)),
    ),
}


def of(kind: str, spec: Document, status: Document) -> list[Fact]:
    """Return what is known of the fields of a kind."""
    document = {"spec": spec, "status": status}
    found = []
    for name, places in FIELDS.get(kind, ()):
        figures = [" ".join(values(document, each)) for each in places]
        if any(figures):
            found.append(Fact(name, ", ".join(filter(None, figures))))
    return found


def values(document: Document, places: str) -> list[str]:
    """Return what stands at some places, where it is one plain value."""
    found = [value for place in places.split() for _, value in paths.at(document, place)]
    return [shortly(each) for each in found if isinstance(each, str | int | float) and each != ""]
