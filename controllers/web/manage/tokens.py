"""Tokens: which there are, one more that is shown once, and one that stops working."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.html import format_html
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods

from controllers.access import people
from controllers.signin import reauthentication
from controllers.web.base.form import WebForm
from controllers.web.base.page import PageRequest, part
from controllers.web.manage.manage_forms import MOST_DAYS, USUAL_DAYS, IssueForm
from controllers.web.manage.manage_page import (
    Confirm,
    ManageFormPage,
    Managing,
    Question,
    Secret,
    with_query,
)
from resources.documents.problems import Problem, invalid
from resources.tables.models import AgentToken, Resource
from resources.usecases import tokens
from resources.usecases.access_rules import ADMINISTER, OVERSEE, at, page, rights

SHOWN = OFFERED = 500
# What a token for an agent may do unless somebody chooses otherwise.
USUAL = ("resources:read", "status:write")
SOON = timedelta(days=7)
LONGEST_NUMBER = 4


class TokenRow(NamedTuple):
    """A token as people read it."""

    row: AgentToken
    state: str
    # Whether it works, and stops soon.
    ending: bool
    # Whether the one who looks may revoke it, or make another one like it.
    mine: bool

    @property
    def works(self) -> bool:
        """Whether it works."""
        return self.state == tokens.WORKS

    @property
    def bearer(self) -> str:
        """Whom it is for, as the form names them."""
        return written(self.row.agent)

    @property
    def again(self) -> str:
        """Where another one like it is made."""
        return with_query("token-new", agent=self.bearer, scopes=",".join(self.row.scopes))


def written(bearer: Resource) -> str:
    """Return a bearer as tokens name it."""
    return str(bearer) if bearer.kind == "Controller" else bearer.name


class Tokens(Managing):
    """The tokens that the one who looks may see."""

    rights = page(at("anywhere", *OVERSEE))
    template = "manage/tokens.html"
    tab = "tokens"
    parts = {
        "tokens": part(
            "manage/_tokens.html", "token.issued", "token.revoked", "resource.deleted", "person"
        )
    }

    @property
    def agent(self) -> str:
        """Whose tokens are asked for."""
        return self.look.query.get("agent", "").replace("\x00", "").strip()[:300]

    @property
    def everything(self) -> bool:
        """Whether those are asked for too that no longer work."""
        return self.look.query.get("state") == "all"

    @cached_property
    def rows(self) -> list[TokenRow]:
        """The tokens, the newest first."""
        found = AgentToken.objects.select_related("agent")
        heavy = found.defer(*(f"agent__{part}" for part in ("metadata", "spec", "status")))
        if self.agent:
            bearer, name = tokens.named(self.agent)
            heavy = heavy.filter(agent__kind=tokens.BEARERS[bearer], agent__name=name)
        if not self.everything:
            heavy = heavy.filter(revoked_at=None, agent__deleted_at=None)
            heavy = heavy.filter(expires_at__gt=self.now)
        return [self.told(each) for each in heavy.order_by("-created_at", "-pk")[:SHOWN]]

    def told(self, row: AgentToken) -> TokenRow:
        """Write one token for the one who looks."""
        state = tokens.state_of(row, self.now)
        ending = state == tokens.WORKS and row.expires_at <= self.now + SOON
        return TokenRow(row, state, ending, self.scope.holds(ADMINISTER, row.agent.domain))

    @property
    def ending(self) -> int:
        """How many stop soon."""
        return sum(each.ending for each in self.rows)

    @property
    def choices(self) -> list[tuple[str, str, bool]]:
        """Which tokens can be shown."""
        works = with_query("tokens", agent=self.agent)
        every = with_query("tokens", agent=self.agent, state="all")
        return [("Working", works, not self.everything), ("All", every, self.everything)]

    @property
    def new(self) -> str:
        """Where one is made, for whom the list is about."""
        return with_query("token-new", agent=self.agent)


class NewToken(ManageFormPage):
    """What is asked for about a token."""

    template = fragment = "manage/token_new.html"
    tab = "tokens"
    form_class = IssueForm
    faulty = "agent"

    def prepare(self, form: WebForm) -> None:
        """Suggest whom one can be made for, and offer what it may do."""
        form.suggest("agent", lambda: self.bearers)
        form.offer("scopes", self.scopes)

    def suggested(self) -> dict[str, Any]:
        """Suggest what a token may do unless somebody chooses otherwise."""
        return {"scopes": list(USUAL), **super().suggested()}

    @property
    def agent(self) -> str:
        """Whom it is for."""
        return self.form.text("agent").replace("\x00", "").strip()

    @property
    def most_days(self) -> int:
        """For how many days at most."""
        return MOST_DAYS

    @property
    def lifetime(self) -> timedelta:
        """How long it lasts."""
        typed = self.form.text("days").strip() or USUAL_DAYS
        if not (typed.isascii() and typed.isdecimal() and len(typed) <= LONGEST_NUMBER):
            raise invalid(f"Say for how many days: 1 to {self.most_days}.")
        return timedelta(days=int(typed))

    def scopes(self) -> list[tuple[str, str]]:
        """Return what it may do: each word, with what it means."""
        every = {**tokens.CONTROLLER_SCOPES, **tokens.SCOPES}
        if self.agent:
            outside = tokens.named(self.agent)[0] == "controller"
            every = dict(tokens.CONTROLLER_SCOPES if outside else tokens.SCOPES)
        label = "<span><code>{}</code> {}</span>"
        return [(word, format_html(label, word, meaning)) for word, meaning in every.items()]

    @cached_property
    def bearers(self) -> list[str]:
        """Whom one can be made for: agents, and controllers that are run outside."""
        live = Resource.objects.filter(deleted_at=None).order_by("name")
        agents = live.filter(kind="Agent").values_list("name", flat=True)[:OFFERED]
        rows = live.filter(kind="Controller").values_list("name", "spec")[:OFFERED]
        outside = [name for name, spec in rows if spec.get("runner") == "external"]
        return [*agents, *(f"controller/{each}" for each in outside)]

    def issue(self) -> tokens.Issued:
        """Make it."""
        return tokens.issue(
            self.agent,
            scopes=self.form.chosen("scopes"),
            lifetime=self.lifetime,
            scope=self.scope,
            actor=people.actor_for(self.viewer),
            now=self.now,
        )


@rights(page(at("anywhere", *ADMINISTER), at("there", *ADMINISTER)))
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_variables("issued")
def issue(request: HttpRequest) -> HttpResponse:
    """Ask for whom, then show the text once."""
    form = NewToken(PageRequest.of(request))
    if request.method != "POST":
        return form.show()
    form.check()
    if (elsewhere := form.confirmed(request)) is not None:
        return elsewhere
    try:
        issued = form.issue()
    except Problem as problem:
        return form.refuse(problem)
    reauthentication.forget(request)
    row = issued.token
    words = f"It works until {until(row.expires_at)}, for {', '.join(row.scopes)}."
    title = f"A token for {written(row.agent)}"
    return Secret(form.look, "tokens", title, issued.text, words).respond()


def until(at: datetime) -> str:
    """Spell a day and a time."""
    return f"{at:%-d %B %Y, %H:%M} UTC"


class Revoke(Confirm):
    """Make a token worthless."""

    tab = "tokens"

    def __init__(self, look: PageRequest, key: str) -> None:
        super().__init__(look)
        with look.eyes():
            rows = AgentToken.objects.select_related("agent")
        found = rows.filter(key_id=key.replace("\x00", "")).first()
        if found is None:
            raise Http404("There is no such token.")
        self.row = found

    def check(self) -> None:
        """Let those in who look after the tokens there; auditors only read the list."""
        if not self.scope.holds(ADMINISTER, self.row.agent.domain):
            raise PermissionDenied("Only administrators revoke tokens.")

    @property
    def question(self) -> Question:
        """Say what happens."""
        bearer = written(self.row.agent)
        return Question(
            f"Revoke the token {self.row.key_id} of {bearer}?",
            "It stops working at once, and cannot be brought back: issue another one instead.",
            "Revoke it",
            with_query("tokens", agent=bearer),
            "x",
        )


@rights(page(at("there", *ADMINISTER), at("there", *ADMINISTER)))
@require_http_methods(["GET", "HEAD", "POST"])
def revoke(request: HttpRequest, key: str) -> HttpResponse:
    """Ask, then make a token worthless."""
    form = Revoke(PageRequest.of(request), key)
    if request.method != "POST":
        return form.show()
    actor = people.actor_for(form.viewer)
    tokens.revoke(form.row.key_id, actor=actor, now=form.now, scope=form.scope)
    messages.success(request, f"Revoked {form.row.key_id}. It stopped working at once.")
    return form.leave_for(form.question.back)


def link_for(look: PageRequest, row: Resource) -> str:
    """Return where the tokens of an agent or a controller are, for those who may read them."""
    held = look.scope if look.person is not None else None
    outside = row.kind == "Controller" and row.spec.get("runner") == "external"
    if held is None or not (row.kind == "Agent" or outside):
        return ""
    return with_query("tokens", agent=written(row)) if held.holds(OVERSEE, row.domain) else ""
