"""Somebody saved first: who, when, what, and both versions side by side."""

from __future__ import annotations

from django.http import HttpResponse

from resources.admin.forms import SpecForm
from resources.admin.resource_request import Desk, declared_text
from resources.tables.models import Resource
from resources.web import changes

SHOWN = 20


def overtaken(row: Resource, version: int) -> bool:
    """Tell whether a resource was declared anew, or deleted, since a version was read."""
    return row.deleted_at is not None or row.declared_version > version


def since(row: Resource, version: int) -> list[changes.RevisionSummary]:
    """Return what others declared since a version was read, newest first."""
    return changes.recent(row, limit=SHOWN, since=version)


def show(desk: Desk, row: Resource, form: SpecForm, *, mine: str) -> HttpResponse:
    """Show both versions, and let the person go on with theirs or let it go."""
    gone = row.deleted_at is not None
    context = {
        "title": f"Somebody {'deleted' if gone else 'changed'} {row.name} first",
        "gone": gone,
        "changes": since(row, form.cleaned_data["version"]),
        "theirs": "" if gone else declared_text(row),
        "mine": mine,
        "form": form,
        "version": 0 if gone else row.resource_version,
        "target": desk.url("add") if gone else desk.url("change", row.pk),
        "discard": desk.url("changelist") if gone else desk.url("change", row.pk),
    }
    return desk.render("conflict", context, row=row, status=409)
