"""What only tells people; the loop does it by itself, as far as its mode lets it."""

from __future__ import annotations

from controllers.operations.operation import NAME, NAMES, Document, Operation, parameters
from resources.documents import kinds

EVERYTHING = tuple(kind.name for kind in kinds.ALL if kind.targetable)
SEVERITY: Document = {"enum": ["info", "warning", "error", "critical"]}
TEXT: Document = {"type": "string"}
TEXTS: Document = {"type": "array", "items": TEXT}


def _told(
    name: str, title: str, sentence: str, targets: tuple[str, ...], **given: Document
) -> Operation:
    return Operation(
        name=name,
        title=title,
        sentence=sentence,
        kind="notify",
        risk="low",
        targets=targets,
        parameters=parameters(**given),
        seen="An alert stands until the drift it is about has gone.",
    )


OPERATIONS = (
    _told(
        "alert",
        "Alert",
        "Tells those who listen to the channels of an alert rule.",
        EVERYTHING,
        budget=NAME,
        event=NAME,
        threshold={"type": "number"},
        severity=SEVERITY,
        channels=TEXTS,
    ),
    _told(
        "alert-stakeholders",
        "Alert stakeholders",
        "Tells those who answer for a domain what is wrong with it.",
        ("Domain",),
        domain=NAME,
        about=TEXTS,
    ),
    _told(
        "escalate",
        "Escalate",
        "Tells the first level of the escalation that governs a resource.",
        EVERYTHING,
        agent=NAME,
        policy=NAME,
        governance=NAME,
        workflow=NAME,
        run=NAME,
        domain=NAME,
        domains=NAMES,
        role=TEXT,
        to=TEXT,
        channels=TEXTS,
    ),
    _told(
        "flag-for-review",
        "Flag for review",
        "Tells the deciders of a decision to look at it again.",
        ("Decision",),
        decision=NAME,
        deciders=TEXTS,
        about=TEXTS,
    ),
    _told(
        "open-incident",
        "Open an incident",
        "Tells those who answer for an event that it arrives no more, or broken.",
        ("Telemetry",),
        event=NAME,
        domain=NAME,
        agent=NAME,
    ),
    _told(
        "run-override-drill",
        "Run an override drill",
        "Tells people to try whether they can still step in.",
        ("Governance",),
        governance=NAME,
        domain=NAME,
        channels=TEXTS,
    ),
)
