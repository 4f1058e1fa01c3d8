"""One resource as pages show it: what is declared, what is observed, and where to go on."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.urls import reverse

from resources.documents import kinds
from resources.documents.kind import Document, Kind
from resources.store.snapshots import parse_instant
from resources.tables.models import Resource
from resources.usecases import access
from resources.web import changes
from resources.web.overview import meaning, owner_name

LEDES = ("purpose", "description", "context", "content")
# Bad news first.
RANKS = ("bad", "unknown", "good")


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
    return {
        "kind": kind,
        "name": metadata["name"],
        "domain": kind.domain_of(document),
        "labels": sorted((metadata.get("labels") or {}).items()),
        "lede": next((spec[key] for key in LEDES if isinstance(spec.get(key), str)), ""),
        "spec": spec,
        "status": changes.values(document.get("status", {})),
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
            "controller": controller_in(each.get("managedBy", "")),
            "since": parse_instant(each.get("lastTransitionTime", "")),
        }
        for each in conditions
    ]
    return sorted(rows, key=lambda row: (RANKS.index(row["meaning"]), row["type"]))


def controller_in(actor: str) -> str:
    """Return the name of the controller that an actor is, if it is one."""
    return actor.removeprefix("controller/") if actor.startswith("controller/") else ""


def links(user: AbstractBaseUser | AnonymousUser, row: Resource) -> dict[str, str]:
    """Return where this person may go on: to edit, and to the whole history."""
    if not getattr(user, "is_staff", False) or isinstance(user, AnonymousUser):
        return {}
    found = {"history": admin_address("history", row)}
    if access.may_edit(user, "change", row.domain):
        found["edit"] = admin_address("change", row)
    return found


def admin_address(action: str, row: Resource) -> str:
    """Return the address of a page of the admin about a resource."""
    return reverse(f"admin:resources_{row.kind.lower()}_{action}", args=[row.pk])


def address(row: Resource) -> str:
    """Return the address of a resource's own page."""
    kind = kinds.by_name(row.kind)
    return reverse("resource", args=[kind.path if kind else row.kind.lower(), row.name])
