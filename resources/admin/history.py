"""History: every revision of a resource, its difference to now, and the way back."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse

from resources.admin.resource_request import Desk, as_text, declared_text, number
from resources.documents.yaml_text import write_yaml
from resources.store import history
from resources.tables.models import Resource, ResourceRevision
from resources.web import changes

PAGE = 50


def listing(desk: Desk, object_id: str) -> HttpResponse:
    """List a resource's revisions, newest first."""
    if not desk.may("view"):
        raise PermissionDenied
    row = desk.find(object_id)
    reports = desk.request.GET.get("reports") == "1"
    before = number(desk.request.GET.get("before", ""))
    found = changes.recent(row, limit=PAGE + 1, before=before, reports=reports)
    shown = found[:PAGE]
    context = {
        "title": f"History of {row.name}",
        "changes": shown,
        "reports": reports,
        "before": shown[-1].revision.resource_version if len(found) > PAGE else None,
    }
    return desk.render("history", context, row=row)


def one(desk: Desk, object_id: str, version: str) -> HttpResponse:
    """Show one revision beside what is declared now."""
    if not desk.may("view"):
        raise PermissionDenied
    row = desk.find(object_id)
    revision = revision_of(row, version)
    then = as_text(row.kind, row.name, metadata=revision.metadata or {}, spec=revision.spec or {})
    now = declared_text(row)
    status = revision.status or {}
    context = {
        "title": f"{row.name}, generation {revision.generation}",
        "revision": revision,
        "who": changes.people([revision.actor])[revision.actor],
        "then": then,
        "now": now,
        "status": write_yaml(status) if status else "",
        "restorable": desk.may("change", row) and not row.deleted_at and then != now,
    }
    return desk.render("revision", context, row=row)


def revision_of(row: Resource, version: str) -> ResourceRevision:
    """Return one whole revision of a resource."""
    wanted = number(version)
    found = history.revisions(row, before=wanted + 1, limit=1) if wanted else []
    if not found or found[0].resource_version != wanted:
        raise Http404
    return found[0]
