"""Carry operations out in the control plane: declare what they change, and take it back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from typing import Any

from django.db import transaction

from controllers.operations.operation import (
    REMOVE,
    Context,
    Document,
    FieldChange,
    Impossible,
    Operation,
    Reach,
    Subject,
)
from controllers.operations.operation_check import check
from resources.documents.actor import Actor
from resources.documents.differences import same
from resources.documents.kind import Fault
from resources.store.references import Name, name_of
from resources.store.snapshots import assemble, ordered_metadata
from resources.store.store import Stale
from resources.tables.batches import batches
from resources.tables.models import Resource
from resources.usecases import specs, statuses

Rows = Mapping[Name, Resource]
Before = list[dict[str, Any]]


def plan(
    operation: Operation, resource: Resource, parameters: Document, *, now: datetime
) -> list[FieldChange]:
    """Work out what would be declared anew, in this resource and in others; write nothing."""
    return worked_out(operation, resource, parameters, now)[0]


def perform(
    operation: Operation,
    resource: Resource,
    parameters: Document,
    *,
    actor: Actor,
    now: datetime,
    authorised: bool = True,
) -> Before:
    """Declare what an operation changes, and return what was there before, for the way back.

    Everything is written at the version it was read at, or nothing is: `Stale`.
    """
    changes, rows = worked_out(operation, resource, parameters, now)
    writer = Writer(rows, actor, now, operation.title, authorised)
    return writer.write(changes)


def undo(
    before: Sequence[Mapping[str, Any]], *, actor: Actor, now: datetime, authorised: bool = True
) -> Before:
    """Take a change back, where nobody has changed the same fields since."""
    rows = live([(each["kind"], each["name"]) for each in before])
    changes = [undone(each, rows) for each in before]
    return Writer(rows, actor, now, "Undo", authorised).write(changes)


def live(names: Sequence[Name]) -> Rows:
    """Return the live resources of these names."""
    by_kind: dict[str, dict[str, None]] = {}
    for kind, name in names:
        by_kind.setdefault(kind, {})[name] = None
    rows = (row for kind, known in by_kind.items() for row in loaded(Reach(kind, tuple(known))))
    return {name_of(row): row for row in rows}


def undone(entry: Mapping[str, Any], rows: Rows) -> FieldChange:
    """Return the change that takes one field back; one that moved on since is left alone."""
    name = entry["kind"], entry["name"]
    ref = f"{entry['kind'].lower()}/{entry['name']}"
    if name not in rows:
        raise Impossible(f"{ref} is gone.")
    has, value = found(rows[name], entry["path"])
    if has != entry["has"] or not same(value, entry["wrote"]):
        raise Impossible(f"{entry['path']} of {ref} has been changed since.")
    return FieldChange(*name, entry["path"], entry["value"] if entry["had"] else REMOVE)


def worked_out(
    operation: Operation, resource: Resource, parameters: Document, now: datetime
) -> tuple[list[FieldChange], Rows]:
    """Return what an operation changes, and the rows it read to know that."""
    problems = check(operation.name, parameters, resource.kind, resource.name)
    if problems:
        raise Impossible(sentence(problems))
    if operation.changes is None:
        raise Impossible(f"{operation.title} is for the agent to do: nothing is declared by it.")
    target = subject(resource)
    reach = operation.reach(target, parameters)
    rows = {name_of(row): row for row in loaded(reach)} if reach else {}
    others = tuple(subject(row) for row in rows.values())
    rows[name_of(resource)] = resource
    changes = operation.changes(Context(target, others, now), parameters)
    return [each for each in changes if is_news(each, rows)], rows


def loaded(reach: Reach) -> list[Resource]:
    """Load the live resources an operation reaches."""
    of_kind = Resource.objects.filter(kind=reach.kind, deleted_at=None).order_by("pk")
    if not reach.names:
        return [*of_kind.filter(domain=reach.domain)] if reach.domain else []
    return [row for batch in batches(reach.names) for row in of_kind.filter(name__in=batch)]


def subject(row: Resource) -> Subject:
    """Return a resource as operations see it."""
    return Subject(row.kind, row.name, row.domain, row.spec, row.status)


def is_news(change: FieldChange, rows: Rows) -> bool:
    """Tell whether a field is not already as it is to be."""
    has, value = found(rows[change.kind, change.name], change.path)
    return has if change.value is REMOVE else not has or not same(value, change.value)


def found(row: Resource, path: str) -> tuple[bool, Any]:
    """Look a field up: whether it is there, and what it is."""
    part, *steps = path.split(".")
    value: Any = {"spec": row.spec, "status": row.status}[part]
    for step in steps:
        if not isinstance(value, dict) or step not in value:
            return False, None
        value = value[step]
    return True, value


def sentence(problems: Sequence[Fault]) -> str:
    """Put the first of some problems into one sentence."""
    first = problems[0]
    said = f"{first.pointer} {first.message}".strip()
    return said if said.endswith(".") else f"{said}."


class Writer:
    """Writes changes into rows, each at the version it was read at."""

    def __init__(
        self, rows: Rows, actor: Actor, now: datetime, message: str, authorised: bool
    ) -> None:
        self.rows, self.actor, self.now = dict(rows), actor, now
        self.message, self.authorised = message, authorised

    def write(self, changes: Sequence[FieldChange]) -> Before:
        """Write all or nothing, and return what was there before."""
        former = [(each, *found(self.row(each), each.path)) for each in changes]
        with transaction.atomic():
            self.declare([each for each in changes if each.path.startswith("spec.")])
            self.observe([each for each in changes if each.path.startswith("status.")])
        return [self.entry(*each) for each in former]

    def row(self, change: FieldChange) -> Resource:
        """Return the resource a change is about, as it is known by now."""
        return self.rows[change.kind, change.name]

    def entry(self, change: FieldChange, had: bool, value: Any) -> dict[str, Any]:
        """Note one field: what it was, and what it is now that it is written."""
        has, wrote = found(self.row(change), change.path)
        about = {"kind": change.kind, "name": change.name, "path": change.path}
        return about | {"had": had, "value": value, "has": has, "wrote": wrote}

    def declare(self, changes: Sequence[FieldChange]) -> None:
        """Change specs, in one set."""
        drafted = {name: deepcopy(self.rows[name].spec) for name in names_of(changes)}
        for each in changes:
            assign(drafted[each.kind, each.name], each)
        wishes = [self.wish(self.rows[name], spec) for name, spec in drafted.items()]
        outcome = specs.apply(wishes, actor=self.actor, now=self.now) if wishes else None
        for result in outcome.results if outcome else ():
            refuse(result.action, result.problems)
            if result.resource is not None:
                self.rows[result.kind, result.name] = result.resource

    def wish(self, row: Resource, spec: dict[str, Any]) -> specs.DesiredDocument:
        """Wish a resource with another spec, if it is still what was read."""
        document = assemble(row.kind, ordered_metadata(row.name, row.metadata), spec, {})
        return specs.DesiredDocument(document, row.resource_version, self.message, self.authorised)

    def observe(self, changes: Sequence[FieldChange]) -> None:
        """Change states that the control plane itself keeps."""
        reports = [self.report(each) for each in changes]
        for result in statuses.observe(reports, actor=self.actor, now=self.now) if reports else ():
            refuse(result.verdict, result.problems)
            if result.resource is not None:
                self.rows[result.kind, result.name] = result.resource

    def report(self, change: FieldChange) -> statuses.Report:
        """Report one field of a status."""
        field = change.path.removeprefix("status.")
        value = None if change.value is REMOVE else change.value
        version = self.row(change).resource_version
        return statuses.Report(change.kind, change.name, {field: value}, expected=version)


def names_of(changes: Iterable[FieldChange]) -> list[Name]:
    """Return the resources that changes are about, each once."""
    return [*dict.fromkeys((each.kind, each.name) for each in changes)]


def assign(spec: dict[str, Any], change: FieldChange) -> None:
    """Put a value at a place of a spec, or take it away."""
    *steps, last = change.path.removeprefix("spec.").split(".")
    for step in steps:
        spec = spec.setdefault(step, {})
    if change.value is REMOVE:
        del spec[last]
    else:
        spec[last] = deepcopy(change.value)


def refuse(answer: str, problems: Sequence[Fault]) -> None:
    """Raise when a write was not taken."""
    if answer == "conflict":
        raise Stale(sentence(problems))
    if answer in ("refused", "missing", "forbidden"):
        raise Impossible(sentence(problems))
