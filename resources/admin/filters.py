"""What lists can be narrowed to, without looking through a whole table for the choices."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from resources.documents import kinds
from resources.tables.models import LedgerEvent

LOOKED_AT = 2_000


class DomainFilter(admin.SimpleListFilter):
    """Narrows a list to one domain."""

    title = "domain"
    parameter_name = "domain"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer the domains that have resources of this kind."""
        found = model_admin.live().exclude(domain="").order_by("domain")
        return [(name, name) for name in found.values_list("domain", flat=True).distinct()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the chosen domain's."""
        chosen = self.value()
        return queryset.filter(domain=chosen.replace("\x00", "")) if chosen else queryset


class EventFilter(admin.SimpleListFilter):
    """Narrows the ledger to one event; offers those that happened lately."""

    title = "event"
    parameter_name = "event"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer the events among the newest entries: looking through all would take long."""
        newest = LedgerEvent.objects.order_by("-id").values_list("event", flat=True)[:LOOKED_AT]
        return [(event, event) for event in sorted(set(newest))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the chosen event's entries."""
        chosen = self.value()
        return queryset.filter(event=chosen.replace("\x00", "")) if chosen else queryset


class CategoryFilter(admin.SimpleListFilter):
    """Narrows the ledger to decisions and changes, or to reports."""

    title = "category"
    parameter_name = "category"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer both."""
        return [("audit", "audit"), ("log", "log")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the chosen category's entries."""
        chosen = self.value()
        return queryset.filter(category=chosen.replace("\x00", "")) if chosen else queryset


class KindFilter(admin.SimpleListFilter):
    """Narrows the revisions to one kind."""

    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer every kind."""
        return [(kind.path, kind.title) for kind in kinds.ALL]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the chosen kind's revisions."""
        chosen = kinds.by_path(self.value() or "")
        return queryset.filter(kind=chosen.name) if chosen else queryset
