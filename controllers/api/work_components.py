"""The schemas of the answers about work and outside controllers."""

from __future__ import annotations

from controllers.api.actions import FAILURES, LONGEST_DETAIL
from controllers.executing.progressing import LONGEST_NOTE
from controllers.models import Step
from resources.api.components import COUNT, FREE, SWITCH, TIME, Schema, many, structure, text

NUMBER: Schema = {"type": "integer", "minimum": 1}
PERCENT: Schema = {"type": "integer", "minimum": 0, "maximum": 100}
RESOURCE = text("Such as `agent/scribe`.")
FENCE = text("Send it with every call about this claim; an older one is refused.")
EPOCH = text("It moves with every change of the holds; send the one you last saw.")
NOTE = text("A short sentence; people see it as your claim.", maxLength=LONGEST_NOTE)
FIELDS: Schema = {
    "type": "array",
    "maxItems": 20,
    "items": text("A place in the plan, such as `/actions/0/parameters/factor`."),
}

FEEDBACK = structure(
    "reason by at revision thread",
    "What people who sent it back want to be different; answer with `revises`.",
    reason=text(),
    by=text("Such as `person/maya`."),
    at=TIME,
    revision=NUMBER,
    thread=NUMBER,
    fields=FIELDS,
)

SCHEMAS: dict[str, Schema] = {
    "ProposalStep": structure(
        "sequence operation undoes executor state attempts",
        sequence=NUMBER,
        operation=text(),
        undoes=SWITCH,
        executor=text(enum=["control-plane", "agent", "controller", "webhook"]),
        state=text(enum=list(Step.State.values)),
        attempts=COUNT,
        agent=text(),
        claimedBy=text(),
        error=text(),
        percent=PERCENT,
        note=text("What whoever does it says; a claim, not a fact."),
        startedAt=TIME,
        endedAt=TIME,
        deadline=TIME,
    ),
    "Action": structure(
        "id proposal sequence operation parameters target for state undoes key attempts",
        "One step of a proposal that an agent or an outside controller is to do.",
        id=NUMBER,
        proposal=NUMBER,
        sequence=NUMBER,
        operation=text(),
        parameters=FREE,
        target=RESOURCE,
        undoes={**SWITCH, "description": "Whether it takes another step back."},
        state=text(enum=list(Step.State.values)),
        key=text("The same for every attempt: whoever is told twice does it once."),
        attempts=COUNT,
        why=text(),
        error=text(),
        percent=PERCENT,
        note=NOTE,
        outputs=FREE,
        correlationId=text(),
        executeBefore={**TIME, "description": "It cannot be claimed later."},
        deadline={**TIME, "description": "A claim that is not prolonged ends here."},
        startedAt=TIME,
        endedAt=TIME,
        **{"for": text("Who may claim it, such as `agent/scribe`.")},
    ),
    "ActionList": structure(
        "items",
        items=many("Action"),
        nextCursor=text("Where the next page begins; absent on the last."),
    ),
    "Claim": structure(
        "id fence epoch deadline ttlSeconds key operation parameters target",
        "The right to do one action until a time.",
        id=NUMBER,
        fence=FENCE,
        epoch=EPOCH,
        deadline=TIME,
        ttlSeconds=COUNT,
        key=text("Hand it on to whatever you call, so that it happens once."),
        operation=text(),
        parameters=FREE,
        target=RESOURCE,
    ),
    "Beat": structure("fence epoch", fence=FENCE, epoch=EPOCH),
    "Progress": structure("fence epoch", fence=FENCE, epoch=EPOCH, percent=PERCENT, note=NOTE),
    "Reported": structure(
        "fence outcome",
        "What became of an action; a failure has a class.",
        fence=FENCE,
        outcome=text(enum=["success", "failure"]),
        detail=text("What happened, in a sentence.", maxLength=LONGEST_DETAIL),
        outputs={**FREE, "description": "What it left, for people to read; up to 16 kB."},
        **{"class": text("Of a failure: what to make of it.", enum=list(FAILURES))},
    ),
}
# What a problem about work says besides.
PROBLEM: dict[str, Schema] = {"epoch": text("The present epoch: look at the holds, then go on.")}
