"""What the ledger hears when a trigger starts nothing."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from controllers.workflows.runs import RunRequest
from controllers.workflows.triggers.declarations import Trigger
from resources.documents.actor import SYSTEM
from resources.store import announcements
from resources.tables import ledger

EVENT = "workflow.start-refused"


def tell(trigger: Trigger, wish: RunRequest, reason: str, now: datetime) -> None:
    """Say why no run was started, in the story of what should have started it."""
    subject = f"workflow/{trigger.name}"
    payload = {"trigger": wish.trigger, "request": wish.request_key, "reason": reason}
    entry = ledger.Entry(
        f"resource/{trigger.uid}", EVENT, subject, payload, category="alert", severity="warning"
    )
    token = ledger.correlation.set(wish.correlation_id)
    try:
        with transaction.atomic():
            ledger.append([entry], actor=SYSTEM, now=now)
            announcements.announce()
    finally:
        ledger.correlation.reset(token)
