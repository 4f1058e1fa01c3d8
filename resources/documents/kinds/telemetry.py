"""Telemetry: the contract of one event: its name, its payload and who watches it."""

from __future__ import annotations

from collections.abc import Iterator

from resources.documents.expressions import read_action
from resources.documents.expressions.syntax import Invalid
from resources.documents.kind import MODES, V01, V02, Document, Fault, Kind, Link, conditions
from resources.documents.paths import from_text, objects, rewrite, texts
from resources.documents.weakening import rank, weaker

_EXPRESSION = "spec.observability.alertRule.condition.expression"


def _checks(document: Document) -> Iterator[Fault]:
    for pointer, expression in texts(document, _EXPRESSION):
        try:
            read_action(f"check {expression}", "Telemetry")
        except Invalid as error:
            yield Fault(pointer, str(error))


def _lowered(before: Document, after: Document) -> Iterator[Fault]:
    """Say whether events may break the contract more easily than before."""
    yield from weaker(before, after, "spec.enforcementMode", rank(MODES, "warn"))


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
    own_checks=_checks,
    lowered=_lowered,
    tolerate=_tolerate,
    migrate=_migrate,
)
