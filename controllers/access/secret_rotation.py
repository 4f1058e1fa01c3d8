"""Write every stored secret anew with the present key, so that a former one can be dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Model

from controllers.access import people, roles
from controllers.common import secrets
from controllers.models import Channel, Endpoint
from resources.tables import ledger

# Where a secret may lie in what somebody signs in with.
SECRET_PARTS = ("secret", "seed")
SUBJECT = "secrets/keys"


def rotate(*, by: User, now: Any) -> int:
    """Encrypt every stored secret with the first key; return how many there were.

    All of it or nothing: one that no known key reads is named, and stays what it is.
    """
    roles.check_administers(by, now)
    with transaction.atomic():
        count = renewed(Channel, "address") + renewed(Endpoint, "secret")
        count += renewed_factors()
        entry = ledger.Entry(
            stream=SUBJECT, event="secrets.rotated", subject=SUBJECT, payload={"count": count}
        )
        ledger.append([entry], actor=people.actor_for(by), now=now)
    return count


def renewed(model: type[Model], name: str) -> int:
    """Renew one column of a table."""
    manager: Any = model._default_manager
    rows = list(manager.select_for_update().exclude(**{name: ""}).order_by("pk"))
    for row in rows:
        anew = again(getattr(row, name), secrets.encrypt)
        manager.filter(pk=row.pk).update(**{name: anew})
    return len(rows)


def renewed_factors() -> int:
    """Renew what authenticator apps and recovery codes rest on."""
    count = 0
    for row in Authenticator.objects.select_for_update().order_by("pk"):
        kept = {part: row.data[part] for part in SECRET_PARTS if part in row.data}
        if kept:
            data = row.data | {part: again(each, secrets.encrypt) for part, each in kept.items()}
            Authenticator.objects.filter(pk=row.pk).update(data=data)
            count += len(kept)
    return count


def again(kept: str, write: Callable[[str], str]) -> str:
    """Read a secret with whichever key wrote it, and write it with the present one."""
    return write(secrets.decrypt(kept))
