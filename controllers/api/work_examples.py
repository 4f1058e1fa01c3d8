"""Examples for the description of work and outside controllers; a test checks each."""

from __future__ import annotations

from controllers.api.decision_examples import DIGEST
from controllers.api.examples import AT, STORY, SUMMARY, Example

ACTION: Example = {
    "id": 31,
    "proposal": 17,
    "sequence": 1,
    "operation": "restart",
    "parameters": {"agent": "copywriter"},
    "target": "agent/copywriter",
    "for": "agent/copywriter",
    "state": "waiting",
    "undoes": False,
    "key": DIGEST,
    "attempts": 0,
    "why": "copywriter does not answer.",
    "correlationId": STORY,
    "executeBefore": "2026-02-25T11:00:00Z",
}
ACTIONS: Example = {"items": [ACTION], "nextCursor": "IjMxIg:5T3…"}
BEAT: Example = {"fence": "4", "epoch": "12"}
PROGRESS: Example = {**BEAT, "percent": 40, "note": "Draining the queue."}
CLAIM: Example = {
    "id": 31,
    **BEAT,
    "deadline": "2026-02-25T10:01:00Z",
    "ttlSeconds": 60,
    "key": DIGEST,
    "operation": "restart",
    "parameters": {"agent": "copywriter"},
    "target": "agent/copywriter",
}
REPORTED: Example = {"fence": "4", "outcome": "success", "outputs": {"pid": 4711}}
DONE: Example = {
    **ACTION,
    "state": "done",
    "attempts": 1,
    "outputs": {"pid": 4711},
    "startedAt": AT,
    "endedAt": "2026-02-25T10:00:20Z",
}
HOLD: Example = {
    "id": 7,
    "kind": "pause",
    "scope": "domain",
    "reason": "Campaign week.",
    "author": "person/maya",
    "domain": "growth",
    "inFlight": "stop",
    "endsAt": "2026-03-04T10:00:00Z",
}
TOLD: Example = {
    "epoch": "12",
    "holds": [HOLD],
    "onlyProposes": False,
    "resync": False,
    "asked": ["agent/copywriter"],
}
PULSE: Example = {"fence": "4"}
OPENING: Example = {"full": True}
OPENED: Example = {
    "cycle": SUMMARY | {"outcome": "running", "holder": "token/Ab3dE9xZ"},
    "fence": "4",
    "leasedUntil": "2026-02-25T10:01:00Z",
    "correlationId": STORY,
    **TOLD,
}
FINDINGS: Example = {
    "fence": "4",
    "findings": [
        {
            "resource": "agent/copywriter",
            "version": "1207",
            "complete": True,
            "dimensions": {
                "health": {
                    "score": 0.8,
                    "of": 3,
                    "evidence": [
                        {
                            "subject": "condition/Ready",
                            "verdict": "missed",
                            "desired": "True",
                            "observed": "False",
                            "at": AT,
                        }
                    ],
                }
            },
            "condition": {"reason": "Unresponsive", "message": "It does not answer."},
            "actions": [{"operation": "restart", "why": "It does not answer."}],
        }
    ],
}
HEARD: Example = {
    "items": [
        {
            "resource": "agent/copywriter",
            "verdict": "taken",
            "version": "1207",
            "score": 0.8,
            "drifted": True,
            "status": "False",
            "reason": "Unresponsive",
            "message": "It does not answer.",
            "actions": [
                {
                    "operation": "restart",
                    "kind": "change",
                    "risk": "low",
                    "result": "planned",
                    "disposition": "run",
                    "code": "ModeEnforce",
                    "reason": "The policy lets it run.",
                }
            ],
        }
    ],
    **TOLD,
}
CLOSING: Example = {
    "fence": "4",
    "outcome": "completed",
    "counts": {"watched": 6},
    "times": {"watch": 37.6, "diff": 9.7},
}
CLOSED: Example = {"cycle": SUMMARY, **TOLD}
