"""Follow every change from a version on: nothing is skipped, nothing comes twice."""

from __future__ import annotations

from dataclasses import dataclass

from resources.documents.kind import Document
from resources.documents.problems import GONE, Problem
from resources.store import history
from resources.tables import versions
from resources.tables.models import Compaction, ResourceRevision


@dataclass(frozen=True)
class Event:
    """One change, in the words of the feed."""

    type: str
    resource_version: int
    document: Document


@dataclass(frozen=True)
class Page:
    """Some changes, and the version from which to go on."""

    events: list[Event]
    upto: int


def current() -> int:
    """Return the version from which a watcher that has just listed goes on."""
    return versions.horizon()


def changes(since: int, *, kind: str | None = None, limit: int = 500) -> Page:
    """Return the changes after `since`, never beyond what an open transaction may still hold."""
    # The horizon comes first: what commits after it was read belongs to the next page.
    horizon = versions.horizon()
    feed = ResourceRevision.objects.filter(
        resource_version__gt=since, resource_version__lte=horizon
    )
    feed = feed.filter(kind=kind) if kind else feed
    found = list(feed.select_related("resource").order_by("resource_version")[:limit])
    events = [
        Event(each.change, each.resource_version, history.document_of_revision(each))
        for each in history.with_parts(found)
    ]
    # The floor comes last: what retention drops while we read must not be passed over.
    floor = Compaction.objects.filter(name=history.FEED).values_list("floor", flat=True).first()
    if floor is not None and since < floor:
        told = f"Changes up to version {floor} were dropped. List again, then watch."
        raise Problem(GONE, told)
    upto = events[-1].resource_version if len(events) == limit else max(since, horizon)
    return Page(events, upto)
