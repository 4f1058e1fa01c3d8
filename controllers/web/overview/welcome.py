"""How to begin: load the example, bring documents, connect an agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from controllers.access import people
from controllers.models import Cycle, Decision
from controllers.web.base.page import Page, PageRequest, Part, part
from controllers.web.overview import document_upload, tour
from controllers.worker import example_organisation
from controllers.workqueue import compiled_controllers
from resources.documents.problems import (
    BUSY,
    INVALID,
    SORTS,
    Problem,
    conflict,
    forbidden,
    invalid,
)
from resources.store import store
from resources.tables.visibility import ORGANISATION
from resources.templatetags.ui import counted
from resources.usecases import access
from resources.usecases.access_rules import OPERATE, at, page, rights

ONLY_OPERATORS = "Only operators and administrators may add resources. Ask one of them."
CHANGED = "The text is another one than you looked at. This is what it would change."
MEGABYTE = 1024 * 1024
# What is named of the example; the rest is summed up.
NAMED = ("domains", "agents", "budgets", "workflows", "controllers")


@dataclass(frozen=True)
class Stage:
    """One step until the first decision."""

    text: str
    done: bool
    hint: str = ""


def may_add(person: User, domain: str | None = None) -> bool:
    """Tell whether somebody may declare resources in a domain, or anywhere."""
    return access.may_edit(person, "add", domain)


class Welcome(Page):
    """The page that says how to begin."""

    rights = page()
    template = "overview/welcome.html"
    section = "overview"
    parts: ClassVar[Mapping[str, Part]] = {
        "welcome-head": part("overview/_welcome_head.html", "resource", shared=True),
        "guide": part("overview/_guide.html", "proposal", "controller", "resource", shared=True),
        "starts": part("overview/_starts.html", "resource", "person"),
        "stages": part("overview/_stages.html", "resource", "controller", "proposal", "person"),
    }

    @cached_property
    def may_add(self) -> bool:
        """Whether the one who looks may add resources."""
        return may_add(self.viewer)

    @cached_property
    def may_load(self) -> bool:
        """Whether the example can still be loaded."""
        return example_organisation.may_load()

    @property
    def contents(self) -> str:
        """What the example holds, in words."""
        found = example_organisation.contents()
        counts = [f"{found[name]} {name}" for name in NAMED if found.get(name)]
        return f"{', '.join(counts)} and more, {sum(found.values())} resources in all"

    @property
    def base(self) -> str:
        """Where this product is."""
        request = self.look.request
        return request.build_absolute_uri("/").rstrip("/") if request else ""

    @cached_property
    def guide(self) -> tour.Guide | None:
        """The guided path of the demo."""
        return tour.path(self.now)

    @cached_property
    def stages(self) -> list[Stage]:
        """What is to be done until the first decision."""
        asking = any(each.mode in ("warn", "enforce") for each in compiled_controllers.every())
        name = self.viewer.get_full_name() or self.viewer.get_username()
        return [
            Stage(f"You are signed in as {name}", True),
            Stage("Add resources", self.shell.counts.resources > 0, "this page"),
            Stage(
                "Watch the first cycle run",
                Cycle.objects.filter(finished_at__isnull=False).exists(),
                "starts with the first controller",
            ),
            Stage("Let one controller warn or enforce", asking, "on its page"),
            Stage(
                "Decide on your first proposal",
                Decision.objects.filter(person__isnull=False).exists(),
                "under Approvals",
            ),
        ]

    @property
    def reached(self) -> int:
        """How many of these are done."""
        return sum(each.done for each in self.stages)


class Bring(Page):
    """The page for documents: first what they would change, then the change."""

    template = "overview/apply.html"
    section = "overview"

    sources: list[document_upload.Source] = []
    answer: document_upload.UploadOutcome | None = None
    problem = ""

    @property
    def digest(self) -> str:
        """What was looked at."""
        return document_upload.digest(self.sources)

    @property
    def most(self) -> str:
        """How much is read here."""
        return f"{document_upload.MOST_BYTES // MEGABYTE} MB"

    @property
    def may_add(self) -> bool:
        """Whether the one who looks may add resources."""
        return may_add(self.viewer)

    def refuse(self, problem: Problem) -> HttpResponse:
        """Show the form again with a sentence, and everything that was brought."""
        self.problem = problem.message
        return self.respond(problem.status)


@rights(page(None, at("organisation", *OPERATE)))
@require_POST
def load_example(request: HttpRequest) -> HttpResponse:
    """Load the example organisation."""
    page = Welcome(PageRequest.of(request))
    if not may_add(page.viewer, ORGANISATION):
        messages.error(request, ONLY_OPERATORS, extra_tags="danger")
        return page.respond(403)
    try:
        loaded = example_organisation.load(page.now, by=people.actor_for(page.viewer))
    except Problem as problem:
        messages.error(request, problem.message, extra_tags="danger")
        return page.respond(problem.status)
    said = f"Loaded {counted(loaded, 'resource')}." if loaded else "The example is already there."
    messages.success(request, f"{said} Controllers take their first look now.")
    return HttpResponseRedirect(reverse("start"), status=303)


@rights(page(at("anywhere", *OPERATE), at("anywhere", *OPERATE)))
@require_http_methods(["GET", "HEAD", "POST"])
def apply(request: HttpRequest) -> HttpResponse:
    """Show what documents would change; make it so once that was seen."""
    page = Bring(PageRequest.of(request))
    if not page.may_add:
        return page.refuse(forbidden(ONLY_OPERATORS))
    if request.method != "POST":
        return page.respond()
    try:
        page.sources = document_upload.brought(request)
    except Problem as problem:
        return page.refuse(problem)
    if not page.sources:
        return page.refuse(invalid("Choose files or paste a document first."))
    seen = request.POST.get("seen", "") == page.digest
    return bring(page, request, sure=request.POST.get("step") == "apply", seen=seen)


def bring(page: Bring, request: HttpRequest, *, sure: bool, seen: bool) -> HttpResponse:
    """Look at what was brought, or apply it if it is what was looked at."""
    try:
        page.answer = document_upload.apply(
            page.sources,
            actor=people.actor_for(page.viewer),
            now=timezone.now(),
            scope=access.scope_of(page.viewer),
            dry_run=not (sure and seen),
        )
    except store.Stale as error:
        return page.refuse(Problem(BUSY, str(error)))
    if page.answer.written:
        messages.success(request, f"Applied: {page.answer.words}.")
        return HttpResponseRedirect(reverse("resources"), status=303)
    if sure and not seen:
        return page.refuse(conflict(CHANGED))
    return page.respond(SORTS[INVALID].status if page.answer.errors else 200)
