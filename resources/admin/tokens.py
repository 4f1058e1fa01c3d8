"""Agents' tokens: issued here, shown once, revoked here; never edited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables

from resources.admin import admin_rights
from resources.admin.forms import TokenForm
from resources.documents.actor import Actor
from resources.documents.problems import INVALID, SORTS, Problem
from resources.tables import visibility
from resources.tables.models import AgentToken, Resource
from resources.templatetags.ui import age
from resources.usecases import access, tokens
from resources.usecases.tokens import KEEPERS

if TYPE_CHECKING:
    Base = admin.ModelAdmin[AgentToken]
else:
    Base = admin.ModelAdmin

LIST = "admin:resources_agenttoken_changelist"
OFFERED = 500


@admin.register(AgentToken)
class AgentTokenAdmin(Base):
    """Tokens without their secrets."""

    rights = admin_rights.TOKENS
    list_display = (
        "key_id",
        "agent_name",
        "scope_words",
        "state",
        "expires",
        "last_used",
        "created_by",
    )
    search_fields = ("key_id", "agent__name")
    ordering = ("-created_at",)
    actions = None
    list_per_page = 50
    list_max_show_all = 0
    show_full_result_count = False
    fields = (
        "key_id",
        "agent_name",
        "scope_words",
        "state",
        "created_at",
        "created_by",
        "expires_at",
        "revoked_at",
        "last_used_at",
    )
    readonly_fields = ("agent_name", "scope_words", "state")

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Show the list to whoever may read it."""
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Ask for a role that looks after tokens, or reads about them."""
        return access.scope_of(request.user).holds_somewhere((*KEEPERS, "auditor"))

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Ask for the role that issues tokens."""
        return access.scope_of(request.user).holds_somewhere(KEEPERS)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody may: a token is issued or revoked, never edited."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody may: a revoked token stays as a record."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentToken]:
        """Return the tokens with their agents' names."""
        heavy = (f"agent__{part}" for part in ("metadata", "spec", "status"))
        return super().get_queryset(request).select_related("agent").defer(*heavy)

    @admin.display(description="agent", ordering="agent__name")
    def agent_name(self, token: AgentToken) -> str:
        """Whose token it is."""
        return str(token.agent) if token.agent.kind == "Controller" else token.agent.name

    @admin.display(description="scopes")
    def scope_words(self, token: AgentToken) -> str:
        """What it allows."""
        return ", ".join(token.scopes)

    @admin.display(description="state")
    def state(self, token: AgentToken) -> str:
        """Whether it works."""
        return tokens.state_of(token, timezone.now())

    @admin.display(description="expires", ordering="expires_at")
    def expires(self, token: AgentToken) -> str:
        """When it stops working."""
        return age(token.expires_at)

    @admin.display(description="last used", ordering="last_used_at")
    def last_used(self, token: AgentToken) -> str:
        """When it was last used."""
        return age(token.last_used_at) if token.last_used_at else "never"

    def get_urls(self) -> list[URLPattern]:
        """Add the page that revokes."""
        view = self.admin_site.admin_view(self.revoke_view)
        name = "resources_agenttoken_revoke"
        return [path("<str:key_id>/revoke/", view, name=name), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """List the tokens."""
        return super().changelist_view(request, {"title": "Agent tokens"})

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Issue a token."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        return never_cache(self.issue)(request)

    @sensitive_variables("issued")
    def issue(self, request: HttpRequest) -> HttpResponse:
        """Ask for whom, then show the text once."""
        typed = request.POST if request.method == "POST" else None
        form = TokenForm(typed, initial={"agent": request.GET.get("agent", "")})
        status = SORTS[INVALID].status if typed is not None else 200
        if form.is_valid():
            wish = form.cleaned_data
            try:
                issued = tokens.issue(
                    wish["agent"],
                    scopes=wish["scopes"],
                    lifetime=form.lifetime,
                    scope=access.scope_of(request.user),
                    actor=actor(request),
                    now=timezone.now(),
                )
            except Problem as problem:
                form.add_error("agent", problem.message)
                status = problem.status
            else:
                title = f"Token for {issued.token.agent.name}"
                return self.page(request, "issued", title=title, issued=issued)
        agents = Resource.objects.filter(kind="Agent", deleted_at=None).order_by("name")
        names = agents.values_list("name", flat=True)[:OFFERED]
        return self.page(
            request, "issue", title="Issue a token", status=status, form=form, agents=names
        )

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: Any = None,
    ) -> HttpResponse:
        """Show a token, and the way to revoke it to those who may."""
        token = self.get_object(request, object_id)
        may = token is not None and keeps(request, token.agent)
        revocable = token if token and may and not token.revoked_at else None
        context = {"revocable": revocable, "show_close": True, **(extra_context or {})}
        return super().change_view(request, object_id, form_url, context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """A token's history is its agent's, in the ledger."""
        token = self.get_object(request, object_id)
        if token is None or not self.has_view_permission(request):
            raise Http404
        place = reverse("admin:resources_ledgerevent_changelist")
        return HttpResponseRedirect(f"{place}?q={token.agent}")

    def revoke_view(self, request: HttpRequest, key_id: str) -> HttpResponse:
        """Ask, then make a token worthless."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        with visibility.within(access.scope_of(request.user)):
            rows = self.get_queryset(request)
        token = rows.filter(key_id=key_id.replace("\x00", "")).first()
        if token is None:
            raise Http404
        if not keeps(request, token.agent):
            raise PermissionDenied
        if request.method != "POST":
            return self.page(request, "revoke", title=f"Revoke {token.key_id}?", token=token)
        scope = access.scope_of(request.user)
        tokens.revoke(token.key_id, actor=actor(request), now=timezone.now(), scope=scope)
        messages.success(request, f"Revoked {token.key_id}. It stopped working at once.")
        return HttpResponseRedirect(reverse(LIST))

    def page(
        self, request: HttpRequest, name: str, *, title: str, status: int = 200, **context: Any
    ) -> HttpResponse:
        """Show a page in the frame of the admin."""
        frame = self.admin_site.each_context(request)
        whole = {**frame, "opts": self.opts, "title": title, **context}
        template = f"admin/resources/agenttoken/{name}.html"
        return TemplateResponse(request, template, whole, status=status)


def keeps(request: HttpRequest, bearer: Resource) -> bool:
    """Tell whether somebody looks after the tokens of an agent or a controller."""
    return access.scope_of(request.user).holds(KEEPERS, bearer.domain)


def actor(request: HttpRequest) -> Actor:
    """Return who acts."""
    return Actor("person", request.user.get_username())
