"""Edit a declaration as YAML: type, review the difference, save. Nothing typed is ever lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseRedirect, JsonResponse
from django.utils import timezone

from resources.admin import conflicts
from resources.admin.forms import SpecForm
from resources.admin.history import revision_of
from resources.admin.resource_request import Desk, as_text, declared_text
from resources.admin.typed_document import Mark, Reading, read, skeleton, unversioned
from resources.documents.differences import same
from resources.documents.kind import Document
from resources.documents.problems import FORBIDDEN, INVALID, SORTS
from resources.documents.yaml_text import write_yaml
from resources.store import store
from resources.tables.models import Resource
from resources.usecases import specs
from resources.web.changes import in_words
from resources.web.detail import address

ATTEMPTS = 8
UNCHANGED = "This declares what is declared already. Nothing was saved."
BUSY = "Others write to these resources right now. Nothing was saved: press Save again."


def add(desk: Desk) -> HttpResponse:
    """Add a resource, from the least its kind needs."""
    if not desk.may("add"):
        raise PermissionDenied
    if desk.request.method == "POST":
        return answer(desk, None, SpecForm(desk.request.POST))
    initial = {"text": write_yaml(skeleton(desk.kind)), "version": 0}
    return edit(desk, None, SpecForm(initial=initial))


def change(desk: Desk, object_id: str) -> HttpResponse:
    """Change what a resource declares."""
    row = desk.find(object_id)
    if not desk.may("change", row):
        if desk.may("view") and desk.request.method != "POST" and not row.deleted_at:
            return HttpResponseRedirect(address(row))
        raise PermissionDenied
    if desk.request.method == "POST":
        return answer(desk, row, SpecForm(desk.request.POST))
    if row.deleted_at:
        raise Http404
    if "restore" in desk.request.GET:
        return restore(desk, row, desk.request.GET["restore"])
    initial = {"text": declared_text(row), "version": row.resource_version}
    return edit(desk, row, SpecForm(initial=initial))


def check(desk: Desk, object_id: str = "") -> HttpResponse:
    """Tell the editor what saving would say about the text."""
    row = desk.find(object_id) if object_id else None
    if not desk.may("change" if object_id else "add", row):
        raise PermissionDenied
    if desk.request.method != "POST":
        return JsonResponse([], safe=False, status=405, headers={"Allow": "POST"})
    name = row.name if row else ""
    form = SpecForm(desk.request.POST)
    form.is_valid()
    reading = read(form.cleaned_data.get("text", ""), desk.kind, name)
    return JsonResponse([each.as_item() for each in reading.marks], safe=False)


def answer(desk: Desk, row: Resource | None, form: SpecForm) -> HttpResponse:
    """Answer a button: back to editing, review, or save."""
    if not form.is_valid():
        return edit(desk, row, form, status=SORTS[INVALID].status)
    if "edit" in desk.request.POST:
        return edit(desk, row, form)
    reading = read(form.cleaned_data["text"], desk.kind, row.name if row else "")
    if reading.failed:
        return edit(desk, row, form, marks=reading.marks, status=SORTS[INVALID].status)
    if row is not None and conflicts.overtaken(row, form.cleaned_data["version"]):
        return overtaken(desk, row, form, reading)
    if "save" in desk.request.POST:
        return save(desk, row, form, reading)
    return review(desk, row, form, reading)


def overtaken(desk: Desk, row: Resource, form: SpecForm, reading: Reading) -> HttpResponse:
    """Show the conflict, unless both want the same (a button pressed twice)."""
    declared = {"metadata": row.metadata, "spec": row.spec}
    if not row.deleted_at and same(declared, reading.declaration):
        return edit(desk, row, form, notice=UNCHANGED)
    return conflicts.show(desk, row, form, mine=reading.text)


def edit(
    desk: Desk,
    row: Resource | None,
    form: SpecForm,
    *,
    marks: Sequence[Mark] = (),
    notice: str = "",
    status: int = 200,
) -> HttpResponse:
    """Show the editor."""
    form.fields["text"].widget.attrs["data-check-url"] = desk.urls(row)["check"]
    context = {
        "title": f"Edit {row.name}" if row else f"Add {article(desk.kind.title)}",
        "form": form,
        "marks": marks,
        "items": [each.as_item() for each in marks],
        "notice": notice,
    }
    return desk.render("edit", context, row=row, status=status)


def article(title: str) -> str:
    """Put the article before a kind."""
    return f"{'an' if title[0] in 'AEIOU' else 'a'} {title.lower()}"


def review(
    desk: Desk,
    row: Resource | None,
    form: SpecForm,
    reading: Reading,
    *,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    """Show what saving would change; nothing is written."""
    wish = specs.DesiredDocument(
        unversioned(reading.document), expected=None if row else 0, scope=desk.scope
    )
    outcome = specs.apply([wish], actor=desk.actor, now=timezone.now(), dry_run=True)
    result = outcome.results[0]
    if result.action not in ("created", "changed"):
        return turned_down(desk, row, form, result)
    words = "; ".join(in_words(result.differences))
    context = {
        "title": f"Review changes to {row.name}" if row else f"Review new {result.name}",
        "form": form,
        "before": declared_text(row) if row else "",
        "after": reading.text,
        "name": result.name,
        "words": f"{words[:1].upper()}{words[1:]}." if words else "",
        "marks": reading.marks,
        "problem": problem,
    }
    return desk.render("review", context, row=row, status=status)


def save(desk: Desk, row: Resource | None, form: SpecForm, reading: Reading) -> HttpResponse:
    """Make the document true, if nobody declared anything else meanwhile."""
    try:
        result = write(desk, row, form.cleaned_data, reading.document)
    except store.Stale:
        return review(desk, row, form, reading, problem=BUSY, status=409)
    if result.action == "conflict" and row is not None:
        row.refresh_from_db()
        return overtaken(desk, row, form, reading)
    if result.action not in ("created", "changed") or result.resource is None:
        return turned_down(desk, row, form, result)
    saved = result.resource
    messages.success(desk.request, f"Saved {saved.name}, generation {saved.generation}.")
    return HttpResponseRedirect(address(saved))


def write(
    desk: Desk, row: Resource | None, typed: dict[str, Any], document: Document
) -> specs.Applied:
    """Apply the document; a report that arrives meanwhile is no conflict, a declaration is."""
    for _ in range(ATTEMPTS):
        expected = row.resource_version if row else 0
        wish = specs.DesiredDocument(
            document, expected=expected, message=typed["message"], scope=desk.scope
        )
        outcome = specs.apply([wish], actor=desk.actor, now=timezone.now())
        result = outcome.results[0]
        if result.action != "conflict" or row is None:
            break
        row.refresh_from_db()
        if conflicts.overtaken(row, typed["version"]):
            break
    return result


def turned_down(
    desk: Desk, row: Resource | None, form: SpecForm, result: specs.Applied
) -> HttpResponse:
    """Go back to the editor with the reason why nothing was written."""
    if result.action == "unchanged":
        return edit(desk, row, form, notice=UNCHANGED)
    if result.action == "conflict":
        message = f"{result.kind} {result.name} exists already. Choose another name, or change it."
        taken = Mark(1, "/metadata/name", message, "error")
        return edit(desk, row, form, marks=[taken], status=409)
    marks = [Mark(1, each.pointer, each.message, each.severity) for each in result.problems]
    foreign = any(each.rule == specs.NOT_YOURS for each in result.problems)
    code = FORBIDDEN if foreign else INVALID
    return edit(desk, row, form, marks=marks, status=SORTS[code].status)


def restore(desk: Desk, row: Resource, version: str) -> HttpResponse:
    """Show what going back to an older declaration would change."""
    revision = revision_of(row, version)
    text = as_text(row.kind, row.name, metadata=revision.metadata or {}, spec=revision.spec or {})
    typed = {
        "text": text,
        "message": f"Restored generation {revision.generation}",
        "version": row.resource_version,
    }
    form = SpecForm(typed)
    form.is_valid()
    reading = read(text, desk.kind, row.name)
    if reading.failed:
        return edit(desk, row, form, marks=reading.marks, status=SORTS[INVALID].status)
    return review(desk, row, form, reading)
