"""Change what is desired: the only way a spec or its metadata is ever written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Literal

from resources.documents import kinds, limits, validation
from resources.documents.actor import Actor
from resources.documents.differences import Difference, compare
from resources.documents.files import identity, upgraded
from resources.documents.kind import Document, Fault
from resources.store import conditions, references, store
from resources.store.references import Name, any_of
from resources.store.snapshots import declared_metadata, parse_instant
from resources.store.store import Draft
from resources.tables.batches import batches
from resources.tables.models import Resource
from resources.tables.visibility import Scope

ATTEMPTS = 8
NOT_YOURS = "not-yours"
SECOND_PERSON = "that lowers a guard, so a second person has to approve it; propose it instead."

Action = Literal["created", "changed", "unchanged", "refused", "conflict"]
Progress = Callable[[str, int], None]


@dataclass(frozen=True)
class DesiredDocument:
    """A document somebody wants to be true.

    `expected` is the resource version the writer has seen; 0 means "only if it does not exist".
    `message` says why, in the history. `authorised` means that as many people have approved it as
    the lowering of a guard needs. A person declares only where they may: their `scope` says where.
    Commands, and actions that were approved, have none.
    """

    document: Document
    expected: int | None = None
    message: str = ""
    authorised: bool = False
    scope: Scope | None = None


@dataclass(frozen=True)
class Applied:
    """What became of one wish."""

    kind: str
    name: str
    action: Action
    problems: tuple[Fault, ...] = ()
    differences: tuple[Difference, ...] = ()
    resource: Resource | None = None
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether this wish stands in the way of writing the set."""
        return self.action in ("refused", "conflict")


@dataclass(frozen=True)
class Outcome:
    """What became of a set of wishes; without `written` the store is as it was."""

    results: tuple[Applied, ...]
    written: bool

    @property
    def failed(self) -> bool:
        """Whether any wish was refused."""
        return any(result.failed for result in self.results)


def apply(
    wishes: Sequence[DesiredDocument],
    *,
    actor: Actor,
    now: datetime,
    dry_run: bool = False,
    keep_going: bool = False,
    progress: Progress = lambda phase, done: None,
) -> Outcome:
    """Make documents true, all or nothing (`keep_going`: all that can be).

    Nothing is written for what is unchanged. A resource that somebody else changes meanwhile is
    read again, unless the wish names the version it expects: then it is a conflict.
    """
    # What the product declares by itself, such as its example, is nobody's to approve.
    if actor.kind == "system":
        wishes = [replace(wish, authorised=True) for wish in wishes]
    checked = check_all(wishes, progress)
    drafts: list[Draft] = []
    for _ in range(ATTEMPTS):
        with suppress(store.Stale), reserved(drafts):
            drafts, results = plan(checked, now)
            if dry_run or (any(result.failed for result in results) and not keep_going):
                return Outcome(results, written=False)
            store.write(drafts, actor=actor, now=now, progress=partial(progress, "write"))
            return Outcome(results, written=True)
    raise store.Stale("These resources change faster than they can be written. Try again.")


@contextmanager
def reserved(drafts: Iterable[Draft]) -> Iterator[None]:
    """Keep others off what an earlier try could not write, or rivals could lose for ever."""
    keys = sorted(draft.resource.pk for draft in drafts if draft.touched and not draft.new)
    if not keys:
        yield
        return
    with store.all_or_stale():
        for batch in batches(keys):
            rows = Resource.objects.select_for_update(no_key=True).filter(pk__in=batch)
            list(rows.order_by("pk").values_list("pk"))
        yield


def check_all(
    wishes: Sequence[DesiredDocument], progress: Progress
) -> list[DesiredDocument | Applied]:
    """Bring every document to today's form and check it; what is wrong becomes an answer."""
    checked: list[DesiredDocument | Applied] = []
    seen: set[Name] = set()
    for position, wish in enumerate(wishes):
        checked.append(check(wish, seen))
        progress("check", position + 1)
    return checked


def check(wish: DesiredDocument, seen: set[Name]) -> DesiredDocument | Applied:
    """Check one document by itself and against its neighbours' names."""
    document = upgraded(wish.document)
    problems = [each for each in validation.check(document) if each.severity == "error"]
    problems = problems or list(limits.sizes(document))
    kind, name = identity(document)
    known = kinds.by_name(kind)
    if not problems and (kind, name) in seen:
        problems = [Fault("/metadata/name", f"{kind.lower()}/{name} is given twice.")]
    seen.add((kind, name))
    if problems or known is None:
        return Applied(kind, name, "refused", tuple(problems))
    # One spelling in the store, the published one: what is exported is unchanged when it returns.
    return replace(wish, document=known.publish(document))


def plan(
    checked: Sequence[DesiredDocument | Applied], now: datetime
) -> tuple[list[Draft], tuple[Applied, ...]]:
    """Read what is there and draft what would change; nothing is written."""
    wishes = [each for each in checked if isinstance(each, DesiredDocument)]
    current = load({identity(wish.document) for wish in wishes})
    drafts: list[Draft] = []
    results: list[Applied] = []
    for each in checked:
        if isinstance(each, Applied):
            results.append(each)
            continue
        draft = current.get(identity(each.document)) or blank(each.document, now)
        result = not_yours(draft, each) or compare_and_draft(draft, each, now)
        results.append(result)
        drafts += [] if result.failed else [draft]
    return drafts + references.settle(drafts, now=now), tuple(results)


def not_yours(draft: Draft, wish: DesiredDocument) -> Applied | None:
    """Refuse what somebody may not declare: where it is now, or where it would be."""
    scope = wish.scope
    kind, name = identity(wish.document)
    known = kinds.by_name(kind)
    if scope is None or known is None:
        return None
    wanted = known.domain_of(wish.document)[:253]
    allowed = scope.edits("add" if draft.new else "change", wanted)
    if allowed and (draft.new or scope.edits("change", draft.resource.domain)):
        return None
    message = f"You may not declare {known.path}/{name} there: ask an administrator of its domain."
    return Applied(kind, name, "refused", (Fault("", message, rule=NOT_YOURS),))


def load(names: Iterable[Name]) -> dict[Name, Draft]:
    """Load the live resources of these names, ready to be changed."""
    live = Resource.objects.filter(deleted_at=None)
    rows = [row for batch in batches(names) for row in live.filter(any_of(batch, "kind", "name"))]
    return {references.name_of(draft.resource): draft for draft in store.drafts_of(rows)}


def blank(document: Document, now: datetime) -> Draft:
    """Begin a resource that does not exist yet."""
    kind, name = identity(document)
    created = parse_instant(document["metadata"].get("createdAt") or "")
    at = created if created is not None and created <= now else now
    return Draft(Resource(kind=kind, name=name, generation=0, created_at=at, updated_at=now))


def compare_and_draft(draft: Draft, wish: DesiredDocument, now: datetime) -> Applied:
    """Move a draft to what is wished, and say what that changes."""
    row = draft.resource
    if wrong_version(draft, expected_by(wish, draft)):
        return Applied(row.kind, row.name, "conflict", (moved_on(draft),), resource=row)
    before = {"metadata": row.metadata, "spec": row.spec}
    after = {"metadata": declared_metadata(wish.document), "spec": wish.document["spec"]}
    differences = tuple(compare(before, after)) if not draft.new else ()
    if differences and not wish.authorised and (lowering := lowered(row.kind, before, after)):
        return Applied(row.kind, row.name, "refused", lowering, differences, row)
    notes = seed_status(draft, wish.document, now)
    draft.message = wish.message
    if draft.new or differences:
        declare(draft, after, differences)
    action: Action = "created" if draft.new else "changed" if draft.touched else "unchanged"
    return Applied(row.kind, row.name, action, (), differences, row, notes)


def lowered(kind: str, before: Document, after: Document) -> tuple[Fault, ...]:
    """Refuse each guard that a change weakens; one pair of eyes is not enough for that."""
    known = kinds.by_name(kind)
    return tuple(
        replace(each, message=f"{each.message}: {SECOND_PERSON}", rule="two-people")
        for each in (known.lowered(before, after) if known else ())
    )


def expected_by(wish: DesiredDocument, draft: Draft) -> int | None:
    """Return the version a wish was made from: said by the caller or by the document itself."""
    if wish.expected is not None or draft.new:
        return wish.expected
    told = str(wish.document["metadata"].get("resourceVersion", ""))
    return int(told) if told.isdecimal() and len(told) < 19 else None


def wrong_version(draft: Draft, expected: int | None) -> bool:
    """Tell whether a resource is not at the version its writer has seen."""
    return expected is not None and expected != (draft.read_version or 0)


def moved_on(draft: Draft) -> Fault:
    """Say why a version does not fit."""
    if draft.new:
        return Fault("", "This resource does not exist any more.")
    return Fault("", f"This resource is now at version {draft.read_version}.")


def declare(draft: Draft, after: Document, differences: Sequence[Difference]) -> None:
    """Put the new declaration into a draft; the generation counts changes of the spec only."""
    row = draft.resource
    spec_changed = draft.new or any(each.pointer.startswith("/spec") for each in differences)
    row.metadata, row.spec = after["metadata"], after["spec"]
    row.generation += 1 if spec_changed else 0
    row.domain = domain_of(row, after)
    draft.declared = True
    event = "resource.created" if draft.new else "resource.spec-changed"
    changed = [each.pointer for each in differences][:100]
    said = {"changed": changed, "why": draft.message[:500]}
    payload = {"generation": row.generation} | {key: each for key, each in said.items() if each}
    draft.events.append((event if spec_changed else "resource.metadata-changed", payload))


def domain_of(row: Resource, declared: Document) -> str:
    """Return the domain a resource belongs to."""
    kind = kinds.by_name(row.kind)
    document = {"metadata": {"name": row.name}, "spec": declared["spec"]}
    return kind.domain_of(document)[:253] if kind else ""


def seed_status(draft: Draft, document: Document, now: datetime) -> tuple[str, ...]:
    """Take a document's status for a resource that has none; what was reported is never undone."""
    status = dict(document.get("status") or {})
    given = [each for each in status.pop("conditions", None) or [] if not by_system(each)]
    if not status and not given:
        return ()
    row = draft.resource
    if row.reported_at is not None:
        return ("status kept as reported",)
    for item in given:
        conditions.place(draft, item, managed_by=item.get("managedBy", ""), now=now)
    row.status, row.reported_at = status, now
    draft.observed = True
    return ()


def by_system(condition: Document) -> bool:
    """Tell whether a condition is one that the server works out by itself."""
    return str(condition.get("managedBy", "")).startswith("system/")
