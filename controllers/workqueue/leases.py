"""Leases: one worker runs a controller at a time, and a worker that was replaced cannot write."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import QuerySet

from controllers.engine.errors import Fenced
from controllers.models import Runtime

TERM = timedelta(seconds=60)
TAKE = """
    UPDATE controllers_runtime SET holder = %s, token = token + 1, leased_until = %s
    WHERE controller_id = %s AND problem = '' AND breaker <> %s
      AND (leased_until IS NULL OR leased_until <= %s)
    RETURNING token
"""
HOLD = """
    UPDATE controllers_runtime SET leased_until = %s WHERE controller_id = %s AND token = %s
      AND EXISTS (SELECT 1 FROM resources_resource AS declared
        WHERE declared.id = controller_id AND declared.deleted_at IS NULL
          AND declared.generation = controllers_runtime.generation)
"""


@dataclass(frozen=True)
class Lease:
    """The right to run one controller; each new holder has a larger token."""

    controller: int
    holder: str
    token: int


def take(controller: int, holder: str, now: datetime) -> Lease | None:
    """Take a controller's lease if nobody holds it; of many workers one succeeds."""
    until, at = map(connection.ops.adapt_datetimefield_value, (now + TERM, now))
    with connection.cursor() as cursor:
        cursor.execute(TAKE, [holder, until, controller, Runtime.Breaker.OPEN.value, at])
        taken = cursor.fetchone()
    return None if taken is None else Lease(controller, holder, taken[0])


def hold(lease: Lease, now: datetime) -> None:
    """Prolong a lease, first thing in every transaction made under it; one that is lost raises.

    It is lost to another worker, and to whoever declares the controller anew or deletes it.
    """
    until = connection.ops.adapt_datetimefield_value(now + TERM)
    with connection.cursor() as cursor:
        cursor.execute(HOLD, [until, lease.controller, lease.token])
        if not cursor.rowcount:
            raise Fenced(
                "Another worker runs this controller now, or it is no longer as declared."
            )


def keep(lease: Lease, since: datetime, now: datetime) -> datetime:
    """Prolong a lease in good time while nothing is written; return when that was last done."""
    if now - since < TERM / 3:
        return since
    hold(lease, now)
    return now


def release(lease: Lease) -> None:
    """Give a lease back."""
    held(lease).update(holder="", leased_until=None)


def held(lease: Lease) -> QuerySet[Runtime]:
    """Return the row of a lease, while it is ours."""
    return Runtime.objects.filter(controller=lease.controller, token=lease.token)
