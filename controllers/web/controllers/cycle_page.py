"""The page of one cycle."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from django.http import Http404

from controllers.models import Cycle
from controllers.web.base.page import Page, PageRequest, Part, part
from controllers.web.controllers import cycle_text
from controllers.web.controllers.controller_summary import who
from resources.documents import kinds
from resources.documents.kind import Kind
from resources.tables.models import Resource
from resources.usecases.access_rules import page


def found(name: str) -> Resource:
    """Return a controller, or answer that there is none."""
    row = Resource.objects.filter(kind="Controller", name=name, deleted_at=None).first()
    if row is None:
        raise Http404("There is no such controller.")
    return row


class CyclePage(Page):
    """One cycle: what it read, found, planned and did."""

    rights = page()
    template = "controllers/cycle.html"
    section = "controllers"

    def __init__(self, look: PageRequest, name: str, number: int) -> None:
        super().__init__(look)
        self.name, self.number = name, number

    def pieces(self) -> Mapping[str, Part]:
        """It is about one controller."""
        about = (f"controller/{self.name}", "retention.dropped")
        own = part("controllers/_record.html", *about, shared=True)
        return {**super().pieces(), "record": own}

    @cached_property
    def row(self) -> Resource:
        """The controller."""
        return found(self.name)

    @cached_property
    def kind(self) -> Kind | None:
        """What it watched."""
        return kinds.by_name(str(self.row.spec.get("targetKind")))

    @cached_property
    def cycle(self) -> Cycle:
        """The cycle."""
        cycle = Cycle.objects.filter(controller=self.row, number=self.number).first()
        if cycle is None:
            raise Http404("There is no such cycle, or it is no longer kept.")
        return cycle

    @cached_property
    def phases(self) -> list[cycle_text.Phase]:
        """Its five phases."""
        return cycle_text.phases(self.cycle, self.kind)

    @cached_property
    def outcome(self) -> str:
        """How it ended."""
        return cycle_text.OUTCOMES.get(self.cycle.outcome, self.cycle.outcome)

    @cached_property
    def tone(self) -> str:
        """The colour of how it ended."""
        return cycle_text.TONES[cycle_text.STRIP.get(self.cycle.outcome, "none")]

    @cached_property
    def lasted(self) -> str:
        """How long it took."""
        return cycle_text.lasted(self.cycle)

    @cached_property
    def reasons(self) -> str:
        """Why it ran."""
        why = [word for reason, word in cycle_text.REASONS.items() if self.cycle.reasons & reason]
        return " and ".join(why).capitalize()

    @cached_property
    def asked_by(self) -> str:
        """Who asked for it."""
        actor = self.cycle.requested_by
        return who(actor)

    @cached_property
    def earlier(self) -> int | None:
        """The number of the cycle before, while it is kept."""
        before = Cycle.objects.filter(controller=self.row, number__lt=self.number)
        return before.order_by("-number").values_list("number", flat=True).first()

    @cached_property
    def later(self) -> int | None:
        """The number of the cycle after."""
        after = Cycle.objects.filter(controller=self.row, number__gt=self.number)
        return after.order_by("number").values_list("number", flat=True).first()

    @cached_property
    def unlisted(self) -> int:
        """How many steps its record does not list."""
        planned: int = self.cycle.counts.get("actions", 0)
        return max(0, planned - len(self.cycle.actions))

    @cached_property
    def deeds(self) -> list[cycle_text.Deed]:
        """What it did, step by step."""
        return list(cycle_text.deeds(self.cycle))
