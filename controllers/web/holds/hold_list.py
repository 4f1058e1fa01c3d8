"""Everything that people hold: values, pauses, freezes and stops, and what that tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from django.db.models import Q

from controllers.web.base.page import Page, Part, part
from controllers.web.holds import hold_signals
from controllers.web.holds.hold_signals import Signals
from controllers.web.holds.hold_text import NONE, Held, Rights, held, rows
from resources.usecases.access_rules import page

# As many as one page shows; nobody holds more for long.
MOST = 500
ENDED = 10


class Overrides(Page):
    """What people hold right now."""

    rights = page()
    template = "holds/list.html"
    section = "overrides"

    def pieces(self) -> Mapping[str, Part]:
        """Show the holds anew also when what they are about is declared anew."""
        subjects = {each.hold.subject for each in self.every if each.hold.value is not None}
        return {
            **super().pieces(),
            "holds-head": part("holds/_list_head.html", "hold", "person"),
            "holds-standing": part("holds/_standing.html", "hold", "person", *subjects),
            "holds-signals": part("holds/_signals.html", "hold", shared=True),
            "holds-ended": part("holds/_ended.html", "hold", shared=True),
        }

    @cached_property
    def every(self) -> list[Held]:
        """Every hold that is not over, newest first."""
        over = Q(ended_at__isnull=False) | Q(ends_at__lte=self.now)
        found = list(rows().exclude(over).order_by("-placed_at", "-pk")[:MOST])
        return held(
            found, [each.key for each in self.shell.standing], self.now, self.viewer_rights
        )

    def of(self, *kinds: str) -> list[Held]:
        """Return those of a kind that are in force."""
        return [each for each in self.every if each.hold.kind in kinds and each.in_force]

    @cached_property
    def sort(self) -> str:
        """What the tables are sorted by: those that end first, unless something else is asked."""
        asked = self.look.query.get("sort", "")
        return asked if asked in SORTS else "ends"

    @cached_property
    def stops(self) -> list[Held]:
        """Who stopped everything."""
        return self.of("stop")

    @cached_property
    def values(self) -> list[Held]:
        """The fields and resources that people hold, in the order that was asked for."""
        return sorted(self.of("override"), key=SORTS[self.sort])

    @cached_property
    def pauses(self) -> list[Held]:
        """What is paused or frozen."""
        return sorted(self.of("pause", "freeze"), key=SORTS[self.sort])

    @cached_property
    def planned(self) -> list[Held]:
        """Freezes that have been announced, and those that come back."""
        return [each for each in self.every if not each.in_force]

    @cached_property
    def headline(self) -> str:
        """What people hold, in one sentence."""
        if self.stops:
            return "Everything is paused"
        held, paused = len(self.values), len(self.pauses)
        said = [
            *([f"hold {held:,} value{'' if held == 1 else 's'}"] if held else []),
            *([f"pause {paused:,} thing{'' if paused == 1 else 's'}"] if paused else []),
        ]
        return f"People {' and '.join(said)} right now" if said else "Nobody holds anything back"

    @cached_property
    def viewer_rights(self) -> Rights:
        """What the one who looks may do; nothing when nobody in particular looks."""
        return Rights.of(self.look.person, self.now) if self.look.person else NONE

    @property
    def may_stop(self) -> bool:
        """Whether the one who looks may hold anything at all."""
        return bool(self.viewer_rights.stops)

    @cached_property
    def signals(self) -> Signals:
        """What the overrides of the last days tell."""
        return hold_signals.signals(self.now, self.shell.counts.controllers)

    @cached_property
    def ended(self) -> list[Held]:
        """What ended lately."""
        over = Q(ended_at__isnull=False) | Q(ends_at__lte=self.now)
        found = list(rows().filter(over).order_by("-placed_at", "-pk")[:ENDED])
        return held(found, (), self.now)


def ending(each: Held) -> tuple[bool, float]:
    """Return the order of ends: those without one come last."""
    ends = each.hold.ends_at
    return ends is None, ends.timestamp() if ends else 0.0


def named(each: Held) -> tuple[str, str]:
    """Return the order of names."""
    return each.name, each.field


def said_by(each: Held) -> tuple[str, float]:
    """Return the order of people, those who spoke last first."""
    return each.who, -each.hold.placed_at.timestamp()


SORTS: Mapping[str, Callable[[Held], Any]] = {"ends": ending, "name": named, "who": said_by}
