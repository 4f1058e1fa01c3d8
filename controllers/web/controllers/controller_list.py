"""The page of all controllers: how many run, which do not and why, and what each did last."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from controllers.access import roles
from controllers.engine.finding_text import listed
from controllers.engine.precedence import Standing
from controllers.models import Cycle
from controllers.web.base.page import Page, part
from controllers.web.controllers.controller_summary import (
    Loop,
    hold_on,
    last_of,
    loops,
    may,
    spoken,
    state_of,
    who,
)
from resources.tables.models import Resource
from resources.usecases.access_rules import page

ROWS = 100
LONGEST_NUMBER = 4
SORTS: Mapping[str, tuple[str, ...]] = {
    "name": ("name",),
    "drifting": ("-runtime__drifted", "name"),
    "last": ("-runtime__last_run_at", "name"),
}
# What keeps a controller from acting, and how a sentence says so.
RESTING: Mapping[str, tuple[str, str]] = {
    "tripped": ("is stopped", "are stopped"),
    "invalid": ("cannot run", "cannot run"),
    "paused": ("is paused", "are paused"),
    "silent": ("is silent", "are silent"),
}


def every(sort: str) -> list[Resource]:
    """Return all controllers in an order."""
    rows = Resource.objects.filter(kind="Controller", deleted_at=None)
    return list(rows.select_related("runtime").defer("status").order_by(*SORTS[sort]))


class Stop(NamedTuple):
    """A controller whose breaker is open."""

    row: Resource
    last: Cycle | None
    why: str


class Controllers(Page):
    """All controllers."""

    rights = page()
    template = "controllers/list.html"
    section = "controllers"
    parts = {
        "standing": part(
            "controllers/_standing.html", "controller", "hold", "resource", shared=True
        ),
        "stops": part("controllers/_stops.html", "controller", "resource", "person"),
        "loops": part(
            "controllers/_loops.html",
            "controller",
            "hold",
            "resource",
            "retention.dropped",
            shared=True,
        ),
    }

    @cached_property
    def every(self) -> list[Resource]:
        """All controllers, in the order that was asked for."""
        return every(self.sort)

    @cached_property
    def sort(self) -> str:
        """What the table is sorted by."""
        asked = self.look.query.get("sort", "")
        return asked if asked in SORTS else "name"

    @cached_property
    def number(self) -> int:
        """Which page of the table is shown."""
        asked = self.look.query.get("page", "")
        readable = asked.isascii() and asked.isdecimal() and len(asked) <= LONGEST_NUMBER
        return max(1, int(asked)) if readable else 1

    @cached_property
    def more(self) -> bool:
        """Whether another page follows."""
        return len(self.every) > self.number * ROWS

    @cached_property
    def loops(self) -> list[Loop]:
        """The rows of the table."""
        start = (self.number - 1) * ROWS
        return loops(self.every[start : start + ROWS], self.shell.standing)

    @cached_property
    def resting(self) -> dict[str, list[Resource]]:
        """The controllers that do not act, by why."""
        found: dict[str, list[Resource]] = defaultdict(list)
        for row in self.every:
            hold = hold_on(self.shell.standing, row.pk)
            runtime = getattr(row, "runtime", None)
            state = state_of(runtime, hold, runtime is not None and runtime.external)
            if state in RESTING:
                found[state].append(row)
        return dict(found)

    @cached_property
    def title(self) -> str:
        """The status of the page in a sentence or two."""
        total, resting = len(self.every), sum(map(len, self.resting.values()))
        if not total:
            return "No controllers yet."
        if self.stopped:
            return f"Everything is paused by {self.stopped_by}."
        if not resting:
            return f"All {total} controllers run." if total > 1 else "The only controller runs."
        verb = "controller runs" if total == 1 else "controllers run"
        return " ".join([f"{total - resting} of {total} {verb}.", *self.why_resting()])

    def why_resting(self) -> list[str]:
        """Say which controllers do not act, and why."""
        return [
            f"{listed([row.name for row in self.resting[state]])} "
            f"{words[len(self.resting[state]) > 1]}."
            for state, words in RESTING.items()
            if state in self.resting
        ]

    @cached_property
    def stopped(self) -> Standing | None:
        """What stops everything."""
        return next((each for each in self.shell.standing if each.kind == "stop"), None)

    @cached_property
    def stopped_by(self) -> str:
        """Who stopped everything."""
        return who(self.stopped.author) if self.stopped else ""

    @cached_property
    def tripped(self) -> list[Stop]:
        """The controllers that are stopped, each with why and its last cycle."""
        rows = self.resting.get("tripped", [])[:ROWS]
        last, reasons = (
            last_of([row.pk for row in rows]),
            [row.runtime.breaker_reason for row in rows],
        )
        told = zip(rows, spoken(reasons), strict=True)
        return [Stop(row, last.get(row.pk), why) for row, why in told]

    @cached_property
    def may_operate(self) -> bool:
        """Whether the one who looks may run controllers."""
        return may(roles.check_operate, self.viewer, "", self.now)

    @cached_property
    def may_stop(self) -> bool:
        """Whether the one who looks may pause them."""
        return may(roles.check_stop, self.viewer, "", self.now)
