"""A page per kind, made from the kinds themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils.safestring import SafeString, mark_safe

from resources.admin import admin_rights, delete, edit, history
from resources.admin.filters import DomainFilter
from resources.admin.resource_request import Desk, may
from resources.documents import kinds
from resources.documents.kind import Kind
from resources.tables.models import PAGE_MODELS, Resource
from resources.templatetags.ui import age
from resources.web.overview import owner_name, tally

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Resource]
else:
    Base = admin.ModelAdmin


class KindAdmin(Base):
    """The resources of one kind; every write is a use case of its own."""

    rights = admin_rights.KIND
    list_display = (
        "name",
        "domain",
        "owner",
        "generation",
        "condition_words",
        "last_report",
        "updated",
    )
    search_fields = ("name",)
    list_filter = (DomainFilter,)
    ordering = ("name",)
    actions = None
    list_per_page = 50
    list_max_show_all = 0
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER

    @property
    def kind(self) -> Kind:
        """The kind these pages are about."""
        return next(each for each in kinds.ALL if PAGE_MODELS[each.name] is self.model)

    def live(self) -> QuerySet[Resource]:
        """Return this kind's living resources."""
        return self.model._default_manager.filter(kind=self.kind.name, deleted_at=None)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Resource]:
        """Return what the list shows, with what it needs in one go."""
        return self.live().defer("spec", "status").prefetch_related("conditions")

    @admin.display(description="owner")
    def owner(self, row: Resource) -> str:
        """Who answers for it."""
        return owner_name(row.metadata) or "none"

    @admin.display(description="conditions")
    def condition_words(self, row: Resource) -> SafeString:
        """What its conditions mean, in words."""
        counts = tally(row.kind, list(row.conditions.all()))
        html = render_to_string("admin/resources/_tally.html", {"conditions": counts})
        return mark_safe(html)  # noqa: S308

    @admin.display(description="last report", ordering="reported_at")
    def last_report(self, row: Resource) -> str:
        """When it was last heard from."""
        return age(row.reported_at) if row.reported_at else "never"

    @admin.display(description="updated", ordering="updated_at")
    def updated(self, row: Resource) -> str:
        """When anything about it changed."""
        return age(row.updated_at)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Show the kind to whoever may view resources."""
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Resource | None = None) -> bool:
        """One right for all kinds."""
        return may(request, "view")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """One right for all kinds."""
        return may(request, "add")

    def has_change_permission(self, request: HttpRequest, obj: Resource | None = None) -> bool:
        """One right for all kinds."""
        return may(request, "change", obj)

    def has_delete_permission(self, request: HttpRequest, obj: Resource | None = None) -> bool:
        """One right for all kinds."""
        return may(request, "delete", obj)

    def desk(self, request: HttpRequest) -> Desk:
        """Return what the pages work with."""
        return Desk(self.admin_site, request, self.kind)

    def get_urls(self) -> list[URLPattern]:
        """Add the check and the revision pages to the usual ones."""
        wrap, prefix = self.admin_site.admin_view, f"resources_{self.opts.model_name}"
        own: Sequence[tuple[str, Any, str]] = (
            ("check/", self.check_view, "check"),
            ("<str:object_id>/check/", self.check_view, "check_one"),
            ("<str:object_id>/history/<str:version>/", self.revision_view, "revision"),
        )
        added = [path(route, wrap(view), name=f"{prefix}_{name}") for route, view, name in own]
        return [*added, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """List the resources."""
        return super().changelist_view(request, {"title": self.kind.plural})

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Add a resource."""
        return edit.add(self.desk(request))

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: Any = None,
    ) -> HttpResponse:
        """Change a resource."""
        return edit.change(self.desk(request), object_id)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """Delete a resource."""
        return delete.delete(self.desk(request), object_id)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """List a resource's revisions."""
        return history.listing(self.desk(request), object_id)

    def revision_view(self, request: HttpRequest, object_id: str, version: str) -> HttpResponse:
        """Show one revision."""
        return history.one(self.desk(request), object_id, version)

    def check_view(self, request: HttpRequest, object_id: str = "") -> HttpResponse:
        """Tell the editor what is wrong."""
        return edit.check(self.desk(request), object_id)


for model in PAGE_MODELS.values():
    admin.site.register(model, KindAdmin)
