"""The ledger, its checkpoints and the revisions: to be read, never written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html

from resources.admin.admin_rights import INSIDE, Rights, readable
from resources.admin.filters import CategoryFilter, EventFilter, KindFilter
from resources.admin.resource_request import number
from resources.documents.yaml_text import write_yaml
from resources.tables.models import Checkpoint, LedgerEvent, ResourceRevision
from resources.templatetags.ui import age
from resources.usecases import access
from resources.usecases.access_rules import OVERSEE, at

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Any]
    Pages = Paginator[Any]
else:
    Base, Pages = admin.ModelAdmin, Paginator

NEWEST = 2_000


class NewestPaginator(Pages):
    """Pages through the newest rows only, so that nothing counts a table that only grows."""

    @cached_property
    def count(self) -> int:
        """How many rows can be paged through."""
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]
        return rows.values("pk")[:NEWEST].count()

    @property
    def cut(self) -> bool:
        """Whether there are older rows."""
        return self.count == NEWEST


class ReadOnly(Base):
    """A list and its entries, without any way to change them."""

    # Who may use its pages, by what they do.
    rights: ClassVar[Rights]
    actions = None
    list_per_page = 50
    list_max_show_all = 0
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    paginator = NewestPaginator
    change_form_template = "admin/resources/record.html"
    # The roles that read it; nothing stands for every role.
    readers: tuple[str, ...] = ()
    title = ""

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Show the list to whoever may read it."""
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Ask for a role that reads it, held anywhere: what is shown lies there."""
        scope = access.scope_of(request.user)
        return scope.holds_somewhere(self.readers) if self.readers else bool(scope.held)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody may."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody may."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody may."""
        return False

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """List the rows."""
        return super().changelist_view(request, {"title": self.title})

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """These rows never change: their page is all there is."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return HttpResponseRedirect(
            reverse(f"admin:resources_{self.opts.model_name}_change", args=[object_id])
        )

    @admin.display(description="when", ordering="at")
    def when(self, row: Any) -> str:
        """When it happened."""
        return age(row.at)


@admin.register(LedgerEvent)
class LedgerEventAdmin(ReadOnly):
    """What happened, newest first."""

    rights = readable(at("anywhere", *OVERSEE))
    readers = ("auditor", "administrator")
    title = "Ledger"
    list_display = ("event", "subject", "actor", "when", "category", "severity")
    list_filter = (EventFilter, CategoryFilter)
    search_fields = ("subject", "correlation_id")
    search_help_text = "A whole subject, such as agent/growth-optimizer, or a correlation id."
    ordering = ("-id",)
    fields = (
        ("event", "category", "severity"),
        "subject",
        "actor",
        "at",
        "correlation_id",
        "causation_id",
        "details",
        ("stream", "seq"),
        "previous",
        "hash",
        "payload_digest",
    )
    readonly_fields = ("details",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave the payloads out of the list."""
        rows = super().get_queryset(request)
        match = request.resolver_match
        return rows.defer("payload") if match and match.kwargs == {} else rows

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Look for whole values: both have an index."""
        if not search_term:
            return queryset, False
        return queryset.filter(Q(subject=search_term) | Q(correlation_id=search_term)), False

    @admin.display(description="payload")
    def details(self, row: LedgerEvent) -> str:
        """What was recorded."""
        return format_html('<pre class="plain">{}</pre>', write_yaml(row.payload))


@admin.register(Checkpoint)
class CheckpointAdmin(ReadOnly):
    """Signed roots over the ledger."""

    rights = readable(at("anywhere", *OVERSEE))
    readers = ("auditor", "administrator")
    title = "Checkpoints"
    list_display = ("number", "when", "count", "upto", "root")
    ordering = ("-number",)
    fields = (
        "number",
        "at",
        ("after", "upto", "count"),
        "root",
        "previous",
        "public_key",
        "signature",
    )


@admin.register(ResourceRevision)
class ResourceRevisionAdmin(ReadOnly):
    """Every change of every resource; each opens in its resource's history."""

    rights = readable(INSIDE)
    title = "Revisions"
    list_display = ("resource_version", "resource", "change", "generation", "actor", "when")
    list_filter = (KindFilter, "change")
    search_fields = ("resource__name",)
    search_help_text = "The whole name of a resource."
    ordering = ("-resource_version",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return what the list shows, without the documents."""
        heavy = ("metadata", "spec", "status")
        rows = super().get_queryset(request).select_related("resource")
        return rows.defer(*heavy, *(f"resource__{part}" for part in heavy))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Look for a whole name."""
        found = queryset.filter(resource__name=search_term) if search_term else queryset
        return found, False

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: Any = None,
    ) -> HttpResponse:
        """Open the revision in its resource's history."""
        found = self.get_queryset(request).filter(pk=number(object_id))
        row = found.first() if self.has_view_permission(request) else None
        if row is None:
            return HttpResponseRedirect(reverse("admin:resources_resourcerevision_changelist"))
        name = f"admin:resources_{row.kind.lower()}_revision"
        return HttpResponseRedirect(reverse(name, args=[row.resource_id, row.resource_version]))
