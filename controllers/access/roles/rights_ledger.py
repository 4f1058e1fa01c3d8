"""What a change of rights leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from controllers.access import people
from resources.store import announcements


def note(person: User, event: str, payload: Mapping[str, Any], *, by: User, now: datetime) -> None:
    """Write what became of somebody's rights into their chain."""
    people.note(person, event, payload, actor=people.actor_for(by), now=now)
    announcements.announce()
