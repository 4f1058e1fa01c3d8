"""Documents of the small organisations that promises are shown with."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]


def document(kind: str, name: str, spec: dict[str, Any], **metadata: Any) -> Document:
    """Return one document of the standard."""
    owner = {"name": "Ana", "role": "lead"}
    about = {"name": name, "owner": owner, **metadata}
    return {"apiVersion": "ioa.dev/v0.2", "kind": kind, "metadata": about, "spec": spec}


def domain(name: str, **spec: Any) -> Document:
    """Return a domain."""
    return document("Domain", name, {"purpose": "Ships parcels.", **spec})


def agent(name: str, place: str, *, labels: dict[str, str] | None = None, **spec: Any) -> Document:
    """Return an agent of a domain, with one objective: errors stay at or below 5 percent."""
    most = {"name": "errorRate", "operator": "lte", "value": 0.05}
    own = {"domain": place, "type": "autonomous", "purpose": "Packs.", "objectives": [most]}
    return document("Agent", name, {**own, **spec}, labels=labels or {})


def budget(name: str, place: str, tokens: int, **spec: Any) -> Document:
    """Return the tokens that a domain may spend in a month."""
    limits = {"tokens": {"monthly": tokens}}
    return document(
        "Budget", name, {"domain": place, "period": "monthly", "limits": limits, **spec}
    )


def policy(name: str, place: str, **spec: Any) -> Document:
    """Return a policy of four rules: an identity, a defence, and the scopes of two assets."""
    scopes = [
        {"resource": f"{name}-{each}", "classification": "internal", "allowedOperations": ["read"]}
        for each in ("a", "b")
    ]
    own = {
        "domain": place,
        "agentIdentity": {"required": True, "method": "token"},
        "promptInjectionDefense": {"enabled": True, "onDetection": "block"},
        "dataScopes": scopes,
    }
    return document("SecurityPolicy", name, {**own, **spec})


def controller(name: str, kind: str, label: str = "", **spec: Any) -> Document:
    """Return a controller of what carries `by: label`, or of a whole kind.

    Its interval is long: what happens in a test happens because the test asked for it.
    """
    own = {
        "targetKind": kind,
        "targetSelector": {"matchLabels": {"by": label}} if label else {},
        "reconcileInterval": "1h",
        "driftThreshold": 0.15,
        "enforcementMode": "warn",
        "actions": {"onDrift": [{"type": "reconcile", "strategy": "immediate"}]},
    }
    return document("Controller", name, {**own, **spec})
