"""Examples for the description of the endpoints about controllers; a test checks each."""

from __future__ import annotations

from typing import Any

Example = dict[str, Any]

AT = "2026-02-25T10:00:00Z"
STORY = "8de258d7-f286-4d86-b385-cadd0a678dfb"
WHY = "2 of 4 KPIs miss their target: monthly-churn is 6.1 (wanted < 5 percent)."

REASON: Example = {"reason": "The churn figures were corrected."}
REQUESTED: Example = {
    "controller": "controller/domain-health",
    "request": {"by": "person/alice", "runAt": AT, **REASON},
    "lastCycle": 41,
}
ACTION: Example = {
    "type": "reconcile",
    "operation": "scale-agents",
    "target": "domain/growth",
    "result": "planned",
    "reason": "ask",
    "why": "Bring the domain's agents back to strength",
}
SUMMARY: Example = {
    "controller": "controller/domain-health",
    "number": 42,
    "outcome": "drift_reported",
    "full": True,
    "reasons": ["interval", "manual"],
    "requestedBy": "person/alice",
    "message": REASON["reason"],
    "mode": "warn",
    "generation": 3,
    "revision": "1207",
    "holder": "node-1-4711-5c0e5d0e",
    "correlationId": STORY,
    "startedAt": AT,
    "finishedAt": "2026-02-25T10:00:00.120000Z",
    "durationMs": 120,
    "counts": {"watched": 6, "judged": 6, "drifted": 1, "actions": 1, "planned": 1, "hooks": 1},
    "times": {"watch": 37.641, "diff": 9.655, "plan": 1.181, "act": 0.033, "report": 72.384},
}
CYCLES: Example = {"items": [SUMMARY], "nextCursor": "IjQyIg:5T3…"}
HOOK: Example = {
    "target": "domain/growth",
    "name": "budget-allows",
    "action": "check budget.status.utilizationRate < 0.9",
    "passed": True,
    "reason": "",
    "observed": {"budget.status.utilizationRate": 0.685},
}
CYCLE: Example = {
    **SUMMARY,
    "hooks": [HOOK],
    "actions": [ACTION],
    "result": {
        "timestamp": AT,
        "resourcesFound": 6,
        "diffsDetected": 1,
        "decisionsMade": 1,
        "executionErrors": [],
        "durationMs": 120,
        "decisions": [ACTION],
    },
}
ALERT: Example = {
    "id": "7",
    "controller": "controller/domain-health",
    "resource": "domain/growth",
    "reason": "Drift",
    "channel": "slack-growth",
    "severity": "warning",
    "message": f"domain/growth: {WHY}",
    "open": True,
    "raisedAt": AT,
    "correlationId": STORY,
    "delivery": {"state": "sent", "attempts": 1, "sentAt": AT},
}
ALERTS: Example = {"items": [ALERT], "nextCursor": "Ijci:5T3…"}
RECORD: Example = {
    "proposer": "controller/domain-health",
    "since": "2025-11-27T10:00:00Z",
    "proposals": 12,
    "states": {"pending": 2, "succeeded": 6, "failed": 1, "rejected": 1, "overridden": 2},
    "decided": 10,
    "approved": 7,
    "byPolicy": 3,
    "rejected": 1,
    "overridden": 2,
    "changed": 1,
    "overrideRate": 0.2,
    "outcomes": {"effective": 6, "ineffective": 1, "worse": 0},
}
DRIFT: Example = {
    "items": [
        {
            "controller": "controller/domain-health",
            "score": 0.21,
            "threshold": 0.15,
            "drifted": True,
            "status": "False",
            "reason": "DriftDetected",
            "message": WHY,
            "urgency": "medium",
            "dimensions": {"kpi": {"score": 0.5, "of": 4}},
            "evidence": [
                {
                    "dimension": "kpi",
                    "subject": "kpi/monthly-churn",
                    "verdict": "missed",
                    "desired": "< 5 percent",
                    "observed": 6.1,
                    "at": AT,
                    "by": "agent/churn-watcher",
                }
            ],
            "since": AT,
            "generation": 3,
            "judgedVersion": "1201",
            "evaluatedAt": AT,
            "lastEvaluated": AT,
            "stale": False,
            "episode": {"state": "drifting", "best": 0.21},
            "alerts": [ALERT],
            "plan": {
                "digest": "feb1a2d05a93a743ba36d88da4b91da35f0ab69bbe46ecb8f55207052b5cd975",
                "mode": "warn",
                "actions": [{"sequence": 2, "operation": "scale-agents", "disposition": "ask"}],
                "explanation": WHY,
                "plannedAt": AT,
                "correlationId": STORY,
            },
        }
    ],
    "history": [
        {
            "controller": "controller/domain-health",
            "at": AT,
            "score": 0.21,
            "drifted": True,
            "dimensions": {"kpi": 0.5},
        }
    ],
}
