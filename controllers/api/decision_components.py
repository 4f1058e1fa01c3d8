"""The schemas of the answers about proposals."""

from __future__ import annotations

from typing import get_args

from controllers.api.work_components import FEEDBACK, FIELDS
from controllers.deciding import Outcome
from controllers.engine.types import Class, Mode, Risk, Urgency
from controllers.grouping import ANSWERS as TOGETHER
from controllers.grouping import Word
from controllers.lifecycle import ANSWERS, STATES
from resources.api.components import (
    COUNT,
    FREE,
    SWITCH,
    TIME,
    Schema,
    many,
    one,
    structure,
    text,
)

REASON = text("Why; people and the ledger will read it.", maxLength=2000)
RESOURCE = text("Such as `agent/scribe`.")
ACTOR = text("Such as `person/maya`, `agent/scribe` or `controller/budget-guardian`.")
DIGEST = text("A SHA-256 in hexadecimal.")
SCORE: Schema = {"type": "number"}
NUMBER: Schema = {"type": "integer", "minimum": 1}
ANY: Schema = {"description": "Any JSON value."}
CURSOR = text("Where the next page begins; absent on the last.")
SAYINGS = [*(each.replace("_", "-") for each in ANSWERS), "review", "repropose"]
SAID = text(enum=SAYINGS)

WHY = text("What you want, in your words; it is shown as your claim.", maxLength=2000)
STEPS: Schema = {
    "type": "array",
    "minItems": 1,
    "maxItems": 20,
    "items": structure("operation", operation=text(), parameters=FREE),
}

SUMMARY: Schema = {
    "id": NUMBER,
    "resource": RESOURCE,
    "domain": text(),
    "proposer": ACTOR,
    "state": text(enum=list(STATES)),
    "lane": text("What the gate said: run by policy, ask people, recommend."),
    "mode": text(enum=list(get_args(Mode))),
    "revision": NUMBER,
    "actionDigest": DIGEST,
    "tag": text("What you see of it, `<revision>:<action digest>`: send it as `If-Match`."),
    "operations": {"type": "array", "items": text()},
    "explanation": text(),
    "risk": text(enum=list(get_args(Risk))),
    "reversible": SWITCH,
    "people": {**COUNT, "description": "How many people have to approve."},
    "score": SCORE,
    "urgency": text(enum=list(get_args(Urgency))),
    "cause": text("Proposals with the same one have one root cause."),
    "held": structure(
        "code reason",
        "Why it does not run; in a list, what was found when it was last tried.",
        code=text(),
        reason=text(),
        hold=NUMBER,
    ),
    "answer": text("The answer that decided."),
    "decidedBy": ACTOR,
    "reason": text(),
    "feedback": FEEDBACK,
    "outcome": text("What later cycles found: effective, ineffective or worse."),
    "error": text(),
    "undoing": SWITCH,
    "correlationId": text("The ledger's entries carry it: `/events?correlationId=`."),
    **dict.fromkeys(
        (
            "createdAt",
            "changedAt",
            "confirmedAt",
            "expiresAt",
            "runAt",
            "executeBefore",
            "quietUntil",
            "decidedAt",
            "executedAt",
            "undoUntil",
            "verifyBy",
            "reviewBy",
        ),
        TIME,
    ),
}
ALWAYS = "id resource proposer state revision actionDigest tag operations risk reversible people"

# What a problem about a decision says besides.
PROBLEM: dict[str, Schema] = {
    "code": text("The rule by which somebody may not."),
    "current": one("ProposalSummary"),
    "changes": {"type": "array", "items": FREE, "description": "What changed since you looked."},
}
SCHEMAS: dict[str, Schema] = {
    "ProposalSummary": structure(ALWAYS, **SUMMARY),
    "ProposalList": structure("items", items=many("ProposalSummary"), nextCursor=CURSOR),
    "ProposedAction": structure(
        "sequence operation kind parameters risk reversible",
        "One step of a plan.",
        sequence=NUMBER,
        type=text(),
        operation=text(),
        kind=text(enum=list(get_args(Class))),
        target=RESOURCE,
        parameters=FREE,
        risk=text(enum=list(get_args(Risk))),
        reversible=SWITCH,
        why=text(),
        otherwise=text("What happens if nothing is done."),
        touches={"type": "array", "items": text()},
    ),
    "Decided": structure(
        "by answer revision counts shown at",
        "One person's, or the policy's, answer to one revision.",
        by=ACTOR,
        answer=text(),
        revision=NUMBER,
        counts={**SWITCH, "description": "Whether it counts towards the people needed."},
        reason=text(),
        behalf=ACTOR,
        shown=DIGEST,
        at=TIME,
    ),
    "Proposal": structure(
        f"{ALWAYS} actions basis basisDigest decisions steps deciders entitled allowed",
        "A plan for one resource; its ETag is its `tag`.",
        **SUMMARY,
        actions=many("ProposedAction"),
        basis=FREE,
        basisDigest=DIGEST,
        check=text("Only to whoever just answered one: that it was a check, and if you saw it."),
        policy=FREE,
        evidence={"type": "array", "items": FREE},
        decisions=many("Decided"),
        steps=many("ProposalStep"),
        deciders={
            "type": "array",
            "items": text(),
            "description": "Who may decide it, while it waits for somebody.",
        },
        entitled={
            "type": "array",
            "items": structure(
                "person why",
                "Somebody who may decide it, and why.",
                person=text(),
                behalf=text("For whom they decide, as a deputy."),
                groups={"type": "array", "items": text(), "description": "Which of the groups."},
                why=text("The same in words."),
            ),
        },
        quorum=structure(
            "people given missing policies groups",
            "What it needs to be approved, while it waits.",
            people={**COUNT, "description": "How many people have to approve."},
            given={**COUNT, "description": "How many approvals count now."},
            missing={**COUNT, "description": "How many more it needs at least."},
            policies={
                "type": "array",
                "items": structure(
                    "governance name people",
                    "A policy that asks for it.",
                    governance=text(),
                    name=text(),
                    people=COUNT,
                    group=text("The group that so many of them have to be in."),
                ),
            },
            groups={
                "type": "array",
                "items": structure(
                    "group people given exists",
                    "How many of a group have to approve.",
                    group=text(),
                    people=COUNT,
                    given=COUNT,
                    exists={**SWITCH, "description": "Without it nobody can approve."},
                ),
            },
            reason=text("What is missing, in words."),
        ),
        allowed={"type": "array", "items": SAID, "description": "What may be said now."},
        supersededBy=NUMBER,
        thread=NUMBER,
        you=structure(
            "mayDecide",
            "Whether you may approve it, while it waits; a token may not.",
            mayDecide=SWITCH,
            code=text("The rule by which you may not."),
            reason=text("The same in words."),
            behalf=text("For whom you would decide, as a deputy."),
        ),
        changes={"type": "array", "items": FREE, "description": "What changed since you looked."},
    ),
    "Filing": structure(
        "actions why",
        "A new proposal names its resource; the answer to a request for changes what it revises.",
        resource=RESOURCE,
        revises={**NUMBER, "description": "The proposal that people sent back."},
        why=WHY,
        actions=STEPS,
    ),
    "Revising": structure("actions why", why=WHY, actions=STEPS),
    "Answer": structure(
        "",
        "Every answer but a routine approve needs a reason.",
        reason=REASON,
        until={**TIME, "description": "For accept, snooze, extend and override."},
        worse={**SWITCH, "description": "Snooze: come back when it is worse."},
        path=text("Override: the field, such as `spec.tokenBudget.maxDaily`."),
        value=ANY,
        outcome=text("Resolve: what became of it.", enum=list(get_args(Outcome))),
        fields={**FIELDS, "description": "Request changes: what should be different."},
        actions={
            "type": "array",
            "description": "Change: the parameters to edit.",
            "items": structure("sequence parameters", sequence=NUMBER, parameters=FREE),
        },
    ),
    "Many": structure(
        "answer items",
        answer=text(enum=[each.replace("_", "-") for each in TOGETHER]),
        reason=REASON,
        until=TIME,
        worse=SWITCH,
        items={
            "type": "array",
            "maxItems": 200,
            "items": structure("id tag", id=NUMBER, tag=text("`<revision>:<action digest>`")),
        },
    ),
    "ManyResults": structure(
        "items done",
        done=COUNT,
        items={
            "type": "array",
            "items": structure(
                "id result",
                id=NUMBER,
                result=text(enum=list(get_args(Word))),
                detail=text(),
                state=text(),
                tag=text("What to look at now."),
            ),
        },
    ),
    "Cause": structure(
        "cause count together oldest expiresAt sample",
        "Proposals that wait and have one root cause.",
        cause=text(),
        count=COUNT,
        together={**COUNT, "description": "How many can be decided at once."},
        worst=SCORE,
        oldest=TIME,
        expiresAt=TIME,
        sample=one("ProposalSummary"),
    ),
    "CauseList": structure("items", items=many("Cause")),
}
