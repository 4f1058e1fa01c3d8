"""How the API spells what documents share: times, answers, and nothing where there is nothing."""

from __future__ import annotations

from datetime import datetime

from resources.kind import Document
from resources.ledger import instant

Times = tuple[tuple[str, datetime | None], ...]


def said(found: Document) -> Document:
    """Leave out what there is nothing to say about."""
    return {key: value for key, value in found.items() if value is not None and value != ""}


def spelled(answer: str) -> str:
    """Spell an answer as the API does."""
    return answer.replace("_", "-")


def times(found: Times) -> Document:
    """Write the times that there are."""
    return {name: instant(at) for name, at in found if at is not None}
