"""Approvals: the queue on the left, one proposal to read and decide on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from django.db.models import F
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers

from controllers.decisions import proposal_groups
from controllers.decisions.answers import ProposalAnswer
from controllers.models import Proposal, WorkItem
from controllers.web.approvals.deciders_view import Voter
from controllers.web.approvals.decision_panel import TOGETHER, Desk
from controllers.web.approvals.proposal_view import Reading, find
from controllers.web.approvals.queue_filters import STATES, FilterMenu, Filters, Option, picks
from controllers.web.approvals.queue_groups import Queue
from controllers.web.base.page import ASKED, Page, PageRequest, Part, part
from resources.usecases.access_rules import page

PANE = "pane"
ABOUT = ("proposal", "hold", "person")
# What says who has to approve: groups, and the policies that name them.
NEEDS = ("group", "resource.created", "resource.spec-changed", "resource.deleted")


class Approvals(Page):
    """The queue and one proposal of it; which one is in the address, so that it stays."""

    rights = page()
    template = "approvals/page.html"
    section = "approvals"
    parts = {
        # Outside of the list, which a small screen does not show beside a proposal.
        "queue-title": part("approvals/_title.html", *ABOUT),
        "filters": part("approvals/_filters.html", *ABOUT),
        # An empty queue names the next look, which every cycle moves.
        "queue": part("approvals/_queue.html", *ABOUT, "controller.reconciliation-completed"),
        "reading": part("approvals/_reading.html", *ABOUT, *NEEDS, "controller", "resource"),
        "decision": part("approvals/_decision.html", *ABOUT, *NEEDS),
    }

    def __init__(self, look: PageRequest) -> None:
        super().__init__(look)
        self.filters = Filters.read(look.query)

    def pieces(self) -> Mapping[str, Part]:
        """Narrow the pane to the proposal that is read."""
        named = super().pieces()
        if self.reading is None:
            return {name: each for name, each in named.items() if name not in OF_PANE}
        about = topics(self.reading.proposal)
        narrowed = {name: named[name]._replace(topics=about) for name in OF_PANE}
        return {**named, **narrowed}

    @cached_property
    def queue(self) -> Queue:
        """What waits, in groups."""
        return Queue(self.filters, self.viewer, self.now)

    @cached_property
    def reading(self) -> Reading | None:
        """The proposal that is read."""
        found = find(self.filters.at)
        return Reading(found, self.now) if found else None

    @cached_property
    def desk(self) -> Desk:
        """What the one who looks may say about it."""
        if self.reading is None:
            raise RuntimeError("Nothing is read.")
        return Desk(self.reading, self.viewer, place=PANE, back=self.filters.query)

    @property
    def at_query(self) -> str:
        """The filters before the number of a proposal, in an address."""
        return f"{self.filters.query}&" if self.filters.query else ""

    @property
    def export(self) -> str:
        """Where the same proposals are a file."""
        query = replace(self.filters, group="", after="").query
        return reverse("approvals-csv") + (f"?{query}" if query else "")

    @property
    def list_url(self) -> str:
        """Where a small screen shows the list again."""
        return f"{self.look.path}?{replace(self.filters, list=True).written()}"

    @property
    def chosen(self) -> bool:
        """Whether somebody chose this one; a small screen then shows it instead of the list."""
        return not self.filters.list

    @cached_property
    def open_count(self) -> int:
        """How many wait, whoever may decide them."""
        return proposal_groups.waiting(self.now).count()

    @property
    def states(self) -> Sequence[Option]:
        """Open, decided, or all."""
        count = {"open": f" {self.open_count:,}"}
        return [
            Option(
                f"{text}{count.get(name, '')}",
                self.filters.url(state=name, mine=False),
                name == self.filters.state and not self.filters.mine,
            )
            for name, text in STATES.items()
        ]

    @property
    def together(self) -> Sequence[ProposalAnswer]:
        """What may be said about all that is selected."""
        return TOGETHER

    @property
    def mine(self) -> Option:
        """Only what waits for the one who looks."""
        url = self.filters.url(state="open", mine=not self.filters.mine)
        return Option(f"Mine {self.shell.badge or 0}", url, self.filters.mine)

    @cached_property
    def picks(self) -> Sequence[FilterMenu]:
        """The other filters."""
        return picks(self.filters, self.now)

    @cached_property
    def next_look(self) -> WorkItem | None:
        """The controller that looks next, for when nothing waits."""
        whole = WorkItem.objects.filter(resource=F("controller"), parked_at=None)
        due = whole.filter(controller__deleted_at=None, run_at__gt=self.now)
        return due.select_related("controller").order_by("run_at").first()

    @cached_property
    def voters(self) -> Sequence[Voter]:
        """Who decided, or may."""
        return self.reading.voters(self.viewer) if self.reading else []

    def respond(self, status: int = 200) -> HttpResponse:
        """Answer with the page, one proposal for the pane, or the address of the first one."""
        request = self.look.request
        headers = request.headers if request else {}
        if request is None or ASKED in headers:
            return super().respond(status)
        if headers.get("HX-Target") == PANE:
            response = render(request, "approvals/_pane.html", self.context())
            patch_vary_headers(response, ["HX-Request", "HX-Target"])
            response.headers["Cache-Control"] = "no-store"
            return response
        if self.reading is None and self.queue.first is not None:
            found = replace(self.filters, at=self.queue.first, list=True)
            return HttpResponseRedirect(f"{self.look.path}?{found.written()}")
        return super().respond(status)


OF_PANE = ("reading", "decision")


def topics(proposal: Proposal) -> frozenset[str]:
    """Return everything that changes what is shown of a proposal."""
    found = {proposal.stream, str(proposal), str(proposal.resource), "hold", "person", *NEEDS}
    return frozenset(found | ({str(proposal.controller)} if proposal.controller else set()))
