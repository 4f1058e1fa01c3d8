"""Governance: who may do what in a domain, how problems climb, how a person steps in."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from resources.durations import parse_duration
from resources.kind import (
    V01,
    V02,
    Document,
    Kind,
    Link,
    Problem,
    conditions,
    lost,
    rank,
    weaker,
)
from resources.paths import objects


def _migrate(document: Document) -> None:
    for spec in objects(document, "spec"):
        spec.setdefault("compliance", {"standards": [], "requirements": []})


def _lowered(before: Document, after: Document) -> Iterator[Problem]:
    """Say which guards a change weakens: the audit, the way to step in, a path of escalation."""
    for path in ("spec.audit.enabled", "spec.humanOverride.enabled"):
        yield from weaker(before, after, path, rank((False, True), False))
    yield from weaker(before, after, "spec.humanOverride.drillEvery", _frequency)
    yield from weaker(before, after, "spec.audit.level", rank(("none", "summary", "full"), "none"))
    yield from lost(before, after, "spec.escalation.paths", _kept)


def _frequency(declared: Any) -> float:
    """Measure how often drills are run: the rarer, the weaker; none is the weakest."""
    every = parse_duration(declared) if isinstance(declared, str) else None
    return -every.total_seconds() if every else float("-inf")


def _kept(old: Document, new: Document) -> bool:
    """Tell whether a path still tells the same people, as soon and as early."""
    alike = all(old.get(name) == new.get(name) for name in ("role", "channel"))
    return alike and new["level"] <= old["level"] and _patience(new) <= _patience(old)


def _patience(path: Document) -> timedelta:
    return parse_duration(path.get("timeout", "")) or timedelta.max


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
    proven=("lastOverrideTest",),
    lowered=_lowered,
    migrate=_migrate,
)
