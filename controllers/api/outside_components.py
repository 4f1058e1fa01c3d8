"""The schemas of the answers about controllers that others run."""

from __future__ import annotations

from typing import get_args

from controllers.api.findings import (
    LONGEST_TEXT,
    MOST_ACTIONS,
    MOST_EVIDENCE,
    MOST_FINDINGS,
)
from controllers.api.work_components import EPOCH, FENCE, NUMBER, RESOURCE
from controllers.engine.cycle import PHASES
from controllers.engine.types import DIMENSIONS, Verdict, Word
from controllers.models import Hold
from controllers.outside.ending import CUT_SHORT
from controllers.outside.reporting import Verdict as Heard
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

SHORT = text(maxLength=LONGEST_TEXT)
SHARE: Schema = {"type": "number", "nullable": True, "minimum": 0, "maximum": 1}
WORD = text(enum=list(get_args(Word)))
TOLD: Schema = {
    "epoch": EPOCH,
    "holds": {**many("StandingHold"), "description": "What people said no to in your scope."},
    "onlyProposes": {**SWITCH, "description": "Nothing runs without a person this time."},
    "resync": {**SWITCH, "description": "Look at everything in your next cycle."},
    "asked": {
        "type": "array",
        "items": RESOURCE,
        "description": "What you are asked to look at.",
    },
}
ALWAYS = "epoch holds onlyProposes resync asked"
TIMES = structure("", "Milliseconds.", **{name: {"type": "number"} for name in PHASES})

SCHEMAS: dict[str, Schema] = {
    "StandingHold": structure(
        "id kind scope reason author inFlight",
        id=NUMBER,
        kind=text(enum=list(Hold.Kind.values)),
        scope=text(enum=list(Hold.Scope.values)),
        reason=text(),
        author=text(),
        domain=text(),
        resource=RESOURCE,
        path=text(),
        inFlight=text("What becomes of work that has begun.", enum=list(Hold.InFlight.values)),
        endsAt=TIME,
    ),
    "Told": structure(ALWAYS, **TOLD),
    "Pulse": structure("", fence={**FENCE, "description": "Of an open cycle, if there is one."}),
    "Opening": structure(
        "", full={**SWITCH, "description": "Whether it will cover everything; usually so."}
    ),
    "Opened": structure(
        f"cycle fence leasedUntil correlationId {ALWAYS}",
        "An open cycle: its lease goes on with every call about it.",
        cycle=one("CycleSummary"),
        fence=FENCE,
        leasedUntil=TIME,
        correlationId=text(),
        **TOLD,
    ),
    "FindingDimension": structure(
        "score",
        score=SHARE,
        of={**COUNT, "description": "How many things were looked at."},
        evidence={
            "type": "array",
            "maxItems": MOST_EVIDENCE,
            "items": structure(
                "subject verdict",
                subject=text("Such as `kpi/churn`.", maxLength=LONGEST_TEXT),
                verdict=text(enum=list(get_args(Verdict))),
                desired={"description": "A text, a number, true or false."},
                observed={"description": "A text, a number, true or false."},
                at=SHORT,
                by=SHORT,
                note=SHORT,
            ),
        },
    ),
    "Finding": structure(
        "resource",
        "Without a score and dimensions it is not known how the resource stands.",
        resource=RESOURCE,
        version=VERSION,
        complete={
            **SWITCH,
            "description": "Whether all of it was seen; a part never leads to a change.",
        },
        score={**SHARE, "description": "Alone, or as its dimensions come to."},
        dimensions=structure(
            "", "Each by its name.", **{name: one("FindingDimension") for name in DIMENSIONS}
        ),
        condition=structure(
            "",
            "How it is said on the resource; only under the controller's own type.",
            type=SHORT,
            status=WORD,
            reason=text("One word in CamelCase.", maxLength=64),
            message=SHORT,
        ),
        actions={
            "type": "array",
            "maxItems": MOST_ACTIONS,
            "description": "What would close the gap; spec.actions.onDrift says what is taken.",
            "items": structure("operation", operation=text(), parameters=FREE, why=SHORT),
        },
    ),
    "Findings": structure(
        "fence findings",
        fence=FENCE,
        findings={**many("Finding"), "minItems": 1, "maxItems": MOST_FINDINGS},
    ),
    "FindingResults": structure(
        f"items {ALWAYS}",
        items={
            "type": "array",
            "items": structure(
                "resource verdict",
                resource=RESOURCE,
                verdict=text(enum=list(get_args(Heard))),
                version=VERSION,
                problems={"type": "array", "items": FREE},
                score=SHARE,
                drifted=SWITCH,
                status=WORD,
                reason=text(),
                message=text(),
                actions={
                    "type": "array",
                    "items": FREE,
                    "description": "Each with what the gate said of it.",
                },
            ),
        },
        **TOLD,
    ),
    "Closing": structure(
        "fence outcome",
        fence=FENCE,
        outcome=text(enum=list(CUT_SHORT)),
        error=text("Why it failed.", maxLength=500),
        counts=structure("", watched=COUNT),
        times=TIMES,
    ),
    "Closed": structure(f"cycle {ALWAYS}", cycle=one("CycleSummary"), **TOLD),
}
