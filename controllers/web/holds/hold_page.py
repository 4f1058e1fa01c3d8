"""One hold: its story, what had begun before it, what it keeps from happening, and its end."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from controllers.decisions import holds
from controllers.models import Hold, Proposal, Shadow, Step
from controllers.narrative import event_text, proposal_text
from controllers.narrative.event_text import Happening
from controllers.web.base.form import WebForm
from controllers.web.base.page import Page, PageRequest, Part, part
from controllers.web.holds.hold_forms import HoldFormPage, LiftForm, RenewForm, page_of
from controllers.web.holds.hold_placement import place
from controllers.web.holds.hold_text import NONE, Held, Rights, held, rows
from resources.documents.problems import invalid
from resources.tables.models import LedgerEvent
from resources.usecases.access_rules import LIFT, SEEN, STOP, at, page, rights

__all__ = ["HoldPage", "lift", "place", "renew"]

SHADOWS = 50
STORY = 100
LISTED = 50
LARGEST = 2**31


def found(key: int) -> Hold:
    """Return a hold, or answer 404."""
    row = rows().select_related("proposal").filter(pk=key).first() if key < LARGEST else None
    if row is None:
        raise Http404(f"There is no hold {key}.")
    return row


def told(row: Hold, page: Page) -> Held:
    """Tell a hold to the one who looks, if somebody does."""
    person = page.look.person
    rights = Rights.of(person, page.now) if person else NONE
    (only,) = held([row], [each.key for each in page.shell.standing], page.now, rights)
    return only


class HoldPage(Page):
    """One hold as it stands."""

    rights = page()
    template = "holds/page.html"
    section = "overrides"

    def __init__(self, look: PageRequest, key: int) -> None:
        super().__init__(look)
        self.key = key

    def pieces(self) -> Mapping[str, Part]:
        """Show it anew when it changes, and what it keeps back when the loop or people move."""
        own, loop = self.row.stream, ("proposal", "hold", "controller")
        return {
            **super().pieces(),
            "hold-head": part("holds/_head.html", own, self.row.subject, "person"),
            "hold-terms": part("holds/_terms.html", own, self.row.subject, shared=True),
            "hold-flights": part("holds/_flights.html", own, "proposal", shared=True),
            "hold-preview": part("holds/_preview.html", own, *loop, shared=True),
            "hold-shadows": part("holds/_shadows.html", own, "controller", shared=True),
            "hold-story": part("holds/_story.html", own, shared=True),
        }

    def respond(self, status: int = 200) -> HttpResponse:
        """Answer with the page, if there is such a hold."""
        found(self.key)
        return super().respond(status)

    @cached_property
    def row(self) -> Hold:
        """The hold."""
        return found(self.key)

    @cached_property
    def told(self) -> Held:
        """The hold in words."""
        return told(self.row, self)

    @cached_property
    def under_way(self) -> tuple[holds.Flight, ...]:
        """What had begun before it and still runs."""
        return holds.drained(self.row, self.now)

    @property
    def draining(self) -> str:
        """How many calls are under way, and until when."""
        return holds.told(self.under_way)

    @cached_property
    def flights(self) -> list[tuple[Step, proposal_text.Word]]:
        """The steps that had begun when it was placed, and how each stands."""
        steps = Step.objects.filter(pk__in=list(self.row.flights)[:LISTED])
        found = steps.select_related("proposal__resource").order_by("pk")
        return [
            (each, proposal_text.STEPS.get(each.state, proposal_text.Word(each.state)))
            for each in found
        ]

    @cached_property
    def shadows(self) -> list[Shadow]:
        """What controllers would have done meanwhile, the latest first."""
        kept = self.row.shadows.select_related("controller", "resource")
        return list(kept.order_by("-last_at", "pk")[: SHADOWS + 1])

    @property
    def more_shadows(self) -> bool:
        """Whether there is more than the page shows."""
        return len(self.shadows) > SHADOWS

    @cached_property
    def preview(self) -> Mapping[str, Any]:
        """What lifting it would bring about."""
        return preview(self.row, self.now)

    @cached_property
    def story(self) -> list[Happening]:
        """What became of it, in order."""
        entries = LedgerEvent.objects.filter(stream=self.row.stream).order_by("seq")
        return event_text.told(entries[:STORY])


def preview(row: Hold, now: datetime) -> dict[str, Any]:
    """Return what lifting a hold would bring about, with the titles of what it holds back."""
    seen = holds.preview(row.pk, now)
    listed = seen["proposals"][:LISTED]
    seen["moreProposals"] += len(seen["proposals"]) - len(listed)
    kept = Proposal.objects.select_related("resource").in_bulk(
        [each["proposal"] for each in listed]
    )
    seen["proposals"] = [
        {**each, "title": proposal_text.title(kept[each["proposal"]])}
        for each in listed
        if each["proposal"] in kept
    ]
    return seen


class EndFormPage(HoldFormPage):
    """A form about the end of one hold."""

    def __init__(self, look: PageRequest, key: int) -> None:
        super().__init__(look)
        with look.eyes():
            self.row = found(key)

    @cached_property
    def told(self) -> Held:
        """The hold in words."""
        return told(self.row, self)


class LiftFormPage(EndFormPage):
    """What lifting would bring about, and the reason for it."""

    template = "holds/lift.html"
    fragment = "holds/_lift.html"
    form_class = LiftForm

    def prepare(self, form: WebForm) -> None:
        """Offer what can become of the value."""
        form.offer("restore", self.restoring)

    def suggested(self) -> dict[str, Any]:
        """Put back what stood before, unless it was declared anew."""
        usual = self.row.value is not None and not self.told.anew
        return {**super().suggested(), "restore": "yes" if usual else "no"}

    def restoring(self) -> list[tuple[str, str]]:
        """What can become of the value."""
        gone = self.row.former is None
        before = "Take it away again" if gone else f"Put back {self.told.former}"
        return [("yes", before), ("no", f"Keep {self.told.anew or self.told.value}")]

    @cached_property
    def preview(self) -> Mapping[str, Any]:
        """What lifting it would bring about."""
        return preview(self.row, self.now)

    @property
    def restores(self) -> bool:
        """Whether what stood before is put back."""
        return self.form.text("restore") == "yes"

    def lift(self) -> tuple[str, str]:
        """Lift it."""
        restore = self.restores and self.row.value is not None
        row = holds.lift(
            self.row.pk, person=self.viewer, now=self.now, reason=self.reason, restore=restore
        )
        return page_of(row), f"Lifted. {self.told.name} is free again; controllers propose first."


class RenewFormPage(EndFormPage):
    """Until when it is to stand."""

    template = "holds/renew.html"
    fragment = "holds/_renew.html"
    form_class = RenewForm

    def renew(self) -> tuple[str, str]:
        """Put its end off."""
        ends = self.ends_at()
        if ends is None:
            raise invalid("Choose how long it lasts.")
        row = holds.renew(self.row.pk, ends, person=self.viewer, now=self.now, reason=self.reason)
        return page_of(row), f"It stands until {ends.day} {ends:%b, %H:%M} UTC."


@rights(page(SEEN, at("there", *LIFT)))
@require_http_methods(["GET", "HEAD", "POST"])
def lift(request: HttpRequest, key: int) -> HttpResponse:
    """Show what lifting brings about, or lift."""
    form = LiftFormPage(PageRequest.of(request), key)
    return form.act(form.lift) if request.method == "POST" else form.show()


@rights(page(SEEN, at("there", *STOP)))
@require_http_methods(["GET", "HEAD", "POST"])
def renew(request: HttpRequest, key: int) -> HttpResponse:
    """Ask until when a hold is to stand, or put its end off."""
    form = RenewFormPage(PageRequest.of(request), key)
    return form.act(form.renew) if request.method == "POST" else form.show()
