"""SecurityPolicy: what agents of a domain may touch, and how that is proven."""

from __future__ import annotations

from collections.abc import Iterator

from resources.documents.kind import MODES, Document, Fault, Kind, Link, conditions
from resources.documents.paths import objects
from resources.documents.weakening import rank, weaker

# What can be switched off, and how it stands when nothing is said.
_SWITCHES = {
    "spec.agentIdentity.required": True,
    "spec.zeroTrust.enabled": False,
    "spec.zeroTrust.verifyOnEveryCall": False,
    "spec.auditTrail.immutable": True,
    "spec.promptInjectionDefense.enabled": True,
    "spec.promptInjectionDefense.sanitizeInputs": False,
}
_DETECTION = "spec.promptInjectionDefense.onDetection"


def _tolerate(document: Document) -> None:
    for status in objects(document, "status"):
        violations = status.get("violations")
        if isinstance(violations, dict) and isinstance(violations.get("total"), int | float):
            status["violationsDetail"] = violations
            status["violations"] = violations["total"]


def _lowered(before: Document, after: Document) -> Iterator[Fault]:
    """Say which guards a change weakens: the mode, a defence, the answer to an attack."""
    yield from weaker(before, after, "spec.enforcementMode", rank(MODES, "warn"))
    yield from weaker(before, after, _DETECTION, rank(("log", "warn", "block"), "log"))
    for path, usual in _SWITCHES.items():
        yield from weaker(before, after, path, rank((False, True), usual))


KIND = Kind(
    name="SecurityPolicy",
    path="securitypolicy",
    folder="security",
    title="Security policy",
    plural="Security policies",
    icon="shield-check",
    order=4,
    own_conditions=conditions(
        SecurityCompliant="None of its rules is violated.",
        ThreatLevelAcceptable="Its threat level is below high.",
        AuditCurrent="Its last audit is no older than its audit interval.",
    ),
    links=(
        Link("spec.domain", "Domain", "warning", "18", wildcard=True),
        Link("spec.dataScopes[].allowedAgents[]", "Agent", "warning", "18"),
        Link("spec.dataScopes[].resource", "asset", "warning", "18"),
    ),
    lowered=_lowered,
    tolerate=_tolerate,
)
