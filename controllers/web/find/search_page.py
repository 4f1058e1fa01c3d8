"""Find things and ways: search, the keys, and what a phone's bar has no room for."""

from __future__ import annotations

from functools import cached_property
from itertools import zip_longest
from typing import ClassVar, NamedTuple

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers

from controllers.access import roles
from controllers.decisions import answers
from controllers.web.base.page import ASKED, RUNG, Page, part
from controllers.web.find import search
from controllers.web.find.search import Hit, HitGroup
from resources.documents.problems import Problem
from resources.usecases.access_rules import OWN, page

# What an empty search offers besides the places.
RECENT = 5


class Places(Page):
    """A page that knows where one can go."""

    @cached_property
    def places(self) -> list[Hit]:
        """The sections, and what can be done from anywhere."""
        return [
            Hit("Overview", reverse("start"), "layout-dashboard", words="home start"),
            Hit("Approvals", reverse("approvals"), "inbox", words="queue proposals decide"),
            Hit("Resources", reverse("resources"), "boxes", words="agents domains budgets"),
            Hit("Controllers", reverse("controllers"), "refresh-cw", words="loops modes"),
            *self.rest,
            Hit("Shortcuts", reverse("shortcuts"), "keyboard", words="keys help", act="dialog"),
            *self.deeds,
        ]

    @cached_property
    def rest(self) -> list[Hit]:
        """The places that a phone's bar has no room for."""
        return [
            Hit("Overrides", reverse("overrides"), "hand", words="holds pauses freezes"),
            Hit("Economics", reverse("economics"), "wallet", words="budgets money tokens costs"),
            Hit("Audit log", reverse("audit"), "scroll-text", words="history ledger trace"),
            Hit("People", reverse("people"), "users", words="roles grants invite"),
            *self.management,
            Hit("Policies", reverse("policies"), "scale", words="modes rules decisions approval"),
            Hit("Inbox", reverse("inbox"), "megaphone", words="messages alerts"),
            Hit("Profile", reverse("profile"), "users", words="roles deputies theme settings me"),
            Hit("API docs", reverse("api-docs"), "book-open", words="rest openapi"),
            *self.administration,
        ]

    @property
    def management(self) -> list[Hit]:
        """What is managed, for those who look after it."""
        words = "tokens channels machines webhooks"
        return [Hit("Manage", reverse("manage"), "key-round", words=words)] * self.shell.manages

    @property
    def administration(self) -> list[Hit]:
        """The admin site, for those it lets in."""
        admin = Hit("Admin", reverse("admin:index"), "settings", words="tokens channels")
        return [admin] if self.viewer.is_staff else []

    @property
    def deeds(self) -> list[Hit]:
        """What somebody may do from anywhere."""
        resume = Hit("Resume", reverse("resume"), "play", words="start all", act="dialog")
        if self.shell.power.stop:
            return [resume]
        pause = Hit("Pause all", reverse("pause"), "circle-pause", words="stop", act="dialog")
        hold = Hit("Override a value", reverse("hold-new"), "hand", words="hold", act="dialog")
        return [pause, hold] if self.may_stop else []

    @property
    def may_stop(self) -> bool:
        """Whether somebody may stop the organisation."""
        try:
            roles.check_stop(self.viewer, "", self.now)
        except Problem:
            return False
        return True


class Window(Page):
    """A page that is shown in a dialog too: then it is its fragment alone."""

    fragment: ClassVar[str]

    def respond(self, status: int = 200) -> HttpResponse:
        """Answer with the page, or with its fragment."""
        request = self.look.request
        if request is None or ASKED in request.headers or "HX-Request" not in request.headers:
            return super().respond(status)
        response = render(request, self.piece, self.context(), status=status)
        patch_vary_headers(response, [ASKED, "HX-Request", "HX-Target"])
        response.headers["Cache-Control"] = "no-store"
        return response

    @property
    def piece(self) -> str:
        """The template of the fragment that was asked for."""
        return self.fragment


class Search(Window, Places):
    """What somebody looks for."""

    rights = page()
    template = "finding/search.html"
    fragment = "finding/_search.html"
    parts = {"found": part("finding/_found.html", "resource", "proposal", "person", "hold")}

    @cached_property
    def query(self) -> str:
        """What was typed."""
        return search.cleaned(self.look.query.get("q", ""))

    @property
    def piece(self) -> str:
        """While somebody types, only what is found changes."""
        request = self.look.request
        target = request.headers.get("HX-Target") if request else ""
        pieces = {"found": "finding/_found.html", "options": "finding/_options.html"}
        return pieces.get(target or "", self.fragment)

    @cached_property
    def groups(self) -> list[HitGroup]:
        """What is found; without a question, where one can go and what was lately."""
        if self.query:
            return search.search(self.query, self.places, self.now)
        lately = [search.proposal_hit(row, self.now) for row in search.latest(RECENT)]
        return [HitGroup("Go to", self.places), *([HitGroup("Lately", lately)] if lately else [])]

    @cached_property
    def count(self) -> int:
        """How many hits there are."""
        return sum(len(group.hits) for group in self.groups)


class Key(NamedTuple):
    """What a key does."""

    deed: str
    keys: tuple[str, ...]


class Shortcuts(Window):
    """The keys."""

    rights = page(OWN)
    template = "finding/shortcuts.html"
    fragment = "finding/_shortcuts.html"
    # What is done with a proposal, and beside it where one goes.
    deeds = (
        Key("Next, previous", ("j", "k")),
        *(
            Key(each.button.format(controller="the controller"), (each.key,))
            for each in answers.ALL
            if each.key
        ),
        Key("Select", ("x",)),
        Key("Approve selected", ("⇧a",)),
        Key("Undo", ("u",)),
        Key("Open the full page", ("enter",)),
        Key("Close, clear, go back", ("esc",)),
    )
    ways = (
        Key("Go to overview", ("g", "o")),
        Key("Go to approvals", ("g", "a")),
        Key("Go to resources", ("g", "r")),
        Key("Go to controllers", ("g", "c")),
        Key("Go to overrides", ("g", "v")),
        Key("Go to the audit log", ("g", "l")),
        Key("Search", ("/",)),
        Key("Show the newest", (".",)),
        Key("Pause everything", ("⇧p",)),
        Key("Send what you write", ("ctrl", "enter")),
        Key("Show these keys", ("?",)),
    )
    keys = tuple(each for pair in zip_longest(deeds, ways) for each in pair if each is not None)


class More(Places):
    """What a phone's bar has no room for."""

    rights = page(OWN)
    template = "finding/more.html"
    section = "more"
    parts = {"more": part("finding/_more.html", "proposal", "hold", "controller", "person", *RUNG)}
