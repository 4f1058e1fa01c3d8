"""The form that places a hold: hold a value, pause something, freeze a domain or everything."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from controllers.decisions import holds
from controllers.decisions.holds import override_values
from controllers.narrative import event_text
from controllers.web.base.form import WebForm
from controllers.web.base.page import PageRequest
from controllers.web.holds.hold_forms import (
    FreezeForm,
    HoldFormPage,
    OverrideForm,
    PlacedPauseForm,
    as_value,
    find,
    instant,
    page_of,
    plain,
)
from controllers.web.holds.hold_text import held
from resources.documents.problems import Problem, invalid
from resources.tables import visibility
from resources.tables.models import Resource
from resources.usecases.access_rules import SEEN, STOP, at, page, rights

KINDS = {"override": "Hold a value", "pause": "Pause", "freeze": "Freeze"}
ZONE = "UTC"


class Reach(NamedTuple):
    """How far a hold reaches, and what names that."""

    scope: str
    domain: str = ""
    controller: Resource | None = None
    resource: Resource | None = None

    @property
    def names(self) -> dict[str, Any]:
        """What names it, as a wish says it."""
        return {
            "domain": self.domain,
            "controller": self.controller.pk if self.controller else None,
            "resource": self.resource.pk if self.resource else None,
        }

    @property
    def place(self) -> str:
        """The domain whose people may speak of it; nothing is the organisation."""
        held = self.resource or self.controller
        return held.domain if held else self.domain


EVERYTHING = Reach("organisation")


FORMS: Mapping[str, type[WebForm]] = {
    "override": OverrideForm,
    "pause": PlacedPauseForm,
    "freeze": FreezeForm,
}


class NewHold(HoldFormPage):
    """What somebody wants to hold, and for how long."""

    template = "holds/new.html"
    fragment = "holds/_new.html"

    @property
    def form_type(self) -> type[WebForm]:
        """What the kind that is chosen asks for."""
        return FORMS[self.kind]

    def prepare(self, form: WebForm) -> None:
        """Suggest what can be paused."""
        if self.kind == "pause":
            form.suggest("on", lambda: self.places)

    def suggested(self) -> dict[str, Any]:
        """Take what is to be held from whatever names it."""
        return {**super().suggested(), "on": self.on}

    @property
    def kind(self) -> str:
        """The kind that is chosen."""
        return self.typed("kind") if self.typed("kind") in KINDS else "override"

    @property
    def kinds(self) -> list[tuple[str, str]]:
        """The kinds there are to choose from."""
        return list(KINDS.items())

    @property
    def on(self) -> str:
        """What is to be held, as it was typed or suggested."""
        if self.typed("on"):
            return self.typed("on")
        if self.typed("resource"):
            return self.typed("resource")
        for name in ("controller", "domain"):
            if self.typed(name):
                return f"{name}/{self.typed(name).removeprefix(f'{name}/')}"
        return ""

    @property
    def path(self) -> str:
        """The field, as it was typed or suggested."""
        return self.typed("path")

    @property
    def window(self) -> dict[str, str]:
        """When a freeze comes back, as it was typed."""
        typed = {name: self.typed(name).strip() for name in ("cron", "timezone", "duration")}
        return typed if typed["cron"] or typed["duration"] else {}

    @property
    def may_place(self) -> bool:
        """Whether the one who looks may hold anything at all."""
        return bool(self.viewer_rights.stops)

    @cached_property
    def places(self) -> list[str]:
        """The controllers and domains, to choose from while typing."""
        rows = Resource.objects.filter(kind__in=["Controller", "Domain"], deleted_at=None)
        return [str(each) for each in rows.only("kind", "name").order_by("kind", "name")[:200]]

    @cached_property
    def current(self) -> str:
        """What the spec says now at the field, if it is known which."""
        try:
            row = find(self.on)
            found = override_values.at(row.spec, whole(self.path)) if self.path.strip() else None
        except Problem:
            return ""
        return "" if found is None else event_text.shortly(found)

    def wanted(self) -> holds.HoldRequest:
        """Read what is wanted, as far as the one who wants it sees; the rest is refused."""
        with self.look.eyes():
            return self.read()

    def read(self) -> holds.HoldRequest:
        """Read what was filled in."""
        common: dict[str, Any] = {"reason": self.reason, "in_flight": self.in_flight}
        if self.kind == "freeze":
            return self.freeze(common)
        common |= self.ending()
        if self.kind == "pause":
            found = reach(self.on)
            return holds.HoldRequest("pause", found.scope, **found.names, **common)
        return holds.HoldRequest(
            "override",
            "field" if self.path.strip() else "resource",
            resource=find(self.on).pk,
            path=whole(self.path) if self.path.strip() else "",
            value=as_value(self.form.text("value")),
            **common,
        )

    def freeze(self, common: dict[str, Any]) -> holds.HoldRequest:
        """Read a freeze: of a domain or everything, from now or later, once or again and again."""
        domain = plain(self.on, "The domain").removeprefix("domain/")
        check_seen(domain)
        starts = self.form.text("starts")
        begins = instant(starts) if starts.strip() else None
        window = (
            {**self.window, "timezone": self.window["timezone"] or ZONE} if self.window else {}
        )
        return holds.HoldRequest(
            "freeze",
            "domain" if domain else "organisation",
            domain=domain,
            starts_at=begins,
            window=window,
            **self.ending(begins),
            **common,
        )

    def place(self) -> tuple[str, str]:
        """Place it; return where it is shown and what is said of it."""
        placed = holds.place(self.wanted(), person=self.viewer, now=self.now)
        return page_of(placed.hold), said(placed, self.now)


def said(placed: holds.Placed, now: datetime) -> str:
    """Say what stands now, and what had begun before."""
    (told,) = held([placed.hold], [placed.hold.pk], now)
    return f"{told.title}. {placed.sentence}"


def whole(path: str) -> str:
    """Return a path as the product writes it; a field is one of the spec unless it says so."""
    typed = plain(path, "The field")
    return typed if typed.startswith(("spec.", "status.")) else f"spec.{typed}"


def check_seen(domain: str) -> None:
    """Refuse a domain that the one who looks does not see."""
    scope = visibility.current()
    if domain and scope is not None and domain not in scope.own:
        raise invalid(f"There is no domain/{domain}.")


def reach(reference: str) -> Reach:
    """Return how far a pause of what a reference names reaches."""
    if not reference.strip():
        raise invalid("Say what is to be paused, like controller/agent-performance.")
    kind, _, name = plain(reference, "The name").partition("/")
    if kind == "domain" and name:
        check_seen(name)
        return Reach("domain", domain=name)
    row = find(reference)
    if row.kind == "Controller":
        return Reach("controller", controller=row)
    return Reach("resource", resource=row)


@rights(page(SEEN, at("there", *STOP)))
@require_http_methods(["GET", "HEAD", "POST"])
def place(request: HttpRequest) -> HttpResponse:
    """Show the form, or place what was filled in."""
    form = NewHold(PageRequest.of(request))
    return form.act(form.place) if request.method == "POST" else form.show()
