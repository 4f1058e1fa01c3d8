"""Pause everything or a part of it, and let it go again after a look at what would happen."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from controllers.decisions import holds
from controllers.engine.precedence import Standing
from controllers.web.base.form import WebForm
from controllers.web.base.page import PageRequest
from controllers.web.holds.hold_forms import (
    LENGTHS,
    OPEN,
    USUAL,
    HoldFormPage,
    PauseForm,
    page_of,
)
from controllers.web.holds.hold_page import preview
from controllers.web.holds.hold_placement import EVERYTHING, Reach, reach, said
from controllers.web.holds.hold_text import Held, held, rows
from resources.documents.problems import Problem, refused
from resources.usecases.access_rules import SEEN, STOP, at, page, rights

NAMED = ("controller", "domain", "resource")


class SwitchFormPage(HoldFormPage):
    """A form about everything, or about the one thing that the address names."""

    @property
    def on(self) -> str:
        """What it is about, as a reference; nothing is everything."""
        for name in ("on", *NAMED):
            if given := self.typed(name).strip():
                whole = name in ("on", "resource") or given.startswith(f"{name}/")
                return given if whole else f"{name}/{given}"
        return ""

    @property
    def name(self) -> str:
        """What it is about, in words."""
        return self.on.partition("/")[2] or self.on or "everything"

    @cached_property
    def reach(self) -> Reach:
        """How far it reaches; what is not there reaches nowhere."""
        with self.look.eyes():
            return reach(self.on) if self.on else EVERYTHING

    @cached_property
    def unknown(self) -> str:
        """Why the address names nothing, if it does not."""
        try:
            if self.on:
                self.reach  # noqa: B018
        except Problem as problem:
            return problem.message
        return ""


class PauseFormPage(SwitchFormPage):
    """Why something is to be paused, how long, and what becomes of work that has begun."""

    template = "holds/pause.html"
    fragment = "holds/_pause.html"
    form_class = PauseForm

    def prepare(self, form: WebForm) -> None:
        """Let everything be paused until somebody resumes it."""
        if not self.on:
            form.offer("lasts", lambda: [(OPEN, "Until somebody resumes"), *LENGTHS])

    def suggested(self) -> dict[str, Any]:
        """Suggest how long."""
        return {"lasts": self.usual, **super().suggested()}

    @property
    def usual(self) -> str:
        """How long it lasts unless somebody chooses otherwise."""
        return USUAL if self.on else OPEN

    @property
    def may(self) -> bool:
        """Whether the one who looks may pause it."""
        return not self.unknown and self.viewer_rights.stop(self.reach.place)

    def pause(self) -> tuple[str, str]:
        """Pause it; return where the pause is shown and what is said of it."""
        wanted = holds.HoldRequest(
            "pause" if self.on else "stop",
            self.reach.scope,
            self.reason,
            in_flight=self.in_flight,
            **self.ending(),
            **self.reach.names,
        )
        placed = holds.place(wanted, person=self.viewer, now=self.now)
        return page_of(placed.hold), said(placed, self.now)


class ResumeFormPage(SwitchFormPage):
    """What would happen if somebody let it go again, and the reason to."""

    template = "holds/resume.html"
    fragment = "holds/_resume.html"

    @cached_property
    def standing(self) -> list[Held]:
        """The pauses that stand on it."""
        if self.unknown:
            return []
        with self.look.eyes():
            keys = [each.key for each in holds.standing(self.now) if self.pauses(each)]
            return held(list(rows().filter(pk__in=keys).order_by("pk")), keys, self.now)

    def pauses(self, each: Standing) -> bool:
        """Tell whether a hold is the pause that the form is about."""
        if not self.on:
            return each.kind == "stop"
        named = {"domain": each.domain, "controller": each.controller, "resource": each.resource}
        return (each.kind, each.scope, named) == ("pause", self.reach.scope, self.reach.names)

    @cached_property
    def previews(self) -> list[dict[str, Any]]:
        """What lifting each would bring about."""
        return [preview(each.hold, self.now) for each in self.standing]

    @property
    def runs(self) -> int:
        """How many approved proposals would run."""
        return sum(int(each["runs"]) for each in self.previews)

    @property
    def may(self) -> bool:
        """Whether the one who looks may let it go again."""
        return all(self.viewer_rights.lift(each.domain) for each in self.standing)

    def resume(self) -> tuple[str, str]:
        """Lift the pauses that were shown; one placed since then stands."""
        request = self.look.request
        shown = request.POST.getlist("hold") if request else []
        known = {str(each.hold.pk): each.hold.pk for each in self.standing}
        wanted = [known[each] for each in shown if each in known]
        if not wanted:
            raise refused("It is not paused any more, or by somebody else. Look again.")
        for key in wanted:
            holds.lift(key, person=self.viewer, now=self.now, reason=self.reason)
        what = self.name if self.on else "Everything"
        return reverse("overrides"), f"{what} goes on. Controllers propose first, then act again."


@rights(page(SEEN, at("organisation", *STOP)))
@require_http_methods(["GET", "HEAD", "POST"])
def pause(request: HttpRequest) -> HttpResponse:
    """Ask why and how long, or pause."""
    form = PauseFormPage(PageRequest.of(request))
    return form.act(form.pause) if request.method == "POST" else form.show()


# Each pause that it lifts asks for the role where it stands.
@rights(page(SEEN, SEEN))
@require_http_methods(["GET", "HEAD", "POST"])
def resume(request: HttpRequest) -> HttpResponse:
    """Show what would happen, or let it go again."""
    form = ResumeFormPage(PageRequest.of(request))
    return form.act(form.resume) if request.method == "POST" else form.show()
