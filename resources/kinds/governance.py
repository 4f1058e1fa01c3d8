"""Governance: who may do what in a domain, how problems climb, how a person steps in."""

from __future__ import annotations

from resources.kind import V01, V02, Document, Kind, Link, conditions
from resources.paths import objects


def _migrate(document: Document) -> None:
    for spec in objects(document, "spec"):
        spec.setdefault("compliance", {"standards": [], "requirements": []})


KIND = Kind(
    name="Governance",
    path="governance",
    folder="governance",
    title="Governance",
    plural="Governance",
    icon="landmark",
    order=5,
    versions=(V01, V02),
    own_conditions=conditions(
        PolicyActive="It and every policy it extends are in force.",
        Compliant="Its compliance status is compliant.",
        OverrideResponsive="No override request waits longer than declared.",
        OverrideTested="The way for a person to step in was tried within a month.",
        AuditActive="The audit log covers what it asks for.",
    ),
    links=(
        Link("spec.domain", "Domain", "error", "7", wildcard=True),
        Link("spec.extends", "Governance", "error", "14"),
    ),
    migrate=_migrate,
)
