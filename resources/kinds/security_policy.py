"""SecurityPolicy: what agents of a domain may touch, and how that is proven."""

from __future__ import annotations

from resources.kind import Document, Kind, Link, conditions
from resources.paths import objects


def _tolerate(document: Document) -> None:
    for status in objects(document, "status"):
        violations = status.get("violations")
        if isinstance(violations, dict) and isinstance(violations.get("total"), int | float):
            status["violationsDetail"] = violations
            status["violations"] = violations["total"]


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
    tolerate=_tolerate,
)
