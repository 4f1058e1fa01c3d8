"""Decisions, holds, messages and rights in the admin: to be read, by those who look after them."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from controllers.access import roles
from controllers.budgets.amounts import MILLION
from controllers.models import Channel, Delivery, Grant, Hold, Price, Proposal
from resources.admin.admin_rights import readable
from resources.admin.records import ReadOnly
from resources.documents.yaml_text import write_yaml
from resources.templatetags.ui import age
from resources.usecases.access_rules import OVERSEE, at

# People and their rights have pages of their own; here a flag would stand above every grant.
admin.site.unregister([User, Group])


class Overseen(ReadOnly):
    """A list that administrators and auditors read."""

    rights = readable(at("organisation", *OVERSEE))
    # What the list does without: documents that are only shown one at a time.
    heavy: tuple[str, ...] = ()

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Ask for the role, once for a page: its menu asks for every list."""
        known: bool | None = getattr(request, "overseer", None)
        if known is None:
            person, now = request.user, timezone.now()
            known = isinstance(person, User) and roles.holds_role(person, OVERSEE, "", now)
            request.overseer = known  # type: ignore[attr-defined]
        return known

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """List the rows; what no database can look for is not looked for."""
        if "%00" in request.META.get("QUERY_STRING", ""):
            return HttpResponseRedirect(request.path)
        return super().changelist_view(request, extra_context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """What happened is in the ledger; the page is all there is here."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        name = f"admin:controllers_{self.opts.model_name}_change"
        return HttpResponseRedirect(reverse(name, args=[object_id]))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave the documents out of the list."""
        rows = super().get_queryset(request)
        match = request.resolver_match
        return rows.defer(*self.heavy) if match and match.kwargs == {} else rows


@admin.register(Channel)
class ChannelAdmin(Overseen):
    """Channels without their addresses."""

    title = "Channels"
    list_display = ("name", "hint", "enabled", "changed_by", "changed", "failed", "error")
    ordering = ("name",)
    heavy = ("address",)
    fields = ("name", "hint", "enabled", "changed_by", "changed_at", "failed_at", "error")

    @admin.display(description="changed", ordering="changed_at")
    def changed(self, row: Channel) -> str:
        """When it was last set."""
        return age(row.changed_at)

    @admin.display(description="failing", ordering="failed_at")
    def failed(self, row: Channel) -> str:
        """When it last failed, if it has not worked since."""
        return age(row.failed_at) if row.failed_at else "no"


@admin.register(Delivery)
class DeliveryAdmin(Overseen):
    """Messages to people, newest first."""

    title = "Messages"
    list_display = ("title", "channel", "severity", "state", "attempts", "created", "error")
    list_filter = ("state", "severity")
    search_fields = ("channel__exact",)
    search_help_text = "The whole name of a channel."
    ordering = ("-created_at", "-pk")
    fields = (
        "title",
        "body",
        ("channel", "severity"),
        ("state", "attempts"),
        ("created_at", "run_at", "sent_at"),
        "error",
        "key",
    )

    @admin.display(description="when", ordering="created_at")
    def created(self, row: Delivery) -> str:
        """When it was told."""
        return age(row.created_at)


@admin.register(Proposal)
class ProposalAdmin(Overseen):
    """Proposals, the latest change first."""

    title = "Proposals"
    list_display = ("number", "about", "state", "risk", "proposer", "changed", "decided_by")
    list_filter = ("state", "risk", "lane")
    search_fields = ("resource__name__exact", "correlation_id__exact")
    search_help_text = "The whole name of a resource, or a correlation id."
    ordering = ("-changed_at",)
    heavy = ("actions", "basis", "evidence", "policy", "interested")
    fields = (
        ("about", "proposer"),
        ("state", "revision", "answer"),
        ("mode", "lane", "risk", "reversible", "people"),
        "explanation",
        "plan",
        ("action_digest", "basis_digest"),
        ("created_at", "changed_at", "expires_at", "execute_before"),
        ("escalation", "escalated_at"),
        ("decided_by", "decided_at"),
        "reason",
        ("held", "held_reason"),
        ("outcome", "error"),
        "correlation_id",
    )
    readonly_fields = ("about", "plan")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the proposals with the names of what they are about."""
        parts = (f"resource__{part}" for part in ("metadata", "spec", "status"))
        return super().get_queryset(request).select_related("resource").defer(*parts)

    @admin.display(description="proposal", ordering="pk")
    def number(self, row: Proposal) -> str:
        """What it is called."""
        return str(row)

    @admin.display(description="about")
    def about(self, row: Proposal) -> str:
        """What it would change."""
        return str(row.resource)

    @admin.display(description="changed", ordering="changed_at")
    def changed(self, row: Proposal) -> str:
        """When something last happened to it."""
        return age(row.changed_at)

    @admin.display(description="actions")
    def plan(self, row: Proposal) -> str:
        """What it would do."""
        return format_html('<pre class="plain">{}</pre>', write_yaml(row.actions))


@admin.register(Hold)
class HoldAdmin(Overseen):
    """What people stopped, newest first."""

    title = "Holds"
    list_display = ("kind", "scope", "about", "author", "placed", "ends_at", "ended_by")
    list_filter = ("kind", "scope")
    ordering = ("-placed_at",)
    fields = (
        ("kind", "scope", "about"),
        "reason",
        ("author", "owner"),
        ("placed_at", "ends_at", "in_flight"),
        ("ended_at", "ended_by"),
        "end_reason",
        "details",
    )
    readonly_fields = ("about", "details")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the holds with the names of what they are about."""
        related = ("controller", "resource", "owner")
        heavy = [f"{name}__{part}" for name in related[:2] for part in ("spec", "status")]
        return super().get_queryset(request).select_related(*related).defer(*heavy)

    @admin.display(description="about")
    def about(self, row: Hold) -> str:
        """What it stops."""
        return " ".join(filter(None, (row.domain, named(row.controller), named(row.resource))))

    @admin.display(description="placed", ordering="placed_at")
    def placed(self, row: Hold) -> str:
        """When it was placed."""
        return age(row.placed_at)

    @admin.display(description="details")
    def details(self, row: Hold) -> str:
        """What it puts in place, and when it comes back."""
        told = {"path": row.path, "value": row.value, "former": row.former, "window": row.window}
        return format_html('<pre class="plain">{}</pre>', write_yaml(told))


@admin.register(Grant)
class GrantAdmin(Overseen):
    """Who holds which role."""

    title = "Roles"
    list_display = ("person", "role", "where", "ceiling", "granted_by", "granted_at", "ends_at")
    list_filter = ("role",)
    search_fields = ("person__username__exact", "domain__exact")
    search_help_text = "The whole name of a person or a domain."
    list_select_related = ("person",)
    ordering = ("person__username", "role", "domain")
    fields = ("person", "role", "where", "ceiling", "granted_by", "granted_at", "ends_at")
    readonly_fields = ("where",)

    @admin.display(description="where", ordering="domain")
    def where(self, row: Grant) -> str:
        """How far it reaches."""
        return row.domain or "the organisation"


@admin.register(Price)
class PriceAdmin(Overseen):
    """What models cost for a million tokens; `ioa price` sets it."""

    title = "Prices"
    list_display = ("provider", "name", "input_price", "output_price", "currency", "changed")
    search_fields = ("provider__exact", "name__exact")
    search_help_text = "The whole name of a provider or a model."
    ordering = ("provider", "name")
    fields = ("provider", "name", "input_price", "output_price", "currency", "changed_by")
    readonly_fields = ("input_price", "output_price")

    @admin.display(description="a million tokens in", ordering="input")
    def input_price(self, row: Price) -> str:
        """What goes in."""
        return f"{row.input / MILLION:g}"

    @admin.display(description="a million tokens out", ordering="output")
    def output_price(self, row: Price) -> str:
        """What comes out."""
        return f"{row.output / MILLION:g}"

    @admin.display(description="changed", ordering="changed_at")
    def changed(self, row: Price) -> str:
        """When it was last set."""
        return age(row.changed_at)


# What people sign in with is theirs alone: they see to it on their own page.
for model in (Authenticator, EmailAddress, SocialAccount, SocialApp, SocialToken):
    admin.site.unregister(model)


def named(row: Any) -> str:
    """Return what a resource is called, if there is one."""
    return str(row) if row is not None else ""
