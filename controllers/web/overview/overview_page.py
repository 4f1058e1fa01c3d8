"""The overview: what needs you, how the organisation drifts, how the machinery runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import ClassVar

from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render

from controllers.access import roles
from controllers.decisions import proposal_groups
from controllers.models import Judgement, Proposal
from controllers.narrative import drift_queries, event_text, proposal_text
from controllers.narrative.drift_queries import Gauge
from controllers.web.base.page import ASKED, Page, Part, part
from controllers.web.base.shell import MOST_COUNTED
from controllers.web.controllers import controller_summary
from controllers.web.overview import figures, tour
from controllers.web.resources import resource_table
from resources.documents.actor import SYSTEM
from resources.tables.models import LedgerEvent, Resource
from resources.templatetags.ui import counted, grouped
from resources.usecases import access
from resources.usecases.access_rules import OWN, page

NEEDS_SHOWN = 3
DOMAINS_SHOWN = 8
LOOPS_SHOWN = 12
NAMES_SAID = 2
NOTE_LENGTH = 120
OFF = ("warn", "danger")
FEED_SHOWN = 12
# So many of the newest entries are looked through for those that matter.
FEED_WINDOW = 5_000
# What happens all the time and says nothing by itself.
USUAL = (
    "admission.allowed",
    "admission.lapsed",
    "admission.redeemed",
    "controller.action-performed",
    "controller.logged",
    "controller.reconciliation-completed",
    "controller.reconciliation-requested",
    "controller.reconciliation-started",
    "person.added",
    "person.signed-in",
    "proposal.begun",
    "proposal.confirmed",
    "proposal.step-done",
    "resource.condition-changed",
    "resource.status-reported",
    "retention.dropped",
    "telemetry.received",
    "token.issued",
    "token.revoked",
    "usage.recorded",
    "workflow.step-progressed",
    "workflow.step-started",
)


@dataclass(frozen=True)
class Need:
    """One proposal that waits for the one who looks."""

    proposal: Proposal
    title: str
    why: str
    # How much of its time is left, in percent, and the colour of that.
    left: float
    tone: str
    # Whether it may be approved from here: little risk, and it can be taken back.
    simple: bool
    # Who proposes it.
    by: str


@dataclass(frozen=True)
class Domain:
    """One domain with its drift over a day, and why it drifts."""

    gauge: Gauge
    trend: Sequence[float]

    @property
    def note(self) -> str:
        """The first reason of a drift; nothing while it is on target."""
        return resource_table.shortened(self.gauge) if self.gauge.tone in OFF else ""


class Overview(Page):
    """The first page."""

    rights = page(OWN)
    template = "overview/page.html"
    section = "overview"
    parts: ClassVar[Mapping[str, Part]] = {
        "headline": part(
            "overview/_headline.html", "proposal", "controller", "resource", "person"
        ),
        "stats": part(
            "overview/_stats.html", "proposal", "controller", "resource", "hold", "person"
        ),
        "needs-you": part("overview/_needs.html", "proposal", "resource", "person"),
        "guide": part("overview/_guide.html", "proposal", "controller", "resource", shared=True),
        "drift": part("overview/_drift.html", "controller", "resource", shared=True),
        "loops": part(
            "overview/_loops.html",
            "controller",
            "resource",
            "hold",
            "retention.dropped",
            shared=True,
        ),
        "feed": part("overview/_feed.html", "*", shared=True),
    }

    def respond(self, status: int = 200) -> HttpResponse:
        """Answer with the page; an organisation without resources begins elsewhere."""
        request = self.look.request
        if request is not None and not access.scope_of(self.viewer).held:
            return render(request, "people/no_role.html", {"person": self.viewer})
        asked = request is not None and ASKED in request.headers
        if not asked and not self.shell.counts.resources:
            return redirect("welcome")
        return super().respond(status)

    @cached_property
    def open(self) -> figures.Open:
        """What waits for anybody."""
        return figures.waiting(self.now)

    @cached_property
    def needs(self) -> list[Need]:
        """What waits for the one who looks, the first to lapse first."""
        rows = proposal_groups.waiting(self.now).select_related("resource", "controller")
        soonest = proposal_groups.unanswered(rows, self.viewer).order_by("expires_at", "pk")
        found = roles.waiting_for(self.viewer, soonest, NEEDS_SHOWN, self.now)
        names = proposal_text.names(each.proposer for each in found)
        return [self.need(each, names[each.proposer]) for each in found]

    def need(self, proposal: Proposal, by: str) -> Need:
        """Describe one proposal."""
        span = (proposal.expires_at - proposal.created_at).total_seconds()
        rest = (proposal.expires_at - self.now).total_seconds()
        left = 100 * max(rest, 0) / span if span > 0 else 0
        return Need(
            proposal,
            proposal_text.title(proposal),
            shortened(proposal_text.why(proposal)),
            left,
            "danger" if left < 10 else "warn" if left < 30 else "ok",
            is_simple(proposal),
            by,
        )

    @property
    def others(self) -> int:
        """How many of what is open wait for other people."""
        return max(self.open.count - self.shell.waiting, 0)

    @property
    def more(self) -> int:
        """How many more wait for the one who looks than are shown."""
        return self.shell.waiting - len(self.needs)

    @cached_property
    def measured(self) -> list[Gauge]:
        """The domains that somebody measures, those furthest off first."""
        return drift_queries.domains()

    @cached_property
    def off_target(self) -> list[Gauge]:
        """The domains that are drifting."""
        return [each for each in self.measured if each.tone in ("warn", "danger")]

    @cached_property
    def agents(self) -> tuple[int, int]:
        """How many agents drift, of how many."""
        total = Resource.objects.filter(kind="Agent", deleted_at=None).count()
        off = Judgement.objects.filter(
            drifted=True,
            resource__kind="Agent",
            resource__deleted_at=None,
            controller__deleted_at=None,
        ).aggregate(count=Count("resource", distinct=True))["count"]
        return off, total

    @property
    def sentence(self) -> str:
        """The status in one or two sentences."""
        return f"{self.decisions} {self.domains_said}".strip()

    @property
    def decisions(self) -> str:
        """How many decisions need the one who looks."""
        waiting = self.shell.waiting
        if not waiting:
            return "Nothing needs you."
        if waiting > MOST_COUNTED:
            return f"More than {MOST_COUNTED} decisions need you."
        return f"{counted(waiting, 'decision')} need{'s' if waiting == 1 else ''} you."

    @property
    def domains_said(self) -> str:
        """Which domains are drifting."""
        if not self.measured:
            return ""
        names = [each.name for each in self.off_target]
        if not names:
            return "Every domain is on target."
        said = names[:NAMES_SAID]
        if len(names) > NAMES_SAID:
            said = [", ".join(said), counted(len(names) - NAMES_SAID, "more domain")]
        told = " and ".join(said)
        return f"{told[:1].upper()}{told[1:]} {'is' if len(names) == 1 else 'are'} drifting."

    @property
    def lede(self) -> str:
        """How many domains and agents drift."""
        off, total = self.agents
        parts = [f"{len(self.off_target)} of {counted(len(self.measured), 'domain')}"]
        parts = parts if self.measured else []
        parts += [f"{grouped(off)} of {counted(total, 'agent')}"] if total else []
        return f"Drifting: {' and '.join(parts)}." if parts else ""

    @cached_property
    def trends(self) -> dict[drift_queries.Pair, list[float]]:
        """How the domains drifted over a day."""
        return figures.trends(self.measured, self.now)

    @cached_property
    def organisation(self) -> figures.OrganisationDrift | None:
        """The mean drift of the domains that are measured."""
        return figures.organisation(self.measured, self.trends)

    @cached_property
    def domains(self) -> list[Domain]:
        """The domains furthest off."""
        return [
            Domain(each, self.trends.get((each.resource, each.controller), []))
            for each in self.measured[:DOMAINS_SHOWN]
        ]

    @cached_property
    def decided(self) -> figures.Tally:
        """What people decided today."""
        return figures.decided(self.now)

    @cached_property
    def carried_out(self) -> figures.Tally:
        """What was carried out today."""
        return figures.carried_out(self.now)

    @property
    def next_end(self) -> datetime | None:
        """When the next hold ends by itself."""
        ends = [each.ends_at for each in self.shell.standing if each.ends_at]
        return min(ends, default=None)

    @cached_property
    def loops(self) -> list[tuple[controller_summary.Loop, list[str]]]:
        """The controllers by name, each with the strip of its last cycles."""
        rows = Resource.objects.filter(kind="Controller", deleted_at=None)
        shown = rows.select_related("runtime").defer("status").order_by("name")[:LOOPS_SHOWN]
        found = controller_summary.loops(list(shown), self.shell.standing)
        return [(each, padded(each.history)) for each in found]

    @cached_property
    def guide(self) -> tour.Guide | None:
        """The guided path of the demo."""
        return tour.path(self.now)

    @cached_property
    def feed(self) -> list[event_text.Happening]:
        """The last entries that matter."""
        newest = LedgerEvent.objects.order_by("-pk").values("pk")[:FEED_WINDOW]
        seeded = Q(event="resource.created", actor=str(SYSTEM))
        matter = LedgerEvent.objects.filter(pk__in=newest).exclude(event__in=USUAL)
        told = matter.exclude(seeded).exclude(event_text.asked())
        return event_text.told(told.order_by("-pk")[:FEED_SHOWN])


def is_simple(proposal: Proposal) -> bool:
    """Tell whether one person can approve it without reading more: small, and it can be undone."""
    small = proposal.risk != "high" and proposal.reversible and proposal.people == 1
    return proposal.state == "pending" and small


def shortened(text: str) -> str:
    """Return the first clause of a text, cut where it is too long."""
    first = text.split(";")[0].strip().rstrip(".")
    return first if len(first) <= NOTE_LENGTH else f"{first[: NOTE_LENGTH - 1].rstrip()}…"


def padded(history: Sequence[str]) -> list[str]:
    """Fill a strip up, so that one bar is as wide for a young controller as for an old one."""
    return ["none"] * (controller_summary.STRIP - len(history)) + list(history)
