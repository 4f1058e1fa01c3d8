"""Examples for the API's description; a test holds each against its schema."""

from __future__ import annotations

from typing import Any

from resources.api.problems import Refused, document

Example = dict[str, Any]

STATUS_IN: Example = {
    "health": "healthy",
    "conditions": [{"type": "KPICompliant", "status": "True", "reason": "OnTarget"}],
}
STATUS: Example = {
    "health": "healthy",
    "conditions": [
        {
            "type": "KPICompliant",
            "status": "True",
            "reason": "OnTarget",
            "lastTransitionTime": "2026-02-25T10:00:00Z",
        }
    ],
}
RESOURCE_IN: Example = {
    "apiVersion": "ioa.dev/v0.2",
    "kind": "Domain",
    "metadata": {"name": "growth", "labels": {"tier": "production"}},
    "spec": {"purpose": "Wins and keeps customers."},
}
RESOURCE: Example = {
    **RESOURCE_IN,
    "metadata": {
        **RESOURCE_IN["metadata"],
        "uid": "5c0e5d0e-5f0c-4b6c-9a57-0b1f4d7a8a11",
        "generation": 3,
        "resourceVersion": "42",
        "createdAt": "2026-01-12T09:00:00Z",
        "updatedAt": "2026-02-25T10:00:00Z",
    },
    "status": STATUS,
}
LIST: Example = {"items": [RESOURCE], "nextCursor": "Imdyb3d0aCI:5T3…", "resourceVersion": "57"}
PATCH: Example = {"spec": {"purpose": "Wins customers."}, "metadata": {"labels": {"tier": None}}}
REVISIONS: Example = {
    "items": [
        {
            "resourceVersion": "42",
            "change": "MODIFIED",
            "generation": 3,
            "parts": ["declared"],
            "at": "2026-02-25T10:00:00Z",
            "actor": "person/alice",
        }
    ],
    "nextBefore": "42",
}
CONDITIONS: Example = {"items": STATUS["conditions"], "resourceVersion": "42"}
APPLY_IN: Example = {"items": [RESOURCE_IN]}
APPLIED: Example = {
    "items": [
        {
            "kind": "Domain",
            "name": "growth",
            "action": "changed",
            "differences": [
                {
                    "pointer": "/spec/purpose",
                    "operation": "replace",
                    "before": "Wins customers.",
                    "after": "Wins and keeps customers.",
                }
            ],
        }
    ],
    "written": False,
    "dryRun": True,
}
OBSERVATIONS_IN: Example = {
    "items": [
        {
            "kind": "Agent",
            "name": "growth-optimizer",
            "status": {"state": "running"},
            "observedAt": "2026-02-25T10:00:00Z",
        }
    ]
}
OBSERVED: Example = {
    "items": [
        {
            "kind": "Agent",
            "name": "growth-optimizer",
            "verdict": "changed",
            "resourceVersion": "43",
        }
    ]
}
CHANGES: Example = {
    "id": "43",
    "event": "MODIFIED",
    "data": '{"apiVersion":"ioa.dev/v0.2","kind":"Agent","metadata":{"name":"growth-optimizer"}}',
}
EVENTS: Example = {
    "items": [
        {
            "specversion": "1.0",
            "id": "58",
            "source": "/ioa/resource/5c0e5d0e-5f0c-4b6c-9a57-0b1f4d7a8a11",
            "type": "resource.spec-changed",
            "subject": "domain/growth",
            "time": "2026-02-25T10:00:00Z",
            "datacontenttype": "application/json",
            "data": {"generation": 3, "changed": ["/spec/purpose"], "resourceVersion": 42},
            "actor": "person/alice",
            "correlationid": "release-7",
            "sequence": "3",
        }
    ],
    "nextSince": "58",
}
VERDICT: Example = {"ok": True, "events": 58, "streams": 12, "checkpoints": 3, "findings": []}


def problem(status: int, slug: str, detail: str, **members: Any) -> Example:
    """Return a problem as a view would."""
    return document(Refused(status, slug, detail, **members))


FAULT = {"pointer": "/spec/purpose", "detail": "is required"}
PROBLEMS: dict[int, Example] = {
    400: problem(
        400, "invalid", "/spec/purpose: is required", pointer=FAULT["pointer"], errors=[FAULT]
    ),
    401: problem(401, "not-signed-in", "This token is unknown, expired or revoked."),
    403: problem(403, "forbidden", "Agents propose, people change specs."),
    404: problem(404, "not-found", "There is no domain/growth."),
    406: problem(
        406,
        "not-acceptable",
        "Accept application/json or application/yaml or text/yaml.",
        allowed=["application/json", "application/yaml", "text/yaml"],
    ),
    409: problem(409, "conflict", "This resource is now at version 43.", currentVersion="43"),
    410: problem(410, "gone", "Changes up to version 7 were dropped. List again, then watch."),
    413: problem(413, "too-large", "A body here has at most 256 kB."),
    415: problem(
        415,
        "unsupported-media-type",
        "Send application/merge-patch+json.",
        allowed=["application/merge-patch+json"],
    ),
    423: problem(423, "stopped", "It is paused by person/maya: Campaign week.", epoch="12"),
    428: problem(
        428,
        "precondition-required",
        'This resource exists: read it, then send If-Match: "42" with your change.',
        currentVersion="42",
    ),
    429: problem(429, "too-often", "Nothing was done. Try again in 1 s, and send more at once."),
    503: problem(503, "unavailable", "The database does not answer. Try again in a moment."),
}
