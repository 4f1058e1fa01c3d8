"""Housekeeping: what is due is found in the database, and exactly one process does it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings

from controllers import admission, budgets, telemetry
from controllers.access import lockout, session_records
from controllers.common import idempotency
from controllers.common import retention as records
from controllers.decisions import attention_checks, escalation, expiry, holds
from controllers.models import Chore
from controllers.trust import promotions
from controllers.worker import drills
from controllers.workflows import runs, triggers
from resources.documents.actor import SYSTEM
from resources.store import evidence, references, store
from resources.usecases import retention

logger = logging.getLogger("ioa.chores")

HEARTBEAT = "loop"
BEAT_EVERY = timedelta(seconds=5)
SILENT_AFTER = timedelta(seconds=15)
EVERY_FEW_SECONDS = timedelta(seconds=5)
EVERY_MINUTE = timedelta(minutes=1)
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Duty:
    """One chore: how often, and what."""

    name: str
    every: timedelta
    work: Callable[[datetime], object]


def duties() -> tuple[Duty, ...]:
    """Return everything the loop looks after."""
    return (
        Duty("holds", EVERY_FEW_SECONDS, holds.sweep),
        Duty("proposals", EVERY_FEW_SECONDS, expiry.sweep),
        Duty("escalation", EVERY_FEW_SECONDS, escalation.sweep),
        Duty("drills", EVERY_FEW_SECONDS, drills.sweep),
        Duty("runs", EVERY_FEW_SECONDS, runs.sweep),
        Duty("triggers", EVERY_FEW_SECONDS, triggers.listen),
        Duty("schedules", EVERY_FEW_SECONDS, triggers.keep_time),
        Duty("telemetry alerts", EVERY_FEW_SECONDS, telemetry.listen),
        Duty("violations", EVERY_FEW_SECONDS, admission.look_after),
        Duty("autonomy", EVERY_MINUTE, promotions.sweep),
        Duty("checks", EVERY_MINUTE, attention_checks.sweep),
        Duty("telemetry status", EVERY_MINUTE, telemetry.publish),
        Duty("budgets", EVERY_MINUTE, budgets.renew),
        Duty("checkpoint", settings.CHECKPOINT_EVERY, evidence.checkpoint),
        Duty("references", EVERY_MINUTE, recheck_references),
        Duty("retention", settings.RETENTION_EVERY, retention.sweep),
        Duty("records", settings.RETENTION_EVERY, records.sweep),
        Duty("events", settings.RETENTION_EVERY, telemetry.forget),
        Duty("answers", settings.RETENTION_EVERY, idempotency.forget),
        Duty("door", settings.RETENTION_EVERY, forget_at_the_door),
    )


def forget_at_the_door(now: datetime) -> int:
    """Drop sessions that are over, and tries that no longer count."""
    return session_records.forget(now) + lockout.forget(now)


def run_due(now: datetime) -> list[str]:
    """Do what is due, leave a heartbeat, and return what was done.

    A round in which nothing is due reads one row per chore and writes nothing.
    """
    last = dict(Chore.objects.values_list("name", "last_run_at"))
    due = [duty for duty in duties() if last.get(duty.name, NEVER) <= now - duty.every]
    done = [duty.name for duty in due if claim(duty, now) and attempt(duty, now)]
    if last.get(HEARTBEAT, NEVER) <= now - BEAT_EVERY:
        Chore.objects.update_or_create(name=HEARTBEAT, defaults={"last_run_at": now})
    return done


def claim(duty: Duty, now: datetime) -> bool:
    """Take a chore if it is due; of many processes one succeeds."""
    Chore.objects.get_or_create(name=duty.name, defaults={"last_run_at": NEVER})
    due = Chore.objects.filter(name=duty.name, last_run_at__lte=now - duty.every)
    return due.update(last_run_at=now) == 1


def attempt(duty: Duty, now: datetime) -> bool:
    """Do a chore; one that fails is logged and comes again."""
    try:
        duty.work(now)
    except Exception:
        logger.exception("The chore %s failed; it will be tried again.", duty.name)
        return False
    return True


def recheck_references(now: datetime) -> int:
    """Correct the conditions that two simultaneous writers could not see."""
    drafts = store.drafts_of(references.misjudged())
    references.settle(drafts, now=now)
    store.write(drafts, actor=SYSTEM, now=now)
    return len(drafts)


def heartbeat() -> datetime | None:
    """Return when the loop was last alive."""
    return Chore.objects.filter(name=HEARTBEAT).values_list("last_run_at", flat=True).first()


def is_alive(seen: datetime | None, now: datetime) -> bool:
    """Tell by its last heartbeat whether the loop runs."""
    return seen is not None and now - seen <= SILENT_AFTER
