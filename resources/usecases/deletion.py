"""Delete a resource: owners decide what becomes of what they own, and a tombstone remains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime

from resources.documents import kinds
from resources.documents.actor import Actor
from resources.documents.paths import at
from resources.documents.problems import BLOCKED, Problem, conflict, forbidden, missing
from resources.store import conditions, references, store
from resources.store.references import Name, any_of
from resources.store.store import Draft, drafts_of
from resources.tables.models import Condition, Reference, Resource
from resources.tables.visibility import Scope
from resources.usecases import specs


def delete(
    kind: str,
    name: str,
    *,
    actor: Actor,
    now: datetime,
    expected: int | None = None,
    scope: Scope | None = None,
) -> list[Resource]:
    """Delete a resource and what follows it; returns everything that was deleted.

    A person deletes only where they may: their `scope` says where.
    """
    drafts: list[Draft] = []
    for _ in range(specs.ATTEMPTS):
        with suppress(store.Stale), specs.reserved(drafts):
            drafts = plan((kind, name), expected, now)
            check_scope(scope, [draft.resource for draft in drafts if draft.deleted])
            store.write(drafts, actor=actor, now=now)
            return [draft.resource for draft in drafts if draft.deleted]
    raise store.Stale("These resources change faster than they can be deleted. Try again.")


def check_scope(scope: Scope | None, doomed: Iterable[Resource]) -> None:
    """Raise unless somebody may delete all of these."""
    if scope is not None and not all(scope.edits("delete", each.domain) for each in doomed):
        raise forbidden("Only administrators of its domain, and of all that it owns, delete it.")


def plan(target: Name, expected: int | None, now: datetime) -> list[Draft]:
    """Draft a deletion with everything it brings about; nothing is written."""
    root = specs.load([target]).get(target)
    if root is None:
        raise missing(f"There is no {target[0].lower()}/{target[1]}.")
    if specs.wrong_version(root, expected):
        version = root.resource.resource_version
        raise conflict(f"This resource is now at version {version}.", version)
    doomed = {target: root}
    orphans: dict[Name, Draft] = {}
    follow(doomed, orphans)
    check_guards(draft.resource for draft in doomed.values())
    for draft in doomed.values():
        draft.deleted = True
        draft.events = [("resource.deleted", {"generation": draft.resource.generation})]
    drafts = [*doomed.values(), *(o for n, o in orphans.items() if n not in doomed)]
    drafts += bereaved(drafts, now)
    return drafts + references.settle(drafts, now=now)


def check_guards(doomed: Iterable[Resource]) -> None:
    """Raise while something declares what only two people take away: deleting would be a way."""
    standing = [
        f"{path} of {row}"
        for row in doomed
        if (known := kinds.by_name(row.kind)) is not None
        for path in known.guards
        if any(value for _, value in at({"spec": row.spec}, path))
    ]
    if standing:
        raise blocked(sorted(standing))


def blocked(dependents: list[str]) -> Problem:
    """Say which resources stand in the way."""
    told = f"Delete or release these first: {', '.join(dependents[:20])}."
    return Problem(BLOCKED, told, dependents=dependents)


def follow(doomed: dict[Name, Draft], orphans: dict[Name, Draft]) -> None:
    """Walk down the owner references, level by level; circles end by themselves."""
    level = set(doomed)
    while level:
        links = list(owned_by(level))
        blocking = {link.resource for link in links if link.delete_policy == "block"}
        standing = sorted(str(row) for row in blocking if references.name_of(row) not in doomed)
        if standing:
            raise blocked(standing)
        found = specs.load({references.name_of(link.resource) for link in links})
        level = set()
        for link in links:
            name = references.name_of(link.resource)
            if link.delete_policy == "cascade" and name not in doomed:
                doomed[name] = found[name]
                level.add(name)
            elif link.delete_policy == "orphan" and name not in doomed:
                release(orphans.setdefault(name, found[name]), link)


def owned_by(names: set[Name]) -> Iterator[Reference]:
    """Yield the owner references that point at any of these."""
    owners = Reference.objects.exclude(delete_policy="").select_related("resource")
    yield from owners.filter(
        any_of(names, "target_kind", "target_name"), resource__deleted_at=None
    ).order_by("resource_id")


def release(draft: Draft, link: Reference) -> None:
    """Take an owner off a resource that outlives it."""
    row = draft.resource
    owner = (link.target_kind, link.target_name)
    kept = [
        each
        for each in row.metadata.get("ownerReferences", [])
        if (each["kind"], each["name"]) != owner
    ]
    rest = {key: value for key, value in row.metadata.items() if key != "ownerReferences"}
    row.metadata = rest | ({"ownerReferences": kept} if kept else {})
    draft.declared = True
    draft.events.append(("resource.released", {"owner": f"{owner[0].lower()}/{owner[1]}"}))


def bereaved(drafts: list[Draft], now: datetime) -> list[Draft]:
    """Turn the conditions of deleted controllers Unknown: nobody keeps them true any more."""
    writers = {
        f"controller/{draft.resource.name}"
        for draft in drafts
        if draft.deleted and draft.resource.kind == "Controller"
    }
    if not writers:
        return []
    known = {draft.resource.pk: draft for draft in drafts}
    held = Condition.objects.filter(managed_by__in=writers, resource__deleted_at=None)
    rows = Resource.objects.filter(pk__in=held.values("resource")).exclude(pk__in=known)
    others = drafts_of(rows)
    for draft in [*drafts, *others]:
        for each in [c for c in draft.conditions.values() if c.managed_by in writers]:
            unknown = {"type": each.type, "status": "Unknown", "reason": "ControllerDeleted"}
            conditions.place(draft, unknown, managed_by=each.managed_by, now=now)
    return others
