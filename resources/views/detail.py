"""One resource: what is declared, what is observed, what it names, what changed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from resources import access, history, kinds, snapshots
from resources.kind import Document, Kind
from resources.models import Resource
from resources.snapshots import parse_instant
from resources.views import changes, relations
from resources.views.overview import meaning, owner_name
from resources.yaml_text import write_yaml

RECENT = 6
LEDES = ("purpose", "description", "context", "content")
# Bad news first.
RANKS = ("bad", "unknown", "good")


@require_safe
def resource(request: HttpRequest, kind: str, name: str) -> HttpResponse:
    """Show one resource as it is, or with `?at=` as it was."""
    found = kinds.by_path(kind)
    if found is None or "\x00" in name:
        raise Http404
    if "at" in request.GET:
        return past(request, found, name)
    live = Resource.objects.filter(kind=found.name, name=name, deleted_at=None)
    row = access.visible(live, request.user).first()
    if row is None:
        raise Http404
    document = snapshots.document_of(row, snapshots.conditions_of([row])[row.pk])
    context = described(found, document) | {
        "reported_at": row.reported_at,
        "relations": relations.of(row),
        "history": changes.recent(row, limit=RECENT),
        "links": links(request.user, row),
    }
    return render(request, "resources/resource.html", context)


def past(request: HttpRequest, kind: Kind, name: str) -> HttpResponse:
    """Show a resource as it was, or say why that cannot be."""
    at = instant_from(request.GET["at"])
    if at is None:
        problem = "This is no time with a zone. Write it like 2026-02-25T10:00:00Z."
        return no_past(request, kind, name, problem=problem, status=400)
    try:
        document = history.document_at(kind.name, name, at)
    except history.Dropped as dropped:
        return no_past(request, kind, name, problem=str(dropped), status=410)
    if document is None or not access.sees(request.user, document):
        problem = f"Nothing is known of {kind.title} {name} on {at:%-d %B %Y at %H:%M:%S} UTC."
        return no_past(request, kind, name, problem=problem, status=404)
    return render(request, "resources/resource.html", described(kind, document) | {"at": at})


def no_past(
    request: HttpRequest, kind: Kind, name: str, *, problem: str, status: int
) -> HttpResponse:
    """Say why a resource cannot be shown as it was."""
    context = {"kind": kind, "name": name, "problem": problem}
    return render(request, "resources/no_past.html", context, status=status)


def instant_from(text: str) -> datetime | None:
    """Read a time from an address, where a plus sign may have become a space."""
    found = parse_instant(text.replace(" ", "+"))
    try:
        return found.astimezone(UTC) if found else None
    except OverflowError:
        return None


def described(kind: Kind, document: Document) -> dict[str, Any]:
    """Return what the page shows of a document, now or then."""
    metadata, spec = document["metadata"], document["spec"]
    status = changes.values(document.get("status", {}))
    return {
        "kind": kind,
        "name": metadata["name"],
        "domain": kind.domain_of(document),
        "labels": sorted((metadata.get("labels") or {}).items()),
        "lede": next((spec[key] for key in LEDES if isinstance(spec.get(key), str)), ""),
        "desired": write_yaml(spec),
        "actual": write_yaml(status) if status else "",
        "conditions": judged(kind, document.get("status", {}).get("conditions", [])),
        "owner": owner_name(metadata),
        "role": role(metadata),
        "generation": metadata["generation"],
        "version": metadata["resourceVersion"],
        "created_at": parse_instant(metadata["createdAt"]),
        "updated_at": parse_instant(metadata["updatedAt"]),
    }


def role(metadata: Document) -> str:
    """Return what the owner is, where the document says so."""
    owner = metadata.get("owner")
    return owner.get("role") or "" if isinstance(owner, dict) else ""


def judged(kind: Kind, conditions: list[Document]) -> list[dict[str, Any]]:
    """Return conditions with what they mean, bad news first."""
    rows = [
        {
            "type": each["type"],
            "status": each["status"],
            "meaning": meaning(kind.name, each["type"], each["status"]),
            "reason": each.get("reason", ""),
            "message": each.get("message", ""),
            "set_by": each.get("managedBy", ""),
            "since": parse_instant(each.get("lastTransitionTime", "")),
        }
        for each in conditions
    ]
    return sorted(rows, key=lambda row: (RANKS.index(row["meaning"]), row["type"]))


def links(user: AbstractBaseUser | AnonymousUser, row: Resource) -> dict[str, str]:
    """Return where this person may go on: to edit, and to the whole history."""
    if not getattr(user, "is_staff", False) or isinstance(user, AnonymousUser):
        return {}
    found = {"history": admin_address("history", row)}
    if user.has_perm("resources.change_resource"):  # type: ignore[attr-defined]
        found["edit"] = admin_address("change", row)
    return found


def admin_address(action: str, row: Resource) -> str:
    """Return the address of a page of the admin about a resource."""
    return reverse(f"admin:resources_{row.kind.lower()}_{action}", args=[row.pk])


def address(row: Resource) -> str:
    """Return the address of a resource's own page."""
    kind = kinds.by_name(row.kind)
    return reverse("resource", args=[kind.path if kind else row.kind.lower(), row.name])
