"""Notice that a backup took the place of the database; then nothing runs until people agree."""

from __future__ import annotations

import logging
import socket
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction

from controllers.decisions import database_lives, holds, local_checkpoint, locks
from controllers.decisions.local_checkpoint import LocalCheckpoint
from controllers.models import Hold
from controllers.notifications import delivery
from resources.documents.actor import SYSTEM
from resources.tables import ledger, versions

logger = logging.getLogger("ioa.restoring")

LIFT = "Nothing is carried out until a person lifts this freeze."
REASON = "The database was restored from a backup, or is another one. {what} {lift}"


def look(now: datetime) -> Hold | None:
    """Compare the database with what is remembered outside it; return the freeze, if one stands.

    What agrees is remembered before anything is done outside, so that no effect of this machine
    is ever unknown to it.
    """
    kept, life = local_checkpoint.read(), database_lives.present()
    if life is None and (life := database_lives.begin(now, known=kept is not None)):
        kept = None
    if any(database_lives.contradicts(each, life) for each in remembered(kept)):
        return freeze(now)
    if life is not None:
        local_checkpoint.keep(life)
    return None


def remembered(kept: LocalCheckpoint | None) -> list[LocalCheckpoint]:
    """Return everything outside that knows of the database."""
    told = [LocalCheckpoint(settings.INCARNATION)] if settings.INCARNATION else []
    return [kept, *told] if kept else told


def freeze(now: datetime) -> Hold | None:
    """Freeze the organisation once, however many machines notice."""
    with transaction.atomic():
        locks.exclude("organisation", "", None, None)
        if (standing := database_lives.asking()) is not None:
            note(standing_reasons())
            return standing
        # Somebody may have lifted it since the look.
        reasons = standing_reasons()
        return write(reasons, now) if reasons else None


def standing_reasons() -> list[LocalCheckpoint]:
    """Return what is remembered and not in the database, as things stand now."""
    life = database_lives.present()
    found = remembered(local_checkpoint.read())
    return [each for each in found if database_lives.contradicts(each, life)]


def note(reasons: list[LocalCheckpoint]) -> None:
    """Leave no number and no life behind that somebody outside knows already."""
    for each in reasons:
        database_lives.note(each)
        versions.pass_over(each.entry)


def write(reasons: list[LocalCheckpoint], now: datetime) -> Hold:
    """Place the freeze and tell people, under the lock of the organisation."""
    note(reasons)
    said = [sentence(each) for each in reasons]
    reason = REASON.format(what=" ".join(said), lift=LIFT)
    wanted = holds.HoldRequest("freeze", "organisation", reason)
    hold = holds.place(wanted, actor=SYSTEM, now=now).hold
    entry = ledger.Entry(
        "system", "system.restored", "organisation", payload(hold, reasons), "alert", "critical"
    )
    ledger.append([entry], actor=SYSTEM, now=now)
    delivery.tell(
        "",
        title="The database was restored: everything is frozen",
        body=reason,
        severity="critical",
        key=f"restored/{hold.uid}",
        now=now,
        hold=hold,
    )
    logger.warning("%s", reason)
    return hold


def sentence(seen: LocalCheckpoint) -> str:
    """Say what was seen, and when."""
    where = socket.gethostname()[:60]
    if not seen.entry:
        return f"IOA_INCARNATION on {where} names {seen.incarnation}, which it does not know."
    return f"{where} has seen entry {seen.entry:,} of {seen.at}, which it does not have."


def payload(hold: Hold, reasons: list[LocalCheckpoint]) -> dict[str, Any]:
    """Write what was noticed as the ledger keeps it."""
    seen = [
        {"incarnation": str(each.incarnation), "entry": each.entry, "hash": each.hash}
        for each in reasons
    ]
    return {"hold": hold.pk, "machine": socket.gethostname()[:60], "seen": seen}
