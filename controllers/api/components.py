"""The schemas of the answers about controllers, cycles and drift."""

from __future__ import annotations

from typing import Any, get_args

from controllers.api import (
    admission_components,
    decision_components,
    earned_components,
    hold_components,
    outside_components,
    run_components,
    telemetry_components,
    work_components,
)
from controllers.engine.cycle import PHASES
from controllers.engine.types import Mode, Result, Severity, Urgency, Word
from controllers.models import Cycle, Delivery, WorkItem
from resources.api.components import (
    COUNT,
    FREE,
    SWITCH,
    TIME,
    VERSION,
    Schema,
    many,
    one,
    structure,
    text,
)

FREE_LIST: Schema = {"type": "array", "items": FREE}
SCORE: Schema = {"type": "number", "nullable": True, "description": "From 0 to 1; null: no data."}
WORD = text(enum=list(get_args(Word)))
RESOURCE = text("Such as `domain/growth`.")
STORY = text("The ledger's entries carry it: `/events?correlationId=`.")
MODE = text(enum=list(get_args(Mode)))
DIMENSIONS: Schema = {
    "type": "object",
    "additionalProperties": FREE,
    "description": "Each with its score and how many things it rests on.",
}
SUMMARY: Schema = {
    "controller": text(),
    "number": COUNT,
    "outcome": text(enum=["running", *Cycle.Outcome.values]),
    "full": {**SWITCH, "description": "Whether it covered everything the controller watches."},
    "reasons": {
        "type": "array",
        "items": text(enum=[each.name.lower() for each in WorkItem.Reason]),
    },
    "requestedBy": text("Such as `person/alice`."),
    "message": text("Why it was asked for."),
    "mode": MODE,
    "generation": COUNT,
    "revision": text("How far the changes of the organisation were read."),
    "holder": text("The process that ran it."),
    "correlationId": STORY,
    "startedAt": TIME,
    "finishedAt": TIME,
    "durationMs": COUNT,
    "counts": {"type": "object", "additionalProperties": COUNT},
    "times": structure(
        "",
        "The milliseconds of each phase.",
        **{name: {"type": "number"} for name in PHASES},
    ),
}
ALWAYS = "controller number outcome full reasons mode generation revision holder correlationId"
FINDING: Schema = {
    "score": SCORE,
    "threshold": {"type": "number", "nullable": True},
    "drifted": SWITCH,
    "status": WORD,
    "reason": text(),
    "message": text(),
    "dimensions": DIMENSIONS,
    "evidence": {
        **FREE_LIST,
        "description": "What was missed or is not known, seen when and by whom.",
    },
}

SCHEMAS: dict[str, Schema] = {
    "Reason": structure(
        "", reason=text("Why; people and the ledger will read it.", maxLength=500)
    ),
    "Requested": structure(
        "controller request lastCycle",
        controller=text(),
        request=structure("by runAt", by=text(), runAt=TIME, reason=text()),
        lastCycle={**COUNT, "description": "The cycle asked for has a larger number."},
    ),
    "Reconciled": {"oneOf": [one("Cycle"), one("Preview")]},
    "CycleSummary": structure(f"{ALWAYS} startedAt counts times", **SUMMARY),
    "CycleList": structure(
        "items",
        items=many("CycleSummary"),
        nextCursor=text("Where the next page begins; absent on the last."),
    ),
    "CycleAction": structure(
        "type operation target result",
        type=text(),
        operation=text(),
        target=RESOURCE,
        result=text(enum=list(get_args(Result))),
        reason=text(),
        why=text(),
    ),
    "Cycle": structure(
        f"{ALWAYS} startedAt counts times hooks actions result",
        "One run of the five phases; at most 200 hooks and actions are kept here.",
        **SUMMARY,
        hooks=FREE_LIST,
        actions=many("CycleAction"),
        error=structure("phase message", phase=text(), message=text()),
        result=one("CycleResult"),
    ),
    "CycleResult": structure(
        "timestamp resourcesFound diffsDetected decisionsMade executionErrors durationMs"
        " decisions",
        "The cycle summed up.",
        timestamp=TIME,
        resourcesFound=COUNT,
        diffsDetected=COUNT,
        decisionsMade=COUNT,
        executionErrors={"type": "array", "items": {"type": "string"}},
        durationMs=COUNT,
        decisions=many("CycleAction"),
    ),
    "PreviewItem": structure(
        f"resource {' '.join(FINDING)} hooks actions",
        resource=RESOURCE,
        **FINDING,
        hooks=FREE_LIST,
        actions=FREE_LIST,
    ),
    "Preview": structure(
        "controller dryRun counts resources",
        "What a cycle would find and plan; nothing of it was done.",
        controller=text(),
        dryRun=SWITCH,
        counts={"type": "object", "additionalProperties": COUNT},
        resources=many("PreviewItem"),
        blocked=text("Why a real cycle would be refused."),
    ),
    "Plan": structure(
        "digest mode actions explanation plannedAt correlationId",
        digest=text(),
        mode=MODE,
        actions=FREE_LIST,
        explanation=text(),
        plannedAt=TIME,
        correlationId=STORY,
    ),
    "Alert": structure(
        "id controller resource reason channel severity message open raisedAt correlationId",
        id=text(),
        controller=text(),
        resource=RESOURCE,
        reason=text(),
        channel=text(),
        severity=text(enum=list(get_args(Severity))),
        message=text(),
        open=SWITCH,
        raisedAt=TIME,
        resolvedAt=TIME,
        correlationId=STORY,
        delivery=structure(
            "state attempts",
            "Whether it got to the service behind its channel; `in_app` is shown here only.",
            state=text(enum=Delivery.State.values),
            attempts=COUNT,
            sentAt=TIME,
            error=text("What went wrong last."),
        ),
    ),
    "AlertList": structure(
        "items",
        items=many("Alert"),
        nextCursor=text("Where the next page begins; absent on the last."),
    ),
    "DriftItem": structure(
        f"controller {' '.join(FINDING)} urgency since generation judgedVersion evaluatedAt"
        " lastEvaluated stale episode alerts",
        controller=text(),
        **FINDING,
        urgency=text(enum=list(get_args(Urgency))),
        since=TIME,
        generation=COUNT,
        judgedVersion=VERSION,
        evaluatedAt=TIME,
        lastEvaluated=text("When it was last known to hold.", format="date-time"),
        stale={**SWITCH, "description": "The controller has stopped looking: nothing is known."},
        episode=FREE,
        alerts=many("Alert"),
        plan=one("Plan"),
    ),
    "DriftPoint": structure(
        "controller at score drifted dimensions",
        controller=text(),
        at=TIME,
        score=SCORE,
        drifted=SWITCH,
        dimensions=FREE,
    ),
    "TrackRecord": structure(
        "proposer since proposals states decided approved byPolicy rejected overridden changed"
        " outcomes",
        "What became of somebody's proposals.",
        proposer=text("Such as `controller/domain-health` or `agent/scribe`."),
        since=TIME,
        proposals=COUNT,
        states={"type": "object", "additionalProperties": COUNT},
        decided={**COUNT, "description": "Somebody, or the policy, has answered."},
        approved=COUNT,
        byPolicy={**COUNT, "description": "Of the approved, those nobody was asked about."},
        rejected=COUNT,
        overridden={**COUNT, "description": "People did something else instead."},
        changed={**COUNT, "description": "People edited the plan."},
        overrideRate={
            "type": "number",
            "description": "Overridden of those decided; absent while none is.",
        },
        outcomes=structure(
            "effective ineffective worse",
            "What later looks found of what was carried out.",
            effective=COUNT,
            ineffective=COUNT,
            worse=COUNT,
        ),
    ),
    "Drift": structure(
        "items history",
        items=many("DriftItem"),
        history={**many("DriftPoint"), "description": "Newest first."},
    ),
}


PARTS = (
    admission_components,
    decision_components,
    earned_components,
    hold_components,
    outside_components,
    run_components,
    telemetry_components,
    work_components,
)
# What may be asked without a word.
WITHOUT_BODY = (
    "/api/v1/controllers/{name}/reconcile",
    "/api/v1/controllers/{name}/cycles",
    "/api/v1/controllers/{name}/heartbeat",
    "/api/v1/proposals/{id}/{answer}",
    "/api/v1/workflows/{name}/runs",
)


def add_components(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add our schemas, and say which body may be left out; drf-spectacular calls this last."""
    schemas = result["components"]["schemas"]
    for part in PARTS:
        schemas.update(part.SCHEMAS)
    schemas.update(SCHEMAS)
    problem = schemas["Problem"]["properties"] | decision_components.PROBLEM
    problem |= run_components.PROBLEM | work_components.PROBLEM
    schemas["Problem"] = schemas["Problem"] | {"properties": problem}
    for path in WITHOUT_BODY:
        result["paths"][path]["post"]["requestBody"]["required"] = False
    return result
