"""The example organisation: loaded once, and never into somebody's own data."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from django.db import transaction

import resources
from resources import ledger, specs
from resources.actor import SYSTEM
from resources.documents import load_paths
from resources.models import LedgerEvent, Resource

FOLDER = Path(resources.__file__).parent / "example"
EVENT = "example.loaded"


class Refused(Exception):
    """The database already holds an organisation."""


def load(now: datetime) -> int:
    """Load the example into an empty store; returns how many resources it made."""
    if LedgerEvent.objects.filter(subject="example", event=EVENT).exists():
        return 0
    if Resource.objects.exists():
        raise Refused("This database already holds an organisation; the example stays out of it.")
    documents = [each.document for each in load_paths([str(FOLDER)]) if each.document is not None]
    wishes = [specs.Wish(each, message="Loaded with the example.") for each in documents]
    with transaction.atomic():
        outcome = specs.apply(wishes, actor=SYSTEM, now=now)
        if not outcome.written:
            raise RuntimeError(f"The example does not apply: {outcome.results}")
        entry = ledger.Entry(
            stream="system/example",
            event=EVENT,
            subject="example",
            payload={"resources": len(documents)},
        )
        ledger.append([entry], actor=SYSTEM, now=now)
    return len(documents)
