"""Decision: a choice the organisation made, why, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator

from resources.documents.kind import V01, V02, Document, Fault, Kind, Link, conditions
from resources.documents.paths import objects, rename, texts


def _decider(name: str) -> Document:
    return {"name": name, "role": "decider"}


def _checks(document: Document) -> Iterator[Fault]:
    options = [name for _, name in texts(document, "spec.options[].name")]
    for pointer, chosen in texts(document, "spec.chosen"):
        if options and chosen not in options:
            yield Fault(pointer, f"must be one of the options: {', '.join(options)}", "warning")


def _migrate(document: Document) -> None:
    for spec in objects(document, "spec"):
        spec.setdefault("assumptions", [])
        spec.setdefault("initiatedBy", {"type": "human", "name": "unknown"})


def _tolerate(document: Document) -> None:
    rename(document, "status.executionCost.cost", "value")


KIND = Kind(
    name="Decision",
    path="decision",
    folder="decisions",
    title="Decision",
    plural="Decisions",
    icon="scale",
    order=7,
    versions=(V01, V02),
    own_conditions=conditions(
        ReviewCurrent="Its review date has not passed.",
        AssumptionsValid="None of its assumptions is invalidated.",
        LifecycleInSync="What is declared about its state agrees with what is observed.",
        KPIsMet="Its measured impact reaches what was expected.",
    ),
    links=(
        Link("spec.domain", "Domain", "error", "2"),
        Link("spec.relatedWorkflow", "Workflow", "warning", "15"),
        Link("spec.supersededBy", "Decision", "warning", "15"),
        Link("spec.kpiImpact[].kpi", "kpi", "info", "21"),
    ),
    unions={"spec.deciders": _decider},
    nullable=("spec.supersededBy",),
    own_checks=_checks,
    tolerate=_tolerate,
    migrate=_migrate,
)
