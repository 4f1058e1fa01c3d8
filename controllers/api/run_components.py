"""The schemas of runs, their steps, and what agents say about them."""

from __future__ import annotations

from typing import get_args

from controllers import flow
from controllers.runs.plan import ErrorClass
from resources.api.components import COUNT, FREE, SWITCH, TIME, Schema, many, one, structure, text

NAMES: Schema = {"type": "array", "items": {"type": "string"}}
STORY = text("All events of the run carry it.", maxLength=64)
NEXT = text("Where the next page begins; absent on the last.")
COST = structure(
    "",
    "What has been used; one run is counted in one currency.",
    tokens=COUNT,
    cost={"type": "number", "minimum": 0},
    currency=text(maxLength=8),
)
# What a problem says of holds.
PROBLEM: dict[str, Schema] = {
    "epoch": text("It moves with every change of the holds."),
}
SUMMARY: dict[str, Schema] = {
    "id": text(),
    "workflow": text("Such as `workflow/release`."),
    "state": text(enum=list(flow.STATES)),
    "outcome": text("How it ended: completed, compensated, failed, partial, cancelled …"),
    "reason": text(),
    "allowed": {**NAMES, "description": "The verbs that fit its state."},
    "generation": COUNT,
    "revision": text("The revision of the workflow it was started with."),
    "trigger": text(),
    "startedBy": text("Such as `person/ines`."),
    "createdAt": TIME,
    "startedAt": TIME,
    "endsAt": TIME,
    "endedAt": TIME,
    "retries": COUNT,
    "costAccumulated": COST,
    "correlationId": STORY,
}
ALWAYS = "id workflow state allowed generation revision trigger startedBy createdAt correlationId"
WORK: dict[str, Schema] = {
    "run": text(),
    "workflow": text(),
    "correlationId": STORY,
    "inputs": FREE,
    "key": text("The same for every attempt: do it once."),
    "step": one("RunStep"),
}
SCHEMAS: dict[str, Schema] = {
    "RunStart": structure(
        "",
        "What is to be run.",
        trigger=text("What it is started for.", maxLength=200),
        inputs=FREE,
        correlationId=STORY,
    ),
    "RunSummary": structure(ALWAYS, "A run.", **SUMMARY),
    "RunStep": structure(
        "number name undoes gate agent action state ready allowed attempts",
        "A step of a run, or the undoing of one.",
        number=COUNT,
        name=text(),
        undoes=SWITCH,
        gate={**SWITCH, "description": "People let it pass, by a proposal."},
        agent=text(),
        action=text(),
        state=text(enum=list(flow.STEP_STATES)),
        ready=SWITCH,
        allowed={**NAMES, "description": "What its agent may say about it."},
        attempts=COUNT,
        notBefore=TIME,
        deadline=TIME,
        startedAt=TIME,
        endedAt=TIME,
        errorClass=text(enum=list(get_args(ErrorClass))),
        error=text("In its agent's words."),
        message=text("In its agent's words."),
        result=FREE,
        proposal=text("What people are asked about it."),
    ),
    "Run": structure(
        f"{ALWAYS} inputs steps", "A run.", **SUMMARY, inputs=FREE, steps=many("RunStep")
    ),
    "RunList": structure("items", items=many("RunSummary"), nextCursor=NEXT),
    "StepReport": structure(
        "verb",
        "What an agent says about a step of its own.",
        verb=text(enum=list(flow.SAID)),
        fence={**COUNT, "description": "The one that came with the start; needed after it."},
        message=text(maxLength=2000),
        result=FREE,
        errorClass=text(enum=list(get_args(ErrorClass))),
        error=text(maxLength=2000),
        cost=COST,
    ),
    "StepWork": structure(" ".join(WORK), "A step that waits for its agent.", **WORK),
    "StepClaim": structure(
        f"{' '.join(WORK)} fence epoch",
        "The right to do a step, or what became of it.",
        **WORK,
        fence=COUNT,
        epoch=text("Where the holds stood: it moves with every change of theirs."),
    ),
    "StepList": structure("items", items=many("StepWork"), nextCursor=NEXT),
    "RunCancel": structure("reason", reason=text(maxLength=2000)),
}
