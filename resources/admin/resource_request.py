"""What every page about a kind's resources needs: the request, the kind, and where things are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.admin import AdminSite
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse

from resources.documents.actor import Actor
from resources.documents.kind import Document, Kind
from resources.documents.yaml_text import write_yaml
from resources.store.snapshots import assemble, ordered_metadata
from resources.tables.models import PAGE_MODELS, Resource
from resources.tables.visibility import Scope
from resources.usecases import access
from resources.web.detail import address

DIGITS = 18


@dataclass(frozen=True)
class Desk:
    """One request to a kind's pages."""

    site: AdminSite
    request: HttpRequest
    kind: Kind

    @property
    def actor(self) -> Actor:
        """Who acts."""
        return Actor("person", self.request.user.get_username())

    def may(self, verb: str, row: Resource | None = None) -> bool:
        """Tell whether this person may view, add, change or delete resources, or one of them."""
        return may(self.request, verb, row)

    @property
    def scope(self) -> Scope:
        """What this person holds."""
        return access.scope_of(self.request.user)

    def find(self, object_id: str) -> Resource:
        """Return a row of this kind that this person may see, dead or alive."""
        rows = Resource.objects.filter(pk=number(object_id) or 0, kind=self.kind.name)
        row = access.visible(rows, self.request.user).first()
        if row is None:
            raise Http404
        return row

    def url(self, action: str, *arguments: int) -> str:
        """Return the address of one of this kind's pages."""
        return reverse(f"admin:resources_{self.kind.name.lower()}_{action}", args=arguments)

    def render(
        self, page: str, context: dict[str, Any], *, row: Resource | None = None, status: int = 200
    ) -> TemplateResponse:
        """Show a page in the frame of the admin."""
        whole = {
            **self.site.each_context(self.request),
            "opts": PAGE_MODELS[self.kind.name]._meta,
            "kind": self.kind,
            "row": row,
            "urls": self.urls(row),
            "may_delete": self.may("delete", row),
            "may_change": self.may("change", row),
            **context,
        }
        return TemplateResponse(self.request, f"admin/resources/{page}.html", whole, status=status)

    def urls(self, row: Resource | None) -> dict[str, str]:
        """Return the addresses around a resource."""
        found = {
            "list": self.url("changelist"),
            "add": self.url("add"),
            "check": self.url("check"),
        }
        if row is None:
            return found
        pages = {each: self.url(each, row.pk) for each in ("change", "history", "delete")}
        own = {} if row.deleted_at else {"page": address(row)}
        return found | pages | own | {"check": self.url("check_one", row.pk)}


def number(text: str) -> int | None:
    """Read a key or a version; nothing when it is none that a database could hold."""
    plain = text.isascii() and text.isdecimal() and len(text) <= DIGITS
    return int(text) if plain else None


def may(request: HttpRequest, verb: str, row: Resource | None = None) -> bool:
    """Tell whether a person may do something with a resource, or with any, whatever its kind."""
    if verb == "view":
        return bool(access.scope_of(request.user).held)
    return access.may_edit(request.user, verb, row.domain if row is not None else None)


def declared_text(row: Resource) -> str:
    """Write what a resource declares as YAML: no status, nothing that the server writes."""
    return as_text(row.kind, row.name, metadata=row.metadata, spec=row.spec)


def as_text(kind: str, name: str, *, metadata: Document, spec: Document) -> str:
    """Write a declaration as YAML."""
    return write_yaml(assemble(kind, ordered_metadata(name, metadata), spec, {}))
