"""The lives of the database: which is its present one, and which ones people know to be over."""

from __future__ import annotations

import uuid
from datetime import datetime

from django.conf import settings

from controllers.decisions.local_checkpoint import LocalCheckpoint
from controllers.models import Hold, Incarnation
from resources.documents.actor import SYSTEM, Actor
from resources.tables import ledger
from resources.tables.models import LedgerEvent


def begin(now: datetime, *, known: bool) -> LocalCheckpoint | None:
    """Give a database that never had one its first life.

    One that tells of something and is `known` to a machine has lost what it had.
    """
    if Incarnation.objects.exists() or (known and LedgerEvent.objects.exists()):
        return None
    first = settings.INCARNATION or uuid.uuid4()
    row = Incarnation(uid=first, accepted_at=now, accepted_by=str(SYSTEM))
    Incarnation.objects.bulk_create([row], ignore_conflicts=True)
    return present()


def present() -> LocalCheckpoint | None:
    """Return the present life and the newest entry of the ledger."""
    life = Incarnation.objects.exclude(accepted_at=None).order_by("-pk").first()
    if life is None:
        return None
    newest = LedgerEvent.objects.order_by("-pk").values_list("pk", "hash", "at").first()
    if newest is None:
        return LocalCheckpoint(life.uid)
    return LocalCheckpoint(life.uid, newest[0], newest[1], ledger.instant(newest[2]))


def contradicts(seen: LocalCheckpoint, life: LocalCheckpoint | None) -> bool:
    """Tell whether the database is not, or is no longer, the one that a machine has seen.

    Of a life that a person has declared over nothing has to be there.
    """
    if life is None or seen.incarnation != life.incarnation:
        accepted = Incarnation.objects.filter(uid=seen.incarnation, accepted_at__isnull=False)
        return not accepted.exists()
    return seen.entry > 0 and not holds_entry(seen)


def holds_entry(seen: LocalCheckpoint) -> bool:
    """Tell whether the ledger has the very entry that was seen; another may have its number."""
    return LedgerEvent.objects.filter(pk=seen.entry, hash=seen.hash).exists()


def note(seen: LocalCheckpoint) -> None:
    """Write down a life that a machine knew, until a person accepts that it is over."""
    Incarnation.objects.bulk_create([Incarnation(uid=seen.incarnation)], ignore_conflicts=True)


def accept(actor: Actor, now: datetime) -> str:
    """Begin a new life: whatever machines knew of the ones before is over."""
    Incarnation.objects.filter(accepted_at=None).update(accepted_at=now, accepted_by=str(actor))
    life = Incarnation.objects.create(uid=uuid.uuid4(), accepted_at=now, accepted_by=str(actor))
    return str(life.uid)


def asks(hold: Hold) -> bool:
    """Tell whether a hold asks a person to accept a restored database."""
    placed = (hold.kind, hold.scope, hold.author)
    return placed == (Hold.Kind.FREEZE, Hold.Scope.ORGANISATION, str(SYSTEM))


def asking() -> Hold | None:
    """Return the freeze that waits for a person to accept a restored database."""
    frozen = Hold.objects.filter(kind=Hold.Kind.FREEZE, scope=Hold.Scope.ORGANISATION)
    return frozen.filter(author=str(SYSTEM), ended_at=None).first()
