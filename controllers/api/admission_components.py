"""The schemas of the answers about admission, usage and economics."""

from __future__ import annotations

from typing import get_args

from controllers.admission.reporting import Verdict
from controllers.engine.asking import Decision
from controllers.models import Admission, Usage
from resources.api.components import COUNT, FREE, SWITCH, TIME, Schema, many, structure, text

CURSOR = text("Where the next page begins; absent on the last.")
DAY = text(format="date")
CURRENCY = text("Three capital letters, such as USD.")
MONEY = structure("value", value={"type": "number", "minimum": 0}, currency=CURRENCY)
TOKENS = structure("", input=COUNT, output=COUNT)
MODEL = structure(
    "",
    "Without a cost, its price is looked up; without a price the cost is 0, and says so.",
    provider=text(maxLength=64),
    name=text(maxLength=128),
    version=text(maxLength=64),
)
COST: Schema = {"tokens": TOKENS, "cost": MONEY, "model": MODEL}
PRICED = text("Whether the cost was given, worked out, or is unknown.", enum=Usage.Priced.values)
PERMIT = text("Signed, for one use by its agent; opaque.", maxLength=1000)
FINDINGS: Schema = {
    "type": "array",
    "items": structure("code reason", code=text("For programs."), reason=text("For people.")),
}
ASKING: Schema = {
    "operation": text("`read`, `write`, `delete`, `execute`, or a capability of the agent."),
    "resource": text("Such as `workflow/onboarding`, or `asset/customer-ledger` for data."),
    **COST,
    "parameters": {**FREE, "description": "What exactly; the permit is for these and no others."},
    "text": text("What the agent passes along; held against patterns of policies."),
    "why": text("Shown to people who are asked, as the agent's claim.", maxLength=2000),
}
RECORD: Schema = {
    "id": text("Your name of the record: repeated, it is counted once.", maxLength=200),
    "permit": PERMIT,
    "at": TIME,
    **COST,
    "workflow": text(maxLength=253),
    "step": text(maxLength=253),
    "decision": text(maxLength=253),
    "correlationId": text(maxLength=64),
}
SPENT: Schema = {
    "tokens": COUNT,
    "cost": {"type": "object", "additionalProperties": {"type": "number"}},
}
SUM = structure(
    "tokens cost", tokens=COUNT, cost={"type": "number"}, currency=CURRENCY, name=text()
)


def by(name: str) -> Schema:
    """Describe a list of those who spent most."""
    return {
        "type": "array",
        "items": structure(f"{name} tokens cost", "", **{name: text()}, **SPENT),
    }


SCHEMAS: dict[str, Schema] = {
    "Asking": structure("operation resource", **ASKING),
    "Redeeming": structure("operation resource permit", **ASKING, permit=PERMIT),
    "Admission": structure(
        "id decision state agent operation resource digest tokens cost reasons warnings askedAt"
        " correlationId",
        id=COUNT,
        decision=text(enum=list(get_args(Decision))),
        state=text(enum=Admission.State.values),
        agent=text(),
        operation=text(),
        resource=text(),
        digest=text("Of operation, resource, cost and parameters."),
        tokens=COUNT,
        cost=MONEY,
        reasons={**FINDINGS, "description": "Why not, or why a person is asked."},
        warnings={**FINDINGS, "description": "What would have been refused in another mode."},
        askedAt=TIME,
        redeemedAt=TIME,
        expiresAt={**TIME, "description": "Until when the permit can be used."},
        epoch=text("How often holds have changed; the permit is for this epoch."),
        permit=PERMIT,
        proposal={**COUNT, "description": "What a person decides."},
        correlationId=text(),
    ),
    "AdmissionList": structure("items", items=many("Admission"), nextCursor=CURSOR),
    "UsageReport": {
        "oneOf": [
            structure("items", items={"type": "array", "items": structure("", **RECORD)}),
            {**structure("", **RECORD), "not": {"required": ["items"]}},
        ]
    },
    "UsageReported": structure(
        "items",
        items={
            "type": "array",
            "items": structure(
                "verdict",
                verdict=text(enum=list(get_args(Verdict))),
                id=text(),
                cost=MONEY,
                priced=PRICED,
                day={**DAY, "description": "The day it counts for."},
                permit=text("`settled`, `none`, or why the permit does not cover it."),
                problems=many("Fault"),
            ),
        },
    ),
    "Usage": structure(
        "id agent at day tokens cost priced correlationId",
        # A record without a name of its own has its request's, and its place in it.
        **{**RECORD, "permit": text(), "id": text()},
        agent=text(),
        domain=text(),
        day=DAY,
        priced=PRICED,
        admission=COUNT,
    ),
    "UsageList": structure("items", items=many("Usage"), nextCursor=CURSOR),
    "BudgetStanding": structure(
        "budget domain period enforcement limits consumed projectedEndOfPeriod projectedOverrun"
        " byAgent",
        budget=text(),
        domain=text(),
        period=text(),
        enforcement=text(),
        limits=structure("", tokens=COUNT, cost={"type": "number"}, currency=CURRENCY),
        consumed=SUM,
        utilizationRate={"type": "number"},
        projectedEndOfPeriod=structure("", tokens=COUNT, cost={"type": "number"}),
        projectedOverrun=SWITCH,
        byAgent={"type": "array", "items": SUM},
    ),
    "Economics": structure(
        "since until spend byDomain byAgent byModel byDecision byWorkflow overTime budgets alerts",
        "Lists hold the 200 that spent most; decisions and workflows count from their beginning.",
        since=DAY,
        until=DAY,
        spend=structure("tokens cost", **SPENT),
        byDomain=by("domain"),
        byAgent=by("agent"),
        byModel=by("model"),
        byDecision=by("decision"),
        byWorkflow=by("workflow"),
        overTime=by("day"),
        budgets=many("BudgetStanding"),
        alerts={
            "type": "array",
            "items": structure(
                "budget event mark severity share message at",
                budget=text(),
                event=text(),
                mark=text("The threshold, or the agent."),
                severity=text(),
                share={"type": "number"},
                message=text(),
                at=TIME,
            ),
        },
    ),
}
