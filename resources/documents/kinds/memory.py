"""Memory: something the organisation learned and keeps."""

from __future__ import annotations

from collections.abc import Iterator

from resources.documents.kind import Document, Kind, Link, Reference, conditions
from resources.documents.paths import at, rewrite, texts


def _references(document: Document) -> Iterator[Reference]:
    for pointer, reference in at(document, "spec.references[]"):
        for _, target in texts(reference, "kind"):
            for _, name in texts(reference, "name"):
                yield Reference(f"{pointer}/name", target, name, "warning", "19")


def _tolerate(document: Document) -> None:
    rewrite(document, "spec.scope", lambda s: "agent" if s == "agent-private" else s)


KIND = Kind(
    name="Memory",
    path="memory",
    folder="memory",
    title="Memory",
    plural="Memories",
    icon="brain",
    order=9,
    own_conditions=conditions(
        RetentionApplied="It is archived or expired when its retention says so.",
        LifecycleInSync="It is marked superseded when another memory replaces it.",
    ),
    domain_path="spec.sourceDomain",
    links=(
        Link("spec.sourceAgent", "Agent", "warning", "11"),
        Link("spec.sourceDomain", "Domain", "warning", "11"),
        Link("spec.supersedes", "Memory", "warning", "19"),
    ),
    own_references=_references,
    tolerate=_tolerate,
)
