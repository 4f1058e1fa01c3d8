"""What changed, when and by whom: revisions told in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import F, Q

from resources.documents.differences import Difference, compare
from resources.documents.kind import Document
from resources.store import history
from resources.tables.models import Resource, ResourceRevision

CHANGE = ResourceRevision.Change
VERBS = {"replace": "changed", "add": "added", "remove": "removed"}
MOST = 4


@dataclass(frozen=True)
class RevisionSummary:
    """One revision, with who made it and what it did."""

    revision: ResourceRevision
    who: str
    what: str

    @property
    def declared(self) -> bool:
        """Whether the declaration changed, rather than what was reported."""
        return self.revision.declared_version == self.revision.resource_version


def recent(
    resource: Resource,
    *,
    limit: int,
    before: int | None = None,
    since: int = 0,
    reports: bool = False,
) -> list[RevisionSummary]:
    """Return a resource's changes, newest first; reports only when asked for."""
    found = resource.revisions.order_by("-resource_version")
    if not reports:
        found = found.filter(Q(resource_version=F("declared_version")) | Q(change=CHANGE.DELETED))
    if before is not None:
        found = found.filter(resource_version__lt=before)
    # One more than asked for: what the last of them changed shows only beside the one before.
    kept = history.with_parts(found[: limit + 1])
    wanted = [each for each in kept[:limit] if each.resource_version > since]
    names = people(each.actor for each in wanted)
    return [
        RevisionSummary(each, names[each.actor], happened(each, older, reports=reports))
        for each, older in pairwise([*kept, None])
        if each is not None and each in wanted
    ]


def people(actors: Iterable[str]) -> dict[str, str]:
    """Return how to call each actor: people by their names, others as the ledger does."""
    known = {actor: actor for actor in actors}
    usernames = {actor.removeprefix("person/") for actor in known if actor.startswith("person/")}
    found = get_user_model()._default_manager.filter(username__in=usernames)
    full = {f"person/{each.get_username()}": str(each.get_full_name()) for each in found}
    return {actor: full.get(actor) or actor.removeprefix("person/") for actor in known}


def happened(revision: ResourceRevision, before: ResourceRevision | None, *, reports: bool) -> str:
    """Say what a revision did, in one sentence."""
    if revision.change != CHANGE.MODIFIED:
        return "Created." if revision.change == CHANGE.ADDED else "Deleted."
    if before is None:
        return "What was before is no longer kept."
    parts = [
        *declared_words(before, revision),
        *(reported_words(before, revision) if reports else ()),
    ]
    sentence = "; ".join(parts) or "rewritten without a difference"
    return f"{sentence[0].upper()}{sentence[1:]}."


def declared_words(before: ResourceRevision, after: ResourceRevision) -> Iterator[str]:
    """Yield what changed in the declaration."""
    old, new = (
        {"metadata": each.metadata or {}, "spec": each.spec or {}} for each in (before, after)
    )
    yield from in_words(list(compare(old, new)))


def in_words(differences: Sequence[Difference]) -> Iterator[str]:
    """Yield one part for each thing that was done: changed a, b; added c."""
    for operation, verb in VERBS.items():
        places = [place(each.pointer) for each in differences if each.operation == operation]
        if places:
            more = f" and {len(places) - MOST} more" if len(places) > MOST else ""
            yield f"{verb} {', '.join(places[:MOST])}{more}"


def place(pointer: str) -> str:
    """Write a JSON pointer the way people speak of fields: spec.model.name."""
    steps = pointer.removeprefix("/").split("/")
    return ".".join(step.replace("~1", "/").replace("~0", "~") for step in steps)


def reported_words(before: ResourceRevision, after: ResourceRevision) -> Iterator[str]:
    """Yield what was reported: values by name, conditions by what they became."""
    old, new = before.status or {}, after.status or {}
    fields = sorted({each.pointer.split("/")[1] for each in compare(values(old), values(new))})
    if fields:
        more = f" and {len(fields) - MOST} more" if len(fields) > MOST else ""
        yield f"reported {', '.join(fields[:MOST])}{more}"
    flips = by_type(old)
    for name, status in by_type(new).items():
        if flips.get(name) != status:
            yield f"{name} became {status}"


def values(status: Document) -> Document:
    """Return a status without its conditions."""
    return {key: value for key, value in status.items() if key != "conditions"}


def by_type(status: Document) -> dict[str, Any]:
    """Return the status word of each condition."""
    return {each["type"]: each["status"] for each in status.get("conditions", [])}
