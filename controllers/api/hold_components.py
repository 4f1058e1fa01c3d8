"""The schemas of the answers about holds."""

from __future__ import annotations

from controllers.api.decision_components import ACTOR, ANY, CURSOR, NUMBER, REASON, RESOURCE
from controllers.models import Hold
from resources.api.components import FREE, SWITCH, TIME, Schema, many, one, structure, text

HOLD: Schema = {
    "id": NUMBER,
    "kind": text(enum=list(Hold.Kind.values)),
    "scope": text(enum=list(Hold.Scope.values)),
    "domain": text(),
    "controller": RESOURCE,
    "resource": RESOURCE,
    "path": text("A field of the resource, such as `spec.tokenBudget.maxDaily`."),
    "value": ANY,
    "former": ANY,
    "window": FREE,
    "inFlight": text("What becomes of work that has begun.", enum=list(Hold.InFlight.values)),
    "reason": text(),
    "author": ACTOR,
    "owner": text(),
    "proposal": NUMBER,
    "endedBy": ACTOR,
    "endReason": text(),
    "epoch": text("It moves with every change of the holds."),
    **dict.fromkeys(("placedAt", "startsAt", "endsAt", "endedAt"), TIME),
}
SCHEMAS: dict[str, Schema] = {
    "Hold": structure("id kind scope inFlight reason author placedAt epoch", **HOLD),
    "HoldList": structure("items epoch", items=many("Hold"), epoch=text(), nextCursor=CURSOR),
    "UnderWay": structure(
        "proposal operation target state",
        "A call that had begun before the hold.",
        proposal=NUMBER,
        operation=text(),
        target=RESOURCE,
        state=text(),
        claimedBy=text(),
        deadline=TIME,
    ),
    "PlacedHold": structure(
        "hold inFlight detail", hold=one("Hold"), inFlight=many("UnderWay"), detail=text()
    ),
    "HoldRecord": structure(
        "hold",
        "People also see what it keeps from running.",
        hold=one("Hold"),
        underWay=many("UnderWay"),
        preview={**FREE, "description": "What would happen if it were lifted."},
    ),
    "Holding": structure(
        "kind scope reason",
        "A hold that is not given an end ends after seven days.",
        kind=HOLD["kind"],
        scope=HOLD["scope"],
        reason=REASON,
        domain=text(),
        controller=text(),
        resource=RESOURCE,
        path=HOLD["path"],
        value=ANY,
        startsAt=TIME,
        endsAt=TIME,
        openEnded=SWITCH,
        window=structure("cron timezone duration", cron=text(), timezone=text(), duration=text()),
        inFlight=HOLD["inFlight"],
        owner=text("A person's name."),
    ),
    "Lifting": structure(
        "reason",
        reason=REASON,
        restore={**SWITCH, "description": "Put back what an override replaced."},
    ),
    "Renewing": structure("reason endsAt", reason=REASON, endsAt=TIME),
}
