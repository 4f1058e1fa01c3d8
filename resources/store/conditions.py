"""Conditions change only through here: owners keep theirs, and time moves only on a flip."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from resources.documents.kind import Document, Fault
from resources.store.snapshots import parse_instant
from resources.store.store import Draft
from resources.tables.models import Condition

KNOWN = ("type", "status", "reason", "message", "lastTransitionTime", "managedBy")


def place(draft: Draft, item: Document, *, managed_by: str, now: datetime) -> None:
    """Set one condition on a draft, if it says anything new."""
    old = draft.conditions.get(item["type"])
    new = Condition(
        pk=old.pk if old else None,
        resource=draft.resource,
        type=item["type"],
        status=item["status"],
        reason=item.get("reason") or "",
        message=item.get("message") or "",
        managed_by=managed_by,
        last_transition_time=transition(old, item, now),
        extra={k: v for k, v in item.items() if k not in KNOWN and v is not None},
    )
    if old is None or content(old) != content(new):
        draft.conditions[new.type] = new
        draft.observed = True


def content(condition: Condition) -> tuple[Any, ...]:
    """Return what a condition says, without its key."""
    return (
        condition.status,
        condition.reason,
        condition.message,
        condition.managed_by,
        condition.last_transition_time,
        condition.extra,
    )


def transition(old: Condition | None, item: Document, now: datetime) -> datetime:
    """Return when the condition last flipped; a reporter may say so only when it flips."""
    if old is not None and old.status == item["status"]:
        return old.last_transition_time
    given = parse_instant(item.get("lastTransitionTime") or "")
    return given if given is not None and given <= now else now


def report(draft: Draft, items: Iterable[Document], *, now: datetime) -> Iterator[Fault]:
    """Merge reported conditions by type; a condition somebody manages is not the reporter's."""
    for position, item in enumerate(items):
        pointer = f"/status/conditions/{position}"
        old = draft.conditions.get(item["type"])
        if old is not None and old.managed_by:
            message = f"{old.type} is written by {old.managed_by} and nobody else."
            yield Fault(pointer, message)
        elif item.get("managedBy"):
            yield Fault(f"{pointer}/managedBy", "Leave this out: the server sets it.")
        else:
            place(draft, item, managed_by="", now=now)


def drop(draft: Draft, types: Iterable[str]) -> None:
    """Take conditions off a draft."""
    for name in types:
        del draft.conditions[name]
        draft.observed = True


def free(draft: Draft) -> set[str]:
    """Return the types nobody manages: what a plain report may replace."""
    return {name for name, each in draft.conditions.items() if not each.managed_by}
