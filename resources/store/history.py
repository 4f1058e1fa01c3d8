"""The organisation as it was: any resource, any list, at any time that is still kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from resources.documents.kind import Document
from resources.documents.problems import GONE, Problem
from resources.store.snapshots import assemble, ordered_metadata
from resources.tables.ledger import instant
from resources.tables.models import Compaction, Resource, ResourceRevision

FEED = "revisions"


def as_at(
    kind: str, at: datetime, *, after: str = "", limit: int = 200, domain: str = ""
) -> list[Document]:
    """Return the resources of a kind that lived at a time, ordered by name."""
    lived = living(kind, at).filter(name__gt=after).order_by("name", "pk")
    rows = list(lived.filter(domain=domain)[:limit] if domain else lived[:limit])
    return documents_at(rows, at)


def document_at(kind: str, name: str, at: datetime) -> Document | None:
    """Return one resource as it was, or nothing if it did not live then."""
    found = documents_at(list(living(kind, at).filter(name=name)), at)
    return found[0] if found else None


def living(kind: str, at: datetime) -> QuerySet[Resource]:
    """Select what was here at a time; a document may say that it was created long before."""
    came = ResourceRevision.objects.filter(resource=OuterRef("pk"), at__lte=at)
    lived = Resource.objects.filter(Q(deleted_at=None) | Q(deleted_at__gt=at), kind=kind)
    return lived.filter(Exists(came))


def documents_at(rows: Sequence[Resource], at: datetime) -> list[Document]:
    """Return the documents of these resources as they were."""
    found = [document_of_revision(each) for each in with_parts(latest(rows, at))]
    # Asked last: what retention drops while we read must not look like it never was.
    refuse_dropped(at)
    return found


def refuse_dropped(at: datetime) -> None:
    """Refuse a time whose history is no longer whole."""
    mark = Compaction.objects.filter(name=FEED).first()
    if mark is not None and mark.before is not None and at < mark.before:
        raise Problem(GONE, f"History before {instant(mark.before)} was dropped.")


def latest(rows: Sequence[Resource], at: datetime) -> list[ResourceRevision]:
    """Return the revision in force at a time, for each resource, in their order."""
    newest = (
        ResourceRevision.objects.filter(resource__in=rows, at__lte=at)
        .values("resource")
        .annotate(version=Max("resource_version"))
    )
    versions = [each["version"] for each in newest]
    found = {
        each.resource_id: each
        for each in ResourceRevision.objects.filter(resource_version__in=versions)
    }
    known = {row.pk: row for row in rows}
    for revision in found.values():
        revision.resource = known[revision.resource_id]
    return [found[row.pk] for row in rows if row.pk in found]


def with_parts(revisions: Iterable[ResourceRevision]) -> list[ResourceRevision]:
    """Fill in the declaration and the observation that were in force at each revision."""
    wanted = list(revisions)
    versions = {each.declared_version for each in wanted} | {
        each.observed_version for each in wanted if each.observed_version is not None
    }
    parts = {
        each.resource_version: each
        for each in ResourceRevision.objects.filter(resource_version__in=versions)
    }
    for each in wanted:
        declared = parts.get(each.declared_version)
        if declared is not None:
            each.metadata, each.spec = declared.metadata, declared.spec
        shown = parts.get(each.observed_version) if each.observed_version else None
        each.status = shown.status if shown is not None else {}
    return wanted


def document_of_revision(revision: ResourceRevision) -> Document:
    """Return the whole document a filled-in revision stands for."""
    row = revision.resource
    metadata = ordered_metadata(row.name, revision.metadata or {}) | {
        "uid": str(row.uid),
        "generation": revision.generation,
        "resourceVersion": str(revision.resource_version),
        "createdAt": instant(row.created_at),
        "updatedAt": instant(revision.at),
    }
    return assemble(revision.kind, metadata, revision.spec or {}, revision.status or {})


def revisions(
    resource: Resource, *, before: int | None = None, limit: int = 50
) -> list[ResourceRevision]:
    """Return a resource's changes, newest first, each whole."""
    found = resource.revisions.order_by("-resource_version")
    found = found.filter(resource_version__lt=before) if before is not None else found
    kept = with_parts(found[:limit])
    for each in kept:
        each.resource = resource
    return kept
