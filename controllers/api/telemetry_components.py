"""The schemas of events and of what became of them."""

from __future__ import annotations

from typing import get_args

from controllers.telemetry import MOST, Verdict
from controllers.telemetry.judging import CATEGORIES, SEVERITIES
from resources.api.components import FREE, TIME, Schema, many, one, structure, text

NAMES: Schema = {"type": "array", "items": {"type": "string"}}
SOURCE = structure("", "Who tells it; it must be the token's agent.", agent=text(), domain=text())
TOLD: dict[str, Schema] = {
    "event": text("Such as `growth.signup_completed`; `-` and `_` are one."),
    "payload": FREE,
    "category": text(enum=list(CATEGORIES)),
    "severity": text(enum=list(SEVERITIES)),
    "time": text("When it happened; without it, when it arrived.", format="date-time"),
    "correlationId": text(maxLength=64),
    "causationId": text(maxLength=64),
    "source": SOURCE,
}
SCHEMAS: dict[str, Schema] = {
    "TelemetryEvent": structure(
        "event",
        "What an agent tells.",
        id=text("What you name it by: told twice it counts once.", maxLength=200),
        **TOLD,
    ),
    "TelemetryBatch": {
        "description": "One event, or many.",
        "oneOf": [
            one("TelemetryEvent"),
            structure("items", items={**many("TelemetryEvent"), "maxItems": MOST}),
        ],
    },
    "TelemetryItem": structure(
        "event verdict",
        id=text(),
        event=text(),
        verdict=text(enum=list(get_args(Verdict))),
        contract=text("The Telemetry resource it was held against."),
        problems=many("Fault"),
        flags={**NAMES, "description": "What was wrong, such as `schema` or `uncontracted`."},
    ),
    "TelemetryTaken": structure("items", items=many("TelemetryItem")),
    "TelemetryRecord": structure(
        "id event category severity time receivedAt source payload batch flags",
        "An event as it is kept; what is personal in it is masked.",
        id=text(),
        **TOLD,
        receivedAt=TIME,
        contract=text(),
        batch=text("The ledger keeps a digest over each batch.", format="uuid"),
        flags=NAMES,
    ),
    "TelemetryList": structure(
        "items",
        items=many("TelemetryRecord"),
        nextCursor=text("Where the next page begins; absent on the last."),
    ),
}
