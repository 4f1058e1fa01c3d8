"""Names are resolved late: a missing one is a condition on the resource, never an error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import reduce
from operator import or_

from django.db.models import Exists, OuterRef, Q

from resources.documents import kinds
from resources.documents.files import identity
from resources.documents.kind import Document
from resources.store import conditions
from resources.store.indexes import references_of
from resources.store.store import Draft, drafts_of
from resources.tables.batches import batches
from resources.tables.models import Condition, Reference, Resource

TYPE = "ReferencesResolved"
MANAGER = "system/references"
BATCH = 100

Name = tuple[str, str]


def settle(drafts: Sequence[Draft], *, now: datetime) -> list[Draft]:
    """Judge the references of these drafts and of whoever names what they create or delete.

    Returns the drafts of the others, so that one transaction writes all.
    """
    appeared = {name_of(draft.resource) for draft in drafts if draft.new}
    vanished = {name_of(draft.resource) for draft in drafts if draft.deleted}
    ours = {draft.resource.pk for draft in drafts if not draft.new}
    others = drafts_of(row for row in mentioning(appeared | vanished) if row.pk not in ours)
    affected = [draft for draft in drafts if not draft.deleted] + others
    wanted = {draft.resource.uid: wants(draft.resource) for draft in affected}
    names = set().union(*wanted.values()) - appeared - vanished
    present = (existing(names) | appeared) - vanished
    for draft in affected:
        judge(draft, wanted[draft.resource.uid], present, now=now)
    return others


class Known:
    """The names there are; those in namespaces, such as KPIs, are not judged by the store."""

    def __init__(self, names: set[Name]) -> None:
        self.names = names

    def __contains__(self, name: object) -> bool:
        return name in self.names or (isinstance(name, tuple) and not kinds.by_name(name[0]))


def mentioned(document: Document) -> Iterator[Name]:
    """Yield the resources a document names."""
    kind = kinds.by_name(identity(document)[0])
    for each in kind.references(document) if kind else ():
        if kinds.by_name(each.target):
            yield each.target, each.name


def name_of(row: Resource) -> Name:
    """Return the kind and name that others use for this resource."""
    return (row.kind, row.name)


def wants(row: Resource) -> set[Name]:
    """Return the resources this one expects to exist."""
    return {
        (each.target_kind, each.target_name)
        for each in references_of(row)
        if each.severity != "info"
    }


def existing(names: Iterable[Name]) -> set[Name]:
    """Return those of the names that stand for a live resource."""
    live = Resource.objects.filter(deleted_at=None).values_list("kind", "name")
    return {
        (kind, name)
        for batch in batches(names, BATCH)
        for kind, name in live.filter(any_of(batch, "kind", "name"))
    }


def mentioning(names: Iterable[Name]) -> list[Resource]:
    """Return the live resources that name any of these."""
    found = {
        pk
        for batch in batches(names, BATCH)
        for pk in Reference.objects.filter(any_of(batch, "target_kind", "target_name"))
        .exclude(severity="info")
        .values_list("resource", flat=True)
    }
    live = Resource.objects.filter(deleted_at=None)
    return [row for batch in batches(sorted(found)) for row in live.filter(pk__in=batch)]


def any_of(names: Iterable[Name], kind: str, name: str) -> Q:
    """Build the condition that one pair of columns holds one of the names."""
    by_kind: dict[str, list[str]] = {}
    for target, called in names:
        by_kind.setdefault(target, []).append(called)
    parts = [Q(**{kind: target, f"{name}__in": called}) for target, called in by_kind.items()]
    return reduce(or_, parts, Q(pk__in=[]))


def judge(draft: Draft, wanted: set[Name], present: set[Name], *, now: datetime) -> None:
    """Write the condition that says whether every name is there."""
    missing = wanted - present
    if not wanted:
        if TYPE in draft.conditions:
            conditions.drop(draft, [TYPE])
        return
    listed = ", ".join(sorted(f"{kind.lower()}/{name}" for kind, name in missing))
    item = {
        "type": TYPE,
        "status": "False" if missing else "True",
        "reason": "NotFound" if missing else "AllFound",
        "message": f"Missing: {listed}." if missing else "",
    }
    conditions.place(draft, item, managed_by=MANAGER, now=now)


def misjudged() -> list[Resource]:
    """Return resources whose condition no longer tells the truth.

    Two transactions that create both ends of a reference at once cannot see each other; this finds
    what they left behind, in two statements however large the organisation is.
    """
    target = Resource.objects.filter(
        deleted_at=None, kind=OuterRef("target_kind"), name=OuterRef("target_name")
    )
    dangling = Reference.objects.exclude(severity="info").exclude(Exists(target))
    says_no = Condition.objects.filter(resource=OuterRef("pk"), type=TYPE, status="False")
    live = Resource.objects.filter(deleted_at=None).alias(
        broken=Exists(dangling.filter(resource=OuterRef("pk"))), says_no=Exists(says_no)
    )
    return list(live.filter(Q(broken=True, says_no=False) | Q(broken=False, says_no=True)))
