"""Governance: who may do what in a domain, how problems climb, how a person steps in."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from resources.documents.durations import parse_duration
from resources.documents.kind import V01, V02, Document, Fault, Kind, Link, conditions
from resources.documents.paths import objects
from resources.documents.weakening import lost, rank, weaker

POLICIES = "spec.approvalPolicies"


def _migrate(document: Document) -> None:
    for spec in objects(document, "spec"):
        spec.setdefault("compliance", {"standards": [], "requirements": []})


def _lowered(before: Document, after: Document) -> Iterator[Fault]:
    """Say which guards a change weakens: audit, stepping in, escalation, who has to approve."""
    for path in ("spec.audit.enabled", "spec.humanOverride.enabled"):
        yield from weaker(before, after, path, rank((False, True), False))
    yield from weaker(before, after, "spec.humanOverride.drillEvery", _frequency)
    yield from weaker(before, after, "spec.audit.level", rank(("none", "summary", "full"), "none"))
    yield from lost(before, after, "spec.escalation.paths", _kept)
    yield from lost(before, after, POLICIES, _as_strict)
    yield from _elsewhere(before, after)


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


def _as_strict(old: Document, new: Document) -> bool:
    """Tell whether a policy still asks as many of the same people, about everything it did."""
    as_many = new.get("people", 1) >= old.get("people", 1)
    same_group = old.get("group", "") in ("", new.get("group", ""))
    was, becomes = old.get("match") or {}, new.get("match") or {}
    return as_many and same_group and all(_covers(was, becomes, name) for name in becomes)


def _covers(was: Document, becomes: Document, name: str) -> bool:
    """Tell whether a match lets through what it let through before."""
    if name not in was:
        return False
    listed = isinstance(was[name], list) and isinstance(becomes[name], list)
    return set(was[name]) <= set(becomes[name]) if listed else was[name] == becomes[name]


def _elsewhere(before: Document, after: Document) -> Iterator[Fault]:
    """Say when policies would no longer count where they do; those it extends count, too."""
    here, there = (next(objects(each, "spec"), {}) for each in (before, after))
    was, becomes = here.get("domain"), there.get("domain")
    if here.get("approvalPolicies") and was != becomes and becomes != "*":
        said = f"spec.approvalPolicies would count in {becomes} and no longer in {was}"
        yield Fault("/spec/domain", said)
    parent = here.get("extends")
    if parent and there.get("extends") != parent:
        yield Fault("/spec/extends", f"what governance/{parent} asks for would no longer count")


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
    guards=(POLICIES,),
    migrate=_migrate,
)
