"""A request that is sent twice is done once; the second gets the answer of the first."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import IntegrityError, transaction

from controllers.models import Answered
from resources.documents.kind import Document
from resources.documents.problems import conflict

# How long a caller may come back for its answer.
KEPT = timedelta(days=1)


class Named(NamedTuple):
    """A request that its caller named, and what it asks for."""

    actor: str
    key: str
    digest: str


class IdempotentResponse(NamedTuple):
    """An answer."""

    status: int
    body: Document


def once(named: Named, say: Callable[[], IdempotentResponse], now: datetime) -> IdempotentResponse:
    """Do what is asked, or return what was answered before; what is refused may be tried again."""
    if not named.key:
        return say()
    with transaction.atomic():
        row = noted(named, now)
        if row is None:
            return before(named)
        said = say()
        Answered.objects.filter(pk=row.pk).update(status=said.status, body=said.body)
        return said


def noted(named: Named, now: datetime) -> Answered | None:
    """Take a name; nothing when it is taken. A rival with the same one waits until it is clear."""
    try:
        with transaction.atomic():
            return Answered.objects.create(**named._asdict(), status=0, at=now)
    except IntegrityError:
        return None


def before(named: Named) -> IdempotentResponse:
    """Return what was answered."""
    row = Answered.objects.filter(actor=named.actor, key=named.key).first()
    if row is None or row.digest != named.digest:
        raise conflict("This Idempotency-Key names another request of yours. Use a new one.")
    return IdempotentResponse(row.status, row.body)


def forget(now: datetime) -> int:
    """Drop answers for which nobody may come back."""
    dropped, _ = Answered.objects.filter(at__lt=now - KEPT).delete()
    return dropped
