"""The drills of a Governance: when one is due, what the last ones found, and a button."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from controllers.access import roles
from controllers.models import Drill
from controllers.narrative import proposal_text
from controllers.narrative.proposal_text import Word
from controllers.web.base.page import PageRequest
from controllers.web.controllers.controller_summary import may
from controllers.worker import drills
from resources.tables.models import Resource
from resources.usecases.access_rules import OPERATE, at, page, rights

LATEST = 5
STOPPED = "The pause stopped an effect of the canary. Lifted, it stopped nothing more."
STATES: Mapping[str, Word] = {
    "asked": Word("Waits for the loop", "", "clock"),
    "running": Word("Under way", "accent", "play"),
    "passed": Word("Passed", "ok", "circle-check"),
    "failed": Word("Failed", "danger", "circle-alert"),
}


@dataclass(frozen=True)
class ToldDrill:
    """One drill in words."""

    drill: Drill
    by: str

    @property
    def state(self) -> Word:
        """How it stands, or ended."""
        return STATES[self.drill.state]

    @property
    def found(self) -> str:
        """What it found, in one sentence; its story has the rest."""
        passed = self.drill.state == Drill.State.PASSED
        return STOPPED if passed else self.drill.problem

    @property
    def trace(self) -> str:
        """Where its whole story is."""
        return reverse("trace", args=[self.drill.uid])


class Drills:
    """What the page of a Governance says of its drills."""

    def __init__(self, row: Resource, viewer: User, now: datetime) -> None:
        self.row, self.viewer, self.now = row, viewer, now

    @cached_property
    def latest(self) -> list[ToldDrill]:
        """The last ones, newest first."""
        rows = list(Drill.objects.filter(governance=self.row).order_by("-pk")[:LATEST])
        who = proposal_text.names(each.author for each in rows)
        return [ToldDrill(each, who[each.author]) for each in rows]

    @property
    def open(self) -> bool:
        """Whether one is asked for or under way."""
        return any(each.drill.state in Drill.OPEN for each in self.latest)

    @cached_property
    def next_at(self) -> datetime | None:
        """When the next one is due; nothing where none is declared."""
        return drills.next_at(self.row)

    @property
    def every(self) -> str:
        """How often they are declared."""
        rule = self.row.spec.get("humanOverride")
        return str(rule.get("drillEvery", "")) if isinstance(rule, dict) else ""

    @cached_property
    def may_ask(self) -> bool:
        """Whether the one who looks may ask for one."""
        return may(roles.check_operate, self.viewer, drills.domain_of(self.row), self.now)


@rights(page(None, at("organisation", *OPERATE)))
@require_POST
def ask(request: HttpRequest, name: str) -> HttpResponse:
    """Ask for a drill, and go back to the Governance."""
    look = PageRequest.of(request)
    drills.ask(name, person=look.person, now=look.now)
    messages.success(request, "Asked for a drill. The loop runs it within seconds.")
    return HttpResponseRedirect(reverse("resource", args=["governance", name]), status=303)
