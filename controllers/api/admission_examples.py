"""Examples for the description of the endpoints about admission and usage; a test checks each."""

from __future__ import annotations

from controllers.api.examples import AT, STORY, Example

DIGEST = "9f2c4b6d8e0a1c3e5f7092b4d6f8a1c3e5f7092b4d6f8a1c3e5f7092b4d6f8a1"
COST: Example = {
    "tokens": {"input": 1200, "output": 300},
    "cost": {"value": 0.006, "currency": "USD"},
    "model": {"provider": "openai", "name": "gpt-4o", "version": "2026-05"},
}
ASKING: Example = {
    "operation": "write",
    "resource": "asset/customer-ledger",
    **COST,
    "parameters": {"rows": 12},
    "text": "Refund of order 4711, as the customer asked.",
    "why": "The refund was agreed on the phone.",
}
PERMIT = "WyI3ZjQxIiwi…:1vT3…"
ALLOWED: Example = {
    "id": 41,
    "decision": "allowed",
    "state": "allowed",
    "agent": "refund-resolver",
    "operation": "write",
    "resource": "asset/customer-ledger",
    "digest": DIGEST,
    "tokens": 1500,
    "cost": {"value": 0.006, "currency": "USD"},
    "reasons": [],
    "warnings": [
        {
            "code": "BudgetSpent",
            "reason": "budget/finance-budget has 0 tokens left (monthly), and this takes 1,500"
            " tokens.",
        }
    ],
    "askedAt": AT,
    "correlationId": STORY,
    "epoch": "7",
    "expiresAt": "2026-02-25T10:01:00Z",
    "permit": PERMIT,
}
WITHOUT = ("permit", "expiresAt", "epoch")
PLAIN: Example = {key: value for key, value in ALLOWED.items() if key not in WITHOUT}
REDEEMED: Example = {**PLAIN, "state": "redeemed", "redeemedAt": AT}
WAITING: Example = {
    **PLAIN,
    "id": 42,
    "decision": "waiting",
    "state": "waiting",
    "reasons": [
        {"code": "ApprovalRequired", "reason": "refund-resolver asks for a person first."}
    ],
    "proposal": 17,
}
ADMISSIONS: Example = {"items": [WAITING, PLAIN], "nextCursor": "IjQxIg:5T3…"}
REDEEMING: Example = {**ASKING, "permit": PERMIT}
USAGE: Example = {
    "id": "call-4711",
    "agent": "refund-resolver",
    "domain": "finance",
    "at": AT,
    "day": "2026-02-25",
    **COST,
    "priced": "given",
    "workflow": "refund-approval",
    "step": "check",
    "decision": "dec-105-small-refunds-automatic",
    "correlationId": STORY,
    "admission": 41,
}
USAGES: Example = {"items": [USAGE], "nextCursor": "IjkiOg:5T3…"}
REPORT: Example = {
    "items": [
        {
            "id": "call-4711",
            "permit": PERMIT,
            "at": AT,
            **COST,
            "workflow": "refund-approval",
            "step": "check",
            "decision": "dec-105-small-refunds-automatic",
            "correlationId": STORY,
        }
    ]
}
REPORTED: Example = {
    "items": [
        {
            "verdict": "counted",
            "id": "call-4711",
            "cost": {"value": 0.006, "currency": "USD"},
            "priced": "given",
            "day": "2026-02-25",
            "permit": "settled",
        },
        {"verdict": "refused", "problems": [{"pointer": "/at", "detail": "lies in the future"}]},
    ]
}
SPENT: Example = {"tokens": 1500, "cost": {"USD": 0.006}}
ECONOMICS: Example = {
    "since": "2026-02-01",
    "until": "2026-02-26",
    "spend": SPENT,
    "byDomain": [{"domain": "finance", **SPENT}],
    "byAgent": [{"agent": "refund-resolver", **SPENT}],
    "byModel": [{"model": "openai/gpt-4o", **SPENT}],
    "byDecision": [{"decision": "dec-105-small-refunds-automatic", **SPENT}],
    "byWorkflow": [{"workflow": "refund-approval", **SPENT}],
    "overTime": [{"day": "2026-02-25", **SPENT}],
    "budgets": [
        {
            "budget": "finance-budget",
            "domain": "finance",
            "period": "2026-02",
            "enforcement": "enforce",
            "limits": {"tokens": 2000, "cost": 10.0, "currency": "USD"},
            "consumed": {"tokens": 1500, "cost": 0.006, "currency": "USD"},
            "utilizationRate": 0.75,
            "projectedEndOfPeriod": {"tokens": 1680, "cost": 0.00672},
            "projectedOverrun": False,
            "byAgent": [
                {"name": "refund-resolver", "tokens": 1500, "cost": 0.006, "currency": "USD"}
            ],
        }
    ],
    "alerts": [
        {
            "budget": "finance-budget",
            "event": "budget_threshold_reached",
            "mark": "0.7",
            "severity": "info",
            "share": 0.75,
            "message": "75% of budget/finance-budget is used (1,500 tokens of 2,000 tokens);"
            " told at 70%.",
            "at": AT,
        }
    ],
}
