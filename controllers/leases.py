"""Leases: one worker runs a controller at a time, and a worker that was replaced cannot write."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from controllers.engine.errors import Fenced
from controllers.models import Runtime
from resources.models import Resource

TERM = timedelta(seconds=60)


@dataclass(frozen=True)
class Lease:
    """The right to run one controller; each new holder has a larger token."""

    controller: int
    holder: str
    token: int


def take(controller: int, holder: str, now: datetime) -> Lease | None:
    """Take a controller's lease if nobody holds it; of many workers one succeeds."""
    free = Runtime.objects.filter(
        Q(leased_until=None) | Q(leased_until__lte=now), controller=controller, problem=""
    ).exclude(breaker=Runtime.Breaker.OPEN)
    until = now + TERM
    if not free.update(holder=holder, token=F("token") + 1, leased_until=until):
        return None
    mine = Runtime.objects.filter(controller=controller, holder=holder, leased_until=until)
    token = mine.values_list("token", flat=True).first()
    return None if token is None else Lease(controller, holder, token)


def hold(lease: Lease, now: datetime) -> None:
    """Prolong a lease, first thing in every transaction made under it; one that is lost raises.

    It is lost to another worker, and to whoever declares the controller anew or deletes it.
    """
    declared = Resource.objects.filter(
        pk=OuterRef("controller"), generation=OuterRef("generation"), deleted_at=None
    )
    if not held(lease).filter(Exists(declared)).update(leased_until=now + TERM):
        raise Fenced("Another worker runs this controller now, or it is no longer as declared.")


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
