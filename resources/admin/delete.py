"""Delete a resource, after saying what its owner references bring about."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.utils import timezone

from resources.admin import conflicts
from resources.admin.resource_request import Desk, number
from resources.documents.problems import BLOCKED, CONFLICT, NOT_FOUND, Problem
from resources.store import references, store
from resources.tables.models import Resource
from resources.usecases import deletion

ATTEMPTS = 8


@dataclass(frozen=True)
class Consequences:
    """What a deletion brings about, each a list of resources by kind and name."""

    deleted: tuple[str, ...] = ()
    released: tuple[str, ...] = ()
    bereft: tuple[str, ...] = ()
    blocking: tuple[str, ...] = ()


def delete(desk: Desk, object_id: str) -> HttpResponse:
    """Ask, then delete."""
    row = desk.find(object_id)
    if not desk.may("delete", row):
        raise PermissionDenied
    if desk.request.method == "POST":
        return carry_out(desk, row)
    if row.deleted_at:
        raise Http404
    return confirm(desk, row)


def carry_out(desk: Desk, row: Resource) -> HttpResponse:
    """Delete at the version that was looked at; a report that arrived meanwhile does not count."""
    version = number(desk.request.POST.get("version", "")) or 0
    try:
        gone = at_version(desk, row, version)
    except store.Stale:
        return confirm(desk, row, status=409)
    except Problem as problem:
        return explained(desk, row, version, problem)
    more = f" and {len(gone) - 1} more that it owned" if len(gone) > 1 else ""
    messages.success(desk.request, f"Deleted {row.name}{more}.")
    return HttpResponseRedirect(desk.url("changelist"))


def explained(desk: Desk, row: Resource, version: int, problem: Problem) -> HttpResponse:
    """Say why nothing was deleted: it changed, something stands in the way, or it is gone."""
    if problem.code == NOT_FOUND:
        messages.info(desk.request, f"Nothing left to delete: {row.name} is gone already.")
        return HttpResponseRedirect(desk.url("changelist"))
    if problem.code == BLOCKED:
        return confirm(desk, row, status=problem.status)
    if problem.code != CONFLICT:
        raise problem
    row.refresh_from_db()
    return confirm(desk, row, since=version, status=problem.status)


def at_version(desk: Desk, row: Resource, version: int) -> list[Resource]:
    """Delete a resource that nobody declared anew since a version."""
    for _ in range(ATTEMPTS):
        expected = version if conflicts.overtaken(row, version) else row.resource_version
        try:
            return deletion.delete(
                row.kind,
                row.name,
                actor=desk.actor,
                now=timezone.now(),
                expected=expected,
                scope=desk.scope,
            )
        except Problem as problem:
            if problem.code != CONFLICT:
                raise
            row.refresh_from_db()
            if conflicts.overtaken(row, version):
                raise
    raise store.Stale("This resource changes faster than it can be deleted. Try again.")


def confirm(desk: Desk, row: Resource, *, since: int = 0, status: int = 200) -> HttpResponse:
    """Show what deleting would bring about; nothing is written."""
    context = {
        "title": f"Delete {row.name}?",
        "consequences": consequences(row),
        "changes": conflicts.since(row, since) if since else [],
        "refused": status == 409,
    }
    return desk.render("delete", context, row=row, status=status)


def consequences(row: Resource) -> Consequences:
    """Plan the deletion and read the plan."""
    try:
        drafts = deletion.plan(references.name_of(row), None, timezone.now())
    except Problem as problem:
        return Consequences(blocking=tuple(problem.facts.get("dependents", ())))
    released = {str(d.resource) for d in drafts if d.declared and not d.deleted}
    deleted = [str(d.resource) for d in drafts if d.deleted and d.resource.pk != row.pk]
    bereft = [str(d.resource) for d in drafts if not d.deleted and d.observed and not d.declared]
    return Consequences(tuple(sorted(deleted)), tuple(sorted(released)), tuple(sorted(bereft)))
