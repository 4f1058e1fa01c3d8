"""The schemas of drills, of how well people and controllers decide, and of what was earned."""

from __future__ import annotations

from controllers.models import Drill
from resources.api.components import COUNT, FREE, SWITCH, TIME, Schema, many, one, structure, text

SECONDS: Schema = {"type": "number", "minimum": 0}
RATE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
SCHEMAS: dict[str, Schema] = {
    "Quality": structure(
        "since answers approved rejected overridden reverted worse cut",
        "How long people take to decide, and how it turns out.",
        since=TIME,
        answers=COUNT,
        approved=COUNT,
        rejected=COUNT,
        overridden={**COUNT, "description": "Something else was done instead."},
        reverted={**COUNT, "description": "Approved, and taken back afterwards."},
        worse={**COUNT, "description": "Approved, and the drift got worse."},
        checks={**COUNT, "description": "Check proposals that were answered; absent of none."},
        caught={**COUNT, "description": "Checks that were not let through."},
        catchRate={**RATE, "description": "Caught of the checks; absent while there is none."},
        overrideRate={**RATE, "description": "Overridden of all; absent while there is none."},
        revertRate={**RATE, "description": "Taken back of the approved."},
        typicalSeconds={**SECONDS, "description": "The middle time to decide."},
        slowSeconds={**SECONDS, "description": "Nine of ten are faster."},
        cut={**SWITCH, "description": "Whether there were more than were counted."},
    ),
    "Autonomy": structure(
        "operation domain approvals bar setbacks granted",
        "One operation in one domain.",
        operation=text("Such as `throttle`."),
        domain=text(),
        approvals={**COUNT, "description": "Approved in a row since the last setback."},
        bar={**COUNT, "description": "How many that takes."},
        setbacks=COUNT,
        granted={**SWITCH, "description": "Whether it runs without asking."},
        grantedAt=TIME,
        proposal={**COUNT, "description": "The promotion that two people decide."},
    ),
    "AutonomyList": structure("items", items=many("Autonomy")),
    "ReplayWish": structure(
        "",
        "What to try; at least one of them.",
        threshold={"type": "number", "minimum": 0, "maximum": 1},
        weights={"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
        spec={**FREE, "description": "A merge patch of the controller's spec."},
    ),
    "ReplayedProposal": structure(
        "proposal resource at",
        proposal=COUNT,
        resource=text(),
        at=TIME,
        answer=text(),
        decidedBy=text(),
        contradicts=text("Why this contradicts what a person said."),
    ),
    "Replay": structure(
        "controller counts appears vanishes unasked asked contradictions limits",
        "What another rule would have made of the past; of long lists the latest.",
        controller=text(),
        counts={"type": "object", "additionalProperties": COUNT},
        since={**TIME, "description": "How far back what is kept reaches."},
        appears={
            "type": "array",
            "description": "Drifts that would have led to a proposal, and did not.",
            "items": structure(
                "resource at score", resource=text(), at=TIME, score={"type": "number"}
            ),
        },
        vanishes={**many("ReplayedProposal"), "description": "Would not have been made."},
        unasked={**many("ReplayedProposal"), "description": "Would have run without asking."},
        asked={**many("ReplayedProposal"), "description": "Ran, and people would be asked."},
        contradictions=many("ReplayedProposal"),
        limits={"type": "array", "items": text(), "description": "What could not be replayed."},
    ),
    "TogetherQuality": structure(
        "people fewest",
        "How people decide together; of fewer than `fewest` nothing is shown.",
        people=COUNT,
        fewest=COUNT,
        quality=one("Quality"),
    ),
    "Drill": structure(
        "id governance state author askedAt evidence",
        "One try whether a pause stops an effect.",
        id={"type": "integer", "minimum": 1},
        governance=text("Such as `governance/platform-governance`."),
        state=text(enum=Drill.State.values),
        author=text("Who asked for it; `system/ioa` is the clock."),
        askedAt=TIME,
        begunAt=TIME,
        endedAt=TIME,
        evidence={
            "type": "array",
            "description": "What each step found, in the order of the steps.",
            "items": structure("step found", step=text(), found=text()),
        },
        problem=text("Why nothing is proven."),
        correlationId=text("The ledger's entries carry it: `/events?correlationId=`."),
    ),
    "DrillList": structure(
        "items",
        items={**many("Drill"), "description": "Newest first."},
        lastOverrideTest=text("When a drill last passed.", format="date-time"),
        every=text("How often drills are declared, such as `30d`."),
        nextAt=text("When the next one is due.", format="date-time"),
    ),
}
