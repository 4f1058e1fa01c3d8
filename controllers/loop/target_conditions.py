"""What a controller notes on its targets: its own condition, and the fields it refreshes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from controllers.engine.terms import Condition, Controller
from resources.documents.differences import merge
from resources.store import conditions, store
from resources.store.store import Draft
from resources.tables import ledger
from resources.tables.models import Resource

Path = tuple[str, ...]


def drafts(
    controller: Controller,
    stated: Mapping[int, Condition | None],
    released: Sequence[int],
    refreshed: Sequence[Path],
    now: datetime,
) -> list[Draft]:
    """Draft what is to be noted; none of it is news to controllers."""
    keys = [*stated, *released]
    found = store.drafts_of(Resource.objects.filter(pk__in=keys, deleted_at=None)) if keys else []
    for draft in found:
        draft.quiet = True
        if draft.resource.pk not in stated:
            take_back(draft, controller.ref)
            continue
        condition = stated[draft.resource.pk]
        if condition is not None:
            take_back(draft, controller.ref, but=condition.type)
            state(draft, condition, now)
        for path in refreshed:
            refresh(draft, path, now)
    return found


def take_back(draft: Draft, owner: str, but: str = "") -> None:
    """Take a controller's own conditions off a resource, but for the one it still writes."""
    own = [name for name, each in draft.conditions.items() if each.managed_by == owner]
    conditions.drop(draft, [name for name in own if name != but])


def state(draft: Draft, condition: Condition, now: datetime) -> None:
    """Put a condition on a draft; only one that flips is an event."""
    item = {"type": condition.type, "status": condition.status, "reason": condition.reason}
    old = draft.conditions.get(condition.type)
    said = {**item, "message": condition.message, **condition.extra}
    conditions.place(draft, said, managed_by=condition.managed_by, now=now)
    if old is None or old.status != condition.status:
        draft.events.append(("resource.condition-changed", item))


def refresh(draft: Draft, path: Path, now: datetime) -> None:
    """Set a field of the status to the time of this look."""
    patch: Any = ledger.instant(now)
    for name in reversed(path):
        patch = {name: patch}
    draft.resource.status = merge(draft.resource.status, patch)
    draft.observed = True
