"""One resource: what should be, what is, how far off it is, and what people say about it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.urls import reverse

from controllers.models import Judgement
from controllers.narrative import drift_queries, event_text
from controllers.narrative.drift_queries import Gauge
from controllers.narrative.event_text import Happening
from controllers.web.base.page import AROUND, Page, PageRequest, Part, part
from controllers.web.manage import tokens as token_page
from controllers.web.resources import (
    resource_facts,
    resource_parts,
    resource_runs,
    spec_and_status,
    time_travel,
)
from controllers.web.resources.resource_drift import SPANS, History
from controllers.web.resources.resource_drills import Drills
from controllers.web.resources.resource_holds import People
from controllers.web.resources.resource_story import PAGE, ProposalSummary, Story
from controllers.web.resources.spec_and_status import VIEWS, Sides
from resources.documents import kinds
from resources.documents.kind import Kind
from resources.documents.yaml_text import write_yaml
from resources.store import snapshots
from resources.tables.models import Resource
from resources.usecases import access
from resources.usecases.access_rules import page
from resources.web import changes, detail, relations

TABS: Mapping[str, str] = {
    "overview": "Overview",
    "spec": "Spec and status",
    "conditions": "Conditions",
    "proposals": "Proposals",
    "relations": "Relations",
    "audit": "Audit",
}
RECENT = 8
# As many open proposals as the first tab shows.
NEAREST = 3
CHANGES = 20


class Choice(NamedTuple):
    """One of several ways to look at it."""

    name: str
    url: str
    current: bool
    number: int = 0


class ResourcePage(Page):
    """One resource as somebody sees it."""

    rights = page()
    template = "resources/page.html"
    section = "resources"

    def __init__(self, look: PageRequest, kind: str, name: str) -> None:
        super().__init__(look)
        found = kinds.by_path(kind)
        if found is None or "\x00" in name:
            raise Http404
        self.kind: Kind = found
        self.name = name

    def respond(self, status: int = 200) -> HttpResponse:
        """Answer with the resource as it is, or with `?at=` as it was."""
        if self.past:
            return time_travel.PastPage(self.look, self.kind, self.name).respond()
        return super().respond(status)

    @property
    def past(self) -> bool:
        """Whether it is asked for as it was."""
        return any(name in self.look.query for name in ("at", "utc"))

    def pieces(self) -> Mapping[str, Part]:
        """Return the parts of the chosen tab, about this resource."""
        if self.past:
            return AROUND
        about = f"{self.kind.path}/{self.name}"
        parts = {
            "title": part("resources/_title.html", about, "controller", shared=True),
            "actions": part("resources/_actions.html", about, "controller", "person"),
            "holds": part("resources/_holds.html", "hold", "person"),
            "views": part("resources/_views.html", about, shared=True),
        }
        return {**AROUND, **parts, **resource_parts.of(self.kind.name, self.tab, about)}

    @cached_property
    def row(self) -> Resource:
        """The resource, which is not found when it is not there."""
        rows = Resource.objects.filter(kind=self.kind.name, name=self.name, deleted_at=None)
        person = self.look.person
        found = (access.visible(rows, person) if person else rows).first()
        if found is None:
            raise Http404
        return found

    @cached_property
    def document(self) -> dict[str, Any]:
        """The whole document."""
        return snapshots.document_of(self.row, snapshots.conditions_of([self.row])[self.row.pk])

    @cached_property
    def told(self) -> dict[str, Any]:
        """What is shown of the document."""
        return detail.described(self.kind, self.document)

    @cached_property
    def judgements(self) -> list[Judgement]:
        """What the controllers that watch it concluded."""
        rows = Judgement.objects.filter(resource=self.row.pk, controller__deleted_at=None)
        return list(rows.select_related("controller").order_by("controller__name"))

    @cached_property
    def gauge(self) -> Gauge | None:
        """How far off it is."""
        return drift_queries.of([self.row.pk]).get(self.row.pk)

    @cached_property
    def history(self) -> History | None:
        """How far off it was."""
        asked = self.look.query.get("span", "")
        return History(self.gauge, asked, self.now) if self.gauge else None

    @cached_property
    def people(self) -> People:
        """What people hold, and what the one who looks may do."""
        return People(self.row, self.shell.standing, self.look.person, self.now)

    @property
    def tokens(self) -> str:
        """Where its tokens are, for those who may read about them."""
        return token_page.link_for(self.look, self.row)

    @property
    def runnable(self) -> list[str]:
        """The controllers that the one who looks may let check it."""
        return self.people.runnable(self.judgements)

    @cached_property
    def waiting(self) -> list[ProposalSummary]:
        """The first open proposals, with whether the one who looks may decide them."""
        found = self.story.open[:NEAREST]
        mine = self.story.decidable(self.viewer, self.now) if found else set()
        return [ProposalSummary(each, self.now, each.pk in mine) for each in found]

    @property
    def listed(self) -> list[ProposalSummary]:
        """One page of all proposals."""
        return [ProposalSummary(each, self.now) for each in self.story.page[:PAGE]]

    @property
    def entries(self) -> list[Happening]:
        """One page of the ledger."""
        return event_text.told(self.story.entries[:PAGE])

    @property
    def older(self) -> str:
        """The address of the page with what is older, if there is one."""
        rows = self.story.page if self.tab == "proposals" else self.story.entries
        return self.link(before=str(rows[PAGE - 1].pk)) if len(rows) > PAGE else ""

    @cached_property
    def story(self) -> Story:
        """What was proposed, and what happened."""
        return Story(self.row, self.look.query)

    @cached_property
    def facts(self) -> list[resource_facts.Fact]:
        """What to know at a glance."""
        return resource_facts.of(self.kind.name, self.told["spec"], self.told["status"])

    @cached_property
    def drills(self) -> Drills:
        """Its drills, if it is a Governance."""
        return Drills(self.row, self.viewer, self.now)

    @cached_property
    def runs(self) -> list[resource_runs.ToldRun]:
        """Its last runs, if it is a workflow."""
        return resource_runs.of(self.row)

    @cached_property
    def relations(self) -> relations.Relations:
        """What it names and what names it."""
        return relations.of(self.row)

    @cached_property
    def changes(self) -> list[changes.RevisionSummary]:
        """How its declaration changed."""
        return changes.recent(self.row, limit=CHANGES)

    @cached_property
    def recent(self) -> list[Happening]:
        """What happened lately."""
        return event_text.told(self.story.events(limit=RECENT, quiet=True))

    @property
    def travel(self) -> time_travel.Travel:
        """Where its past is."""
        return time_travel.Travel(self.row, None, self.now)

    @property
    def tab(self) -> str:
        """Which tab is open."""
        asked = self.look.query.get("tab", "")
        return asked if asked in TABS else "overview"

    @property
    def tabs(self) -> list[Choice]:
        """All tabs."""
        counts = {
            "conditions": len(self.told["conditions"]),
            "proposals": self.story.open_count,
        }
        return [
            Choice(word, self.link(tab=name), name == self.tab, counts.get(name, 0))
            for name, word in TABS.items()
        ]

    @property
    def spans(self) -> list[Choice]:
        """How far to look back."""
        chosen = self.history.name if self.history else ""
        return [
            Choice(each.word, self.link(span=name), name == chosen) for name, each in SPANS.items()
        ]

    @property
    def view(self) -> str:
        """How desired and actual are shown."""
        asked = self.look.query.get("view", "")
        return asked if asked in VIEWS else "changed" if self.tab == "overview" else "all"

    @property
    def viewings(self) -> list[Choice]:
        """How desired and actual can be shown."""
        return [
            Choice(word, self.link(view=name), name == self.view) for name, word in VIEWS.items()
        ]

    @cached_property
    def sides(self) -> Sides:
        """What should be and what is."""
        evidence = [each for judged in self.judgements for each in judged.evidence]
        if self.view == "changed":
            return spec_and_status.changed(evidence, self.people.fields)
        told = self.told
        return spec_and_status.everything(
            told["spec"], told["status"], evidence, self.people.fields
        )

    @property
    def text(self) -> str:
        """The whole document as text."""
        return write_yaml(self.document)

    @property
    def reported_at(self) -> datetime | None:
        """When it was last heard from."""
        return self.row.reported_at

    def link(self, **chosen: str) -> str:
        """Return the address of another look at it; what else was chosen stays."""
        query = self.look.query
        known = {name: query.get(name, "") for name in ("tab", "span", "view")} | chosen
        said = urlencode({name: value for name, value in known.items() if value})
        return reverse("resource", args=[self.kind.path, self.name]) + (f"?{said}" if said else "")
