"""The value of an override: put into the spec as the person's own change, and put back."""

from __future__ import annotations

from copy import deepcopy
from datetime import datetime
from typing import Any

from controllers.models import Hold
from resources.documents.actor import Actor
from resources.documents.problems import invalid
from resources.store import snapshots
from resources.tables.models import Resource
from resources.usecases import specs


def put(hold: Hold, value: Any, *, actor: Actor, now: datetime, message: str) -> Any:
    """Put a value where a hold is, in the caller's transaction; return what was there.

    Nothing stands for a field that is not declared.
    """
    row = locked(hold)
    spec = deepcopy(row.spec)
    before = exchange(spec, hold.path, value)
    document = snapshots.assemble(
        row.kind, snapshots.ordered_metadata(row.name, row.metadata), spec, {}
    )
    wish = specs.DesiredDocument(document, expected=row.resource_version, message=message)
    outcome = specs.apply([wish], actor=actor, now=now)
    for problem in outcome.results[0].problems:
        raise invalid(f"{row} does not take this value: {problem.message}")
    return before


def locked(hold: Hold) -> Resource:
    """Return the resource, kept as it is until the transaction ends."""
    rows = Resource.objects.select_for_update(no_key=True)
    row = rows.filter(pk__in=[hold.resource_id], deleted_at=None).first()
    if row is None:
        raise invalid(f"{hold.subject} is gone.")
    return row


def at(spec: dict[str, Any], path: str) -> Any:
    """Return what stands at a path such as `spec.tokenBudget.maxDaily`, or nothing."""
    found: Any = {"spec": spec}
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def exchange(spec: dict[str, Any], path: str, value: Any) -> Any:
    """Write a value at a path, or take it away, and return what stood there."""
    _, *names, last = path.split(".")
    holder = spec
    for name in names:
        holder = holder.setdefault(name, {})
        if not isinstance(holder, dict):
            raise invalid(f"{path} leads through {name}, which has no fields.")
    before = holder.pop(last, None) if value is None else holder.get(last)
    if value is not None:
        holder[last] = value
    return before
