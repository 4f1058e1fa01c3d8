"""Walk through live resources in batches, ordered by name, conditions loaded along."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from django.db.models import QuerySet

from resources.documents.kind import Document
from resources.store.snapshots import conditions_of
from resources.tables.batches import SIZE
from resources.tables.models import Condition, Resource

Write = Callable[[Resource, Iterable[Condition]], Document]


def live(kind: str) -> QuerySet[Resource]:
    """Return the living resources of a kind."""
    return Resource.objects.filter(kind=kind, deleted_at=None)


def walk(found: QuerySet[Resource], write: Write) -> Iterator[tuple[Resource, Document]]:
    """Yield every row with its document: two queries for each batch, however many there are."""
    after = ""
    while batch := list(found.filter(name__gt=after).order_by("name")[:SIZE]):
        conditions = conditions_of(batch)
        for row in batch:
            yield row, write(row, conditions[row.pk])
        after = batch[-1].name
