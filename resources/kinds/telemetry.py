"""Telemetry: the contract of one event: its name, its payload and who watches it."""

from __future__ import annotations

from resources.kind import V01, V02, Document, Kind, Link, conditions
from resources.paths import from_text, objects, rewrite


def _with_underscores(event: str) -> str:
    prefix, dot, action = event.partition(".")
    return f"{prefix}{dot}{action.replace('-', '_')}"


def _tolerate(document: Document) -> None:
    rewrite(document, "spec.event", from_text(_with_underscores))


def _migrate(document: Document) -> None:
    for spec in objects(document, "spec"):
        spec.setdefault("severity", "info")
        spec.setdefault("correlationId", {"required": False, "format": "uuid"})


KIND = Kind(
    name="Telemetry",
    path="telemetry",
    folder="telemetry",
    title="Telemetry",
    plural="Telemetry",
    icon="activity",
    order=8,
    versions=(V01, V02),
    own_conditions=conditions(
        EmittingNormally="Events arrive and fit their contract.",
        AlertRuleQuiet="Its alert condition does not hold.",
        RetentionApplied="No event is kept longer than declared.",
    ),
    domain_path="spec.source.domain",
    links=(
        Link("spec.source.domain", "Domain", "error", "3"),
        Link("spec.source.agent", "Agent", "error", "4"),
        Link("spec.metricsImpacted[]", "kpi", "info", "21"),
    ),
    declares=(("event", "spec.event"),),
    # A payload is a JSON Schema, in which null has a meaning of its own.
    nullable=("spec.payload.",),
    tolerate=_tolerate,
    migrate=_migrate,
)
