"""Documents out of rows: as they are now, and as they were."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from resources.documents.kind import V02, Document
from resources.tables.batches import batches
from resources.tables.ledger import instant
from resources.tables.models import Condition, Resource

# What the server writes into metadata; a document's own values for these are not declarations.
SYSTEM_METADATA = ("uid", "generation", "resourceVersion", "createdAt", "updatedAt", "deletedAt")


def document_of(resource: Resource, conditions: Iterable[Condition]) -> Document:
    """Return the whole document of a resource, with what the server knows about it."""
    metadata = ordered_metadata(resource.name, resource.metadata) | {
        "uid": str(resource.uid),
        "generation": resource.generation,
        "resourceVersion": str(resource.resource_version),
        "createdAt": instant(resource.created_at),
        "updatedAt": instant(resource.updated_at),
    }
    return assemble(resource.kind, metadata, resource.spec, observed(resource.status, conditions))


def declared_document(resource: Resource, conditions: Iterable[Condition]) -> Document:
    """Return what an export holds: nothing that another server would have to make anew."""
    kept = [each for each in conditions if not each.managed_by.startswith("system/")]
    metadata = ordered_metadata(resource.name, resource.metadata)
    return assemble(resource.kind, metadata, resource.spec, observed(resource.status, kept))


def assemble(kind: str, metadata: Document, spec: Document, status: Document) -> Document:
    """Put the parts of a document in their usual order."""
    document: Document = {"apiVersion": V02, "kind": kind, "metadata": metadata, "spec": spec}
    return {**document, "status": status} if status else document


def ordered_metadata(name: str, declared: Document) -> Document:
    """Return declared metadata, the name first."""
    return {"name": name, **declared}


def observed(status: Document, conditions: Iterable[Condition]) -> Document:
    """Return a whole status: what was reported and the conditions, ordered by type."""
    listed = [as_item(each) for each in sorted(conditions, key=lambda each: each.type)]
    return {**status, "conditions": listed} if listed else status


def as_item(condition: Condition) -> Document:
    """Write a condition as an item of `status.conditions`."""
    item: Document = {"type": condition.type, "status": condition.status}
    for key, value in (("reason", condition.reason), ("message", condition.message)):
        if value:
            item[key] = value
    item["lastTransitionTime"] = instant(condition.last_transition_time)
    if condition.managed_by:
        item["managedBy"] = condition.managed_by
    return {**item, **condition.extra}


def declared_metadata(document: Document) -> Document:
    """Return the metadata a document declares, without its name and what the server writes."""
    metadata: Document = document["metadata"]
    return {k: v for k, v in metadata.items() if k != "name" and k not in SYSTEM_METADATA}


def conditions_of(resources: Sequence[Resource]) -> dict[int, list[Condition]]:
    """Load the conditions of many resources at once."""
    found: dict[int, list[Condition]] = {resource.pk: [] for resource in resources}
    for batch in batches(found):
        for condition in Condition.objects.filter(resource__in=batch):
            found[condition.resource_id].append(condition)
    return found


def parse_instant(text: str) -> datetime | None:
    """Read a zoned RFC 3339 time as UTC; nothing when it is not one."""
    try:
        at = datetime.fromisoformat(text)
        # In UTC, because PostgreSQL knows no offset beyond 16 hours.
        return at.astimezone(UTC) if at.tzinfo else None
    except (ValueError, OverflowError):
        return None
