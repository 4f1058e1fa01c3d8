"""The one place that writes resource rows: guarded by version, chained into the ledger.

Callers read and decide outside any transaction and hand over drafts. `write` changes each row only
if it still has the version the draft was made from; one that moved on makes the whole set `Stale`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson
from django.db import IntegrityError, OperationalError, connection, transaction

from resources.documents.actor import Actor
from resources.store import announcements, indexes
from resources.store.snapshots import conditions_of, observed
from resources.tables import ledger, versions
from resources.tables.batches import SIZE, batches, upsert
from resources.tables.bulk_tables import table_of
from resources.tables.models import Condition, Resource, ResourceRevision

BATCH = 1_000
# What PostgreSQL calls the end of two transactions that wait for each other.
DEADLOCK = "40P01"
CHANGE = ResourceRevision.Change
UPDATE = """
    UPDATE resources_resource SET domain = %s, metadata = %s, spec = %s, status = %s,
      generation = %s, resource_version = %s, declared_version = %s, observed_version = %s,
      stated_version = %s, updated_at = %s, deleted_at = %s,
      reported_at = CASE WHEN %s THEN %s ELSE reported_at END
    WHERE id = %s AND resource_version = %s
"""
# What is only observed leaves the declaration as it is.
OBSERVE = """
    UPDATE resources_resource SET status = %s, resource_version = %s, observed_version = %s,
      stated_version = %s, updated_at = %s, reported_at = %s
    WHERE id = %s AND resource_version = %s
"""
CONDITIONS = table_of(Condition, unique=("resource_id", "type"))
REVISIONS = table_of(ResourceRevision)


class Stale(Exception):
    """Somebody else changed one of the resources first; nothing was written."""


@dataclass
class Draft:
    """A resource as it should be written, and what about it is different."""

    resource: Resource
    conditions: dict[str, Condition] = field(default_factory=dict)
    read_version: int | None = None
    # The conditions as they were read: what is still the same object is not written again.
    stored: Mapping[str, Condition] = field(default_factory=dict)
    declared: bool = False
    observed: bool = False
    deleted: bool = False
    # What a controller notes about its targets is no news to controllers.
    quiet: bool = False
    message: str = ""
    events: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    @property
    def new(self) -> bool:
        """Whether the row does not exist yet."""
        return self.read_version is None

    @property
    def touched(self) -> bool:
        """Whether there is anything to write."""
        return self.declared or self.observed or self.deleted

    @property
    def restated(self) -> bool:
        """Whether any condition is another than the one that was read."""
        touched = (each is not self.stored.get(kind) for kind, each in self.conditions.items())
        return len(self.stored) != len(self.conditions) or any(touched)

    @property
    def change(self) -> str:
        """What the watch feed calls this."""
        if self.deleted:
            return CHANGE.DELETED
        return CHANGE.ADDED if self.new else CHANGE.MODIFIED


def drafts_of(resources: Iterable[Resource]) -> list[Draft]:
    """Begin drafts of existing rows, their conditions loaded together."""
    rows = list(resources)
    conditions = conditions_of(rows)
    drafts = []
    for row in rows:
        stored = {each.type: each for each in conditions[row.pk]}
        drafts.append(Draft(row, dict(stored), row.resource_version, stored))
    return drafts


def write(
    drafts: Sequence[Draft],
    *,
    actor: Actor,
    now: datetime,
    progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Write every touched draft in one transaction, or raise `Stale` and write nothing."""
    # One order for everybody: two sets that overlap wait for each other instead of deadlocking.
    touched = sorted((draft for draft in drafts if draft.touched), key=place_in_line)
    if not touched:
        return
    done = 0
    with all_or_stale():
        for batch in batches(touched, BATCH):
            write_batch(batch, actor=actor, now=now)
            done += len(batch)
            progress(done)
        announcements.announce()


@contextmanager
def all_or_stale() -> Iterator[None]:
    """Open a transaction; what only a rival can cause becomes `Stale`."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise Stale("A resource of that name was created meanwhile.") from error
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") != DEADLOCK:
            raise
        raise Stale("Another writer and this one waited for each other.") from error


def place_in_line(draft: Draft) -> tuple[bool, int, str, str]:
    """Order drafts as every writer does: existing rows by key, then new ones by name."""
    row = draft.resource
    return (draft.new, 0 if draft.new else row.pk, row.kind, row.name)


def write_batch(drafts: Sequence[Draft], *, actor: Actor, now: datetime) -> None:
    """Write some drafts inside the transaction of all."""
    number(drafts, now)
    replace([draft for draft in drafts if not draft.new])
    create([draft for draft in drafts if draft.new])
    store_conditions([draft for draft in drafts if draft.observed])
    declared = [draft for draft in drafts if draft.declared or draft.deleted]
    indexes.forget([draft.resource.pk for draft in declared if not draft.new])
    indexes.index([draft.resource for draft in declared if not draft.deleted])
    indexes.mark([draft.resource for draft in drafts if not draft.quiet])
    record(drafts, actor=actor, now=now)


def number(drafts: Sequence[Draft], now: datetime) -> None:
    """Give each draft its place in the global order of changes."""
    for draft, version in zip(drafts, versions.take(len(drafts)), strict=True):
        row = draft.resource
        row.resource_version = version
        row.updated_at = now
        if draft.declared or draft.new:
            row.declared_version = version
        if draft.observed:
            row.observed_version = version
        if draft.restated:
            row.stated_version = version
        if draft.deleted:
            row.deleted_at = now


def replace(drafts: Sequence[Draft]) -> None:
    """Change existing rows, each only at the version that was read."""
    if not drafts:
        return
    # One statement for all, so that rows are taken in one order.
    declared = any(draft.declared or draft.deleted for draft in drafts)
    statement, spell = (UPDATE, as_row) if declared else (OBSERVE, as_observed)
    with connection.cursor() as cursor:
        cursor.executemany(statement, [spell(draft) for draft in drafts])
        if cursor.rowcount != len(drafts):
            raise Stale("A resource was changed meanwhile.")


def as_observed(draft: Draft) -> tuple[Any, ...]:
    """Return what changes of a row by being observed, and the version it must still have."""
    row = draft.resource
    adapt = connection.ops.adapt_datetimefield_value
    return (
        orjson.dumps(row.status).decode(),
        row.resource_version,
        row.observed_version,
        row.stated_version,
        adapt(row.updated_at),
        adapt(row.reported_at),
        row.pk,
        draft.read_version,
    )


def as_row(draft: Draft) -> tuple[Any, ...]:
    """Return a row's new values and the version it must still have."""
    row = draft.resource
    adapt = connection.ops.adapt_datetimefield_value
    return (
        row.domain,
        *(orjson.dumps(part).decode() for part in (row.metadata, row.spec, row.status)),
        row.generation,
        row.resource_version,
        row.declared_version,
        row.observed_version,
        row.stated_version,
        adapt(row.updated_at),
        adapt(row.deleted_at),
        # A change of the spec must not undo that an agent was heard meanwhile.
        draft.observed,
        adapt(row.reported_at),
        row.pk,
        draft.read_version,
    )


def create(drafts: Sequence[Draft]) -> None:
    """Insert new rows; their conditions learn their keys."""
    Resource.objects.bulk_create([draft.resource for draft in drafts], batch_size=SIZE)
    for draft in drafts:
        for condition in draft.conditions.values():
            condition.resource = draft.resource


def store_conditions(drafts: Sequence[Draft]) -> None:
    """Make the stored conditions equal to the drafts'."""
    gone = [each.pk for draft in drafts for each in vanished(draft)]
    for batch in batches(gone):
        Condition.objects.filter(pk__in=batch).delete()
    rows = [
        [getattr(each, name) for name in CONDITIONS.names]
        for draft in drafts
        for kind, each in draft.conditions.items()
        if each is not draft.stored.get(kind)
    ]
    upsert(connection, CONDITIONS, rows)


def vanished(draft: Draft) -> Iterator[Condition]:
    """Yield the conditions that were read and are no longer there."""
    for kind, each in draft.stored.items():
        if kind not in draft.conditions:
            yield each


def record(drafts: Sequence[Draft], *, actor: Actor, now: datetime) -> None:
    """Keep a revision of each change and chain what happened into the ledger."""
    upsert(connection, REVISIONS, [revision(draft, actor, now) for draft in drafts])
    entries = [
        ledger.Entry(
            stream=f"resource/{draft.resource.uid}",
            event=event,
            subject=str(draft.resource),
            payload={**payload, "resourceVersion": draft.resource.resource_version},
            category="log" if event == "resource.status-reported" else "audit",
        )
        for draft in drafts
        for event, payload in draft.events or [("resource.status-reported", {})]
    ]
    ledger.append(entries, actor=actor, now=now)


def revision(draft: Draft, actor: Actor, now: datetime) -> tuple[Any, ...]:
    """Spell the revision of one draft as the values of its row: only what changed is stored."""
    row = draft.resource
    declared = draft.declared or draft.new
    return (
        row.pk,
        row.kind,
        row.resource_version,
        draft.change,
        row.generation,
        row.declared_version,
        row.observed_version,
        row.metadata if declared else None,
        row.spec if declared else None,
        observed(row.status, draft.conditions.values()) if draft.observed else None,
        now,
        str(actor),
        draft.message[:500],
    )
