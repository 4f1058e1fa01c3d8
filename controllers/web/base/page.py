"""What a page is: an address that somebody looks at, made of parts that are shown anew alone.

A page reads nothing before a template asks for it, so one part costs only its own questions. Parts
are rendered by the same templates on the first load, when the page asks for them again, and when
they are pushed: a page that stays open equals one that is loaded afresh.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from controllers.web.base.shell import Shell
from resources.tables import versions, visibility
from resources.usecases import access
from resources.usecases.access_rules import Rules

ASKED = "Live-Parts"


class Part(NamedTuple):
    """A piece of a page with an id of its own, and what it is about.

    A topic is the first word of a ledger stream (`proposal`), a stream (`proposal/<uid>`), an
    event (`resource.created`, or `budget_exceeded` of any domain), a subject (`agent/scribe`), or
    `*` for everything. A shared part is the same for everybody: it is rendered once and pushed.
    The others are fetched again by whoever looks.
    """

    template: str
    topics: frozenset[str]
    shared: bool = False


def part(template: str, *topics: str, shared: bool = False) -> Part:
    """Describe a piece of a page."""
    return Part(template, frozenset(topics), shared)


@dataclass(frozen=True)
class PageRequest:
    """Somebody looks at an address at a moment; nobody in particular when parts are pushed."""

    path: str
    query: QueryDict
    now: datetime
    person: User | None = None
    request: HttpRequest | None = None
    # How far the ledger had come before anything was read: what is newer is still to be told.
    number: int | None = None

    @classmethod
    def of(cls, request: HttpRequest) -> PageRequest:
        """Return how a request looks; what goes into a page that is open needs no number."""
        person = request.user if isinstance(request.user, User) else None
        inside = ASKED in request.headers or "HX-Request" in request.headers
        number = None if inside else versions.horizon()
        return cls(request.path, request.GET, timezone.now(), person, request, number)

    @property
    def viewer(self) -> User:
        """Who looks; a shared part may not ask."""
        if self.person is None:
            raise RuntimeError("A shared part asks who looks at it.")
        return self.person

    @property
    def scope(self) -> visibility.Scope | None:
        """What the one who looks holds; a part for everybody asks whoever it is rendered for."""
        return visibility.current() if self.person is None else access.scope_of(self.person)

    @property
    def whole(self) -> bool:
        """Whether the one who looks sees the whole organisation."""
        return self.scope is None or self.scope.is_whole

    def eyes(self) -> Any:
        """Read with the eyes of the one who looks."""
        return visibility.within(self.scope)


# When there are more resources, or fewer.
COUNTED = ("resource.created", "resource.deleted", "resource.released")
# When people may have been told something: by a cycle, a contract, a budget or a policy.
RUNG = (
    "controller.reconciliation-completed",
    "controller.breaker-opened",
    "controller.fell-silent",
    "channel.tested",
    "telemetry.alert-triggered",
    "telemetry.alert-resolved",
    "security_violation_detected",
    "budget_threshold_reached",
    "budget_exceeded",
    "budget_agent_overspend",
)
# What stands around the content of every page.
AROUND: Mapping[str, Part] = {
    "sections": part("partials/sections.html", "proposal", "hold", "person", *RUNG, *COUNTED),
    "tabs": part("partials/tabs.html", "proposal", "person"),
    "domains": part("partials/domains.html", "controller", *COUNTED, shared=True),
    "power": part("partials/power.html", "hold", "controller", *COUNTED, shared=True),
}


class Page:
    """One page as somebody sees it; subclasses add what their templates ask for, as properties."""

    # Who may see it. A page at an address says so itself: its parent does not speak for it.
    rights: ClassVar[Rules]
    template: ClassVar[str]
    # The section of the navigation it belongs to.
    section: ClassVar[str] = ""
    parts: ClassVar[Mapping[str, Part]] = {}

    def __init__(self, look: PageRequest) -> None:
        self.look = look
        self.now = look.now

    @property
    def viewer(self) -> User:
        """Who looks."""
        return self.look.viewer

    @cached_property
    def shell(self) -> Shell:
        """What stands around the content."""
        return Shell(self.look.person, self.now, self.section)

    def pieces(self) -> Mapping[str, Part]:
        """Return every part by its id; a page about one thing narrows its topics here."""
        return {**AROUND, **self.parts}

    def context(self) -> dict[str, Any]:
        """Return what templates see."""
        number = self.look.number
        return {"page": self, "shell": self.shell, "now": self.now, "number": number}

    def render_part(self, name: str) -> str:
        """Render one part, as the one who looks may see it."""
        with self.look.eyes():
            template = self.pieces()[name].template
            return render_to_string(template, self.context(), self.look.request)

    def render_parts(self, names: Iterable[str]) -> str:
        """Render several parts, those it has."""
        with self.look.eyes():
            known = self.pieces()
        return "\n".join(self.render_part(name) for name in names if name in known)

    def respond(self, status: int = 200) -> HttpResponse:
        """Answer with the whole page, or with the parts that were asked for."""
        request = self.look.request
        if request is None:
            raise RuntimeError("Nobody asked for this page.")
        asked = request.headers.get(ASKED)
        if asked is not None:
            response = HttpResponse(self.render_parts(asked.split(",")))
        else:
            with self.look.eyes():
                response = render(request, self.template, self.context(), status=status)
        patch_vary_headers(response, [ASKED, "HX-Request"])
        response.headers["Cache-Control"] = "no-store"
        return response


def view(kind: type[Page]) -> Callable[..., HttpResponse]:
    """Return the view of a page; whoever has an address finds the page by it."""

    @require_safe
    def show(request: HttpRequest, **named: Any) -> HttpResponse:
        return kind(PageRequest.of(request), **named).respond()

    show.page = kind  # type: ignore[attr-defined]
    return show
