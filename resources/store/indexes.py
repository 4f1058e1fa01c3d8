"""What is kept beside a resource: its labels and references for SQL, and its mark for the loop."""

from __future__ import annotations

from collections.abc import Sequence

from resources.documents import kinds
from resources.store.snapshots import assemble, ordered_metadata
from resources.tables.batches import SIZE, batches
from resources.tables.models import DirtyMark, Label, Reference, Resource


def forget(keys: Sequence[int]) -> None:
    """Drop the indexes of resources that are declared anew or gone."""
    for batch in batches(keys):
        for table in (Label, Reference):
            table.objects.filter(resource__in=batch).delete()


def index(resources: Sequence[Resource]) -> None:
    """Index the labels and references of what was declared."""
    for batch in batches(resources):
        Label.objects.bulk_create([label for row in batch for label in labels_of(row)])
        Reference.objects.bulk_create([each for row in batch for each in references_of(row)])


def mark(resources: Sequence[Resource]) -> None:
    """Leave a mark at each changed resource, for the loop to find."""
    DirtyMark.objects.bulk_create(
        [DirtyMark(resource=row, version=row.resource_version) for row in resources],
        update_conflicts=True,
        unique_fields=["resource"],
        update_fields=["version"],
        batch_size=SIZE,
    )


def labels_of(row: Resource) -> list[Label]:
    """Return the label rows of a resource."""
    labels: dict[str, str] = row.metadata.get("labels") or {}
    return [Label(resource=row, key=key, value=value) for key, value in labels.items()]


def references_of(row: Resource) -> list[Reference]:
    """Return the rows for every resource this one names; names in namespaces are left out."""
    kind = kinds.by_name(row.kind)
    metadata = ordered_metadata(row.name, row.metadata)
    document = assemble(row.kind, metadata, row.spec, {})
    found = [
        Reference(
            resource=row,
            pointer=each.pointer[:512],
            target_kind=each.target,
            target_name=each.name[:253],
            severity=each.severity,
        )
        for each in (kind.references(document) if kind else ())
        if kinds.by_name(each.target)
    ]
    return found + owners_of(row)


def owners_of(row: Resource) -> list[Reference]:
    """Return the rows for a resource's owners; without a policy an owner cannot be deleted."""
    return [
        Reference(
            resource=row,
            pointer=f"/metadata/ownerReferences/{position}",
            target_kind=owner["kind"],
            target_name=owner["name"],
            severity="warning",
            delete_policy=owner.get("deletePolicy", "block"),
        )
        for position, owner in enumerate(row.metadata.get("ownerReferences") or [])
    ]
