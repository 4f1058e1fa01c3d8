"""Examples for the description of the endpoints about runs; a test checks each."""

from __future__ import annotations

from typing import Any

Example = dict[str, Any]

AT = "2026-02-25T10:00:00Z"
STORY = "8de258d7-f286-4d86-b385-cadd0a678dfb"
START: Example = {
    "trigger": "manual",
    "inputs": {"customer": "c-4711"},
    "correlationId": STORY,
}
SUMMARY: Example = {
    "id": "12",
    "workflow": "workflow/churn-response",
    "state": "executing",
    "allowed": ["block", "complete", "fail", "compensate"],
    "generation": 3,
    "revision": "1207",
    "trigger": "manual",
    "startedBy": "person/ines",
    "createdAt": AT,
    "startedAt": AT,
    "endsAt": "2026-02-25T12:00:00Z",
    "retries": 0,
    "costAccumulated": {"tokens": 1200, "cost": 0.02, "currency": "EUR"},
    "correlationId": STORY,
}
STEP: Example = {
    "number": 1,
    "name": "score",
    "undoes": False,
    "gate": False,
    "agent": "churn-watcher",
    "action": "Confirm the risk with the newest orders and tickets",
    "state": "running",
    "ready": False,
    "allowed": ["progress", "complete", "fail"],
    "attempts": 1,
    "startedAt": AT,
    "deadline": "2026-02-25T10:05:00Z",
}
RUN: Example = {**SUMMARY, "inputs": START["inputs"], "steps": [STEP]}
RUNS: Example = {"items": [SUMMARY], "nextCursor": "IjQyIg:5T3…"}
REPORT: Example = {
    "verb": "complete",
    "fence": 1,
    "message": "The risk is real.",
    "result": {"riskScore": 0.8},
    "cost": {"tokens": 1200, "cost": 0.02, "currency": "EUR"},
}
WORK: Example = {
    "run": "12",
    "workflow": "workflow/churn-response",
    "correlationId": STORY,
    "inputs": START["inputs"],
    "key": "5c0e5d0e7c1b4f0e9d3a5c0e5d0e7c1b4f0e9d3a5c0e5d0e7c1b4f0e9d3a5c0e",
    "step": STEP,
}
CLAIM: Example = {**WORK, "fence": 1, "epoch": "7"}
STEPS: Example = {"items": [WORK], "nextCursor": "IjQyIg:5T3…"}
CANCEL: Example = {"reason": "The customer has left."}
