"""Examples for the description of the endpoints about decisions; a test checks each."""

from __future__ import annotations

from controllers.api.examples import AT, STORY, Example

DIGEST = "5e1f3a7d0c9b8a6e4f2d1c0b9a8f7e6d5c4b3a29181706f5e4d3c2b1a0f9e8d7"
BASIS = "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"
LATER = "2026-03-04T10:00:00Z"
WHY = "copywriter is beyond its limits: daily tokens 1,420,000 of 1,000,000."
ACTION: Example = {
    "sequence": 2,
    "type": "reconcile",
    "operation": "throttle",
    "kind": "change",
    "target": "agent/copywriter",
    "parameters": {"agent": "copywriter", "factor": 0.7},
    "risk": "low",
    "reversible": True,
    "why": WHY,
    "otherwise": "copywriter goes on at full speed, beyond its limits.",
    "touches": ["spec.tokenBudget.maxDaily"],
}
SUMMARY: Example = {
    "id": 17,
    "resource": "agent/copywriter",
    "domain": "growth",
    "proposer": "controller/agent-performance",
    "state": "pending",
    "lane": "ask",
    "mode": "warn",
    "revision": 1,
    "actionDigest": DIGEST,
    "tag": f"1:{DIGEST}",
    "operations": ["throttle"],
    "explanation": WHY,
    "risk": "low",
    "reversible": True,
    "people": 1,
    "score": 0.42,
    "urgency": "medium",
    "cause": BASIS,
    "correlationId": STORY,
    "createdAt": AT,
    "changedAt": AT,
    "confirmedAt": AT,
    "expiresAt": LATER,
}
PROPOSALS: Example = {"items": [SUMMARY], "nextCursor": "IjE3Ig:5T3…"}
PROPOSAL: Example = {
    **SUMMARY,
    "actions": [ACTION],
    "basis": {"controller": 3, "generation": 5, "related": "", "policy": {}, "reads": {}},
    "basisDigest": BASIS,
    "policy": {},
    "evidence": [{"dimension": "budget", "subject": "budget/daily tokens", "verdict": "missed"}],
    "decisions": [],
    "steps": [],
    "deciders": ["maya", "tomas"],
    "entitled": [
        {"person": "maya", "why": "approver, in board", "groups": ["board"]},
        {"person": "tomas", "why": "approver"},
    ],
    "quorum": {
        "people": 1,
        "given": 0,
        "missing": 1,
        "policies": [{"governance": "growth", "name": "campaigns", "people": 1, "group": "board"}],
        "groups": [{"group": "board", "people": 1, "given": 0, "exists": True}],
        "reason": "It needs 1 of board more.",
    },
    "allowed": ["approve", "reject", "change", "override", "snooze"],
    "you": {"mayDecide": True},
}
FILING: Example = {
    "resource": "agent/copywriter",
    "actions": [{"operation": "throttle", "parameters": {"agent": "copywriter", "factor": 0.7}}],
    "why": "The campaign is over.",
}
REVISING: Example = {"actions": FILING["actions"], "why": "A little less, as you asked."}
ANSWER: Example = {"reason": "Agreed with the team."}
MANY: Example = {
    "answer": "approve",
    "items": [{"id": 17, "tag": f"1:{DIGEST}"}],
}
RESULTS: Example = {
    "items": [
        {"id": 17, "result": "done", "state": "approved", "tag": f"1:{DIGEST}"},
        {"id": 18, "result": "decided", "detail": "It is rejected, decided by person/tomas: No."},
    ],
    "done": 1,
}
CAUSES: Example = {
    "items": [
        {
            "cause": BASIS,
            "count": 12,
            "together": 11,
            "worst": 0.61,
            "oldest": AT,
            "expiresAt": LATER,
            "sample": SUMMARY,
        }
    ]
}
HOLD: Example = {
    "id": 4,
    "kind": "pause",
    "scope": "controller",
    "controller": "controller/agent-performance",
    "inFlight": "stop",
    "reason": "It throttles agents that are meant to be busy today.",
    "author": "person/ines",
    "owner": "ines",
    "epoch": "12",
    "placedAt": AT,
    "endsAt": LATER,
}
HOLDS: Example = {"items": [HOLD], "epoch": "12"}
HOLDING: Example = {
    "kind": "pause",
    "scope": "controller",
    "controller": "agent-performance",
    "reason": HOLD["reason"],
}
UNDER_WAY: Example = {
    "proposal": 16,
    "operation": "restart",
    "target": "agent/scribe",
    "state": "dispatched",
    "deadline": "2026-02-25T10:00:07Z",
}
PLACED: Example = {
    "hold": HOLD,
    "inFlight": [UNDER_WAY],
    "detail": "1 call already on the wire, drained by 10:00:07 UTC.",
}
HOLD_RECORD: Example = {
    "hold": HOLD,
    "underWay": [],
    "preview": {"hold": 4, "runs": 0, "proposals": [], "shadows": []},
}
LIFTING: Example = {"reason": "The day is over."}
RENEWING: Example = {"reason": "The week is not over.", "endsAt": LATER}
