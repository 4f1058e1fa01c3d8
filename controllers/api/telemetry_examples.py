"""Examples for the description of `/telemetry`; a test checks each."""

from __future__ import annotations

from typing import Any

Example = dict[str, Any]

AT = "2026-02-25T10:00:00Z"
STORY = "8de258d7-f286-4d86-b385-cadd0a678dfb"
EVENT: Example = {
    "id": "signup-4711",
    "event": "growth.signup_completed",
    "time": AT,
    "correlationId": STORY,
    "source": {"agent": "scribe", "domain": "growth"},
    "payload": {"plan": "team", "seats": 12},
}
BATCH: Example = {"items": [EVENT]}
TAKEN: Example = {
    "items": [
        {
            "id": "signup-4711",
            "event": "growth.signup_completed",
            "verdict": "flagged",
            "contract": "growth-signup-completed",
            "problems": [{"pointer": "/payload/seats", "detail": "does not fit: …"}],
            "flags": ["schema"],
        }
    ]
}
KEPT: Example = {
    **EVENT,
    "category": "metric",
    "severity": "info",
    "receivedAt": AT,
    "contract": "growth-signup-completed",
    "batch": "0b9a9ac8-3f61-4b6e-8a67-0c4a0b0a9f4e",
    "flags": ["schema"],
}
LIST: Example = {"items": [KEPT], "nextCursor": "IjQyIg:5T3…"}
