"""All resources: those furthest off first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from urllib.parse import urlencode

from django.http import HttpRequest, StreamingHttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from controllers.decisions import holds
from controllers.web.base import spreadsheet
from controllers.web.base.page import Page, part
from controllers.web.resources import resource_table
from controllers.web.resources.resource_rows import CursorPage, Finder, ResourceFilter
from controllers.web.resources.resource_table import Row
from resources.documents import kinds
from resources.tables.ledger import instant
from resources.templatetags.ui import counted, grouped
from resources.usecases import access
from resources.usecases.access_rules import TAKEN, page, rights

EXPORTED = 500
HEADINGS = (
    "Kind",
    "Name",
    "Domain",
    "Drift",
    "Limit",
    "State",
    "Furthest off",
    "Controller",
    "Last report",
    "Open proposals",
    "Held",
)
ORDERS = {
    "drift": "Furthest past its limit first, then by kind and name.",
    "name": "By name.",
    "domain": "By domain and kind.",
}


@dataclass(frozen=True)
class FilterTab:
    """One way to narrow the list."""

    name: str
    icon: str
    count: int
    url: str
    current: bool


class Resources(Page):
    """The list as somebody sees it."""

    rights = page()
    template = "resources/list.html"
    section = "resources"
    parts = {
        "summary": part("resources/_summary.html", "resource", "controller", shared=True),
        "list-actions": part("resources/_list_actions.html", "person"),
        "picks": part("resources/_picks.html", "resource", "controller", "hold", shared=True),
        "rows": part(
            "resources/_rows.html", "resource", "controller", "hold", "proposal", shared=True
        ),
    }

    @cached_property
    def wanted(self) -> ResourceFilter:
        """What was asked for."""
        return ResourceFilter.read(self.look.query)

    @cached_property
    def finder(self) -> Finder:
        """Finds it."""
        return Finder(self.wanted, self.held)

    @cached_property
    def held(self) -> frozenset[int]:
        """The resources that somebody holds."""
        return frozenset(each.resource for each in self.shell.standing if each.resource)

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many there are of each kind."""
        return self.finder.counts()

    @cached_property
    def total(self) -> int:
        """How many there are, of the kind that was chosen."""
        chosen = self.wanted.kind
        return self.counts.get(chosen.name, 0) if chosen else sum(self.counts.values())

    @cached_property
    def drifting(self) -> int:
        """How many of them drift."""
        return self.finder.drifting()

    @cached_property
    def holding(self) -> int:
        """How many of them somebody holds."""
        return self.finder.holding()

    @property
    def sentence(self) -> str:
        """The state of it all."""
        kind = self.wanted.kind
        noun = f"{kind.title.lower()},{kind.plural.lower()}" if kind else "resource"
        place = f" in {self.wanted.domain}" if self.wanted.domain else ""
        named = f" like “{self.wanted.text}”" if self.wanted.text else ""
        there = f"{counted(self.total, noun)}{place}{named}"
        if not self.total:
            return there
        number = grouped(self.drifting) if self.drifting else "none"
        return f"{there}, {number} {'is' if self.drifting < 2 else 'are'} drifting"

    @property
    def order(self) -> str:
        """In which order they are."""
        return ORDERS[self.wanted.sort]

    @cached_property
    def found(self) -> CursorPage:
        """The resources of this page."""
        return self.finder.page(self.look.query.get("after", ""))

    @cached_property
    def rows(self) -> list[Row]:
        """What is said of each of them."""
        return resource_table.rows(self.found.rows, self.held, self.now)

    @property
    def whole(self) -> int:
        """How many there are on all pages."""
        return {"drifting": self.drifting, "held": self.holding}.get(self.wanted.show, self.total)

    @property
    def further(self) -> str:
        """The address of the next page, if there is one."""
        return self.address(self.wanted, after=self.found.after) if self.found.after else ""

    @property
    def begun(self) -> bool:
        """Whether this is the first page."""
        return not self.look.query.get("after")

    def address(self, wanted: ResourceFilter, **more: str) -> str:
        """Return where something else is listed."""
        said = urlencode(wanted.parameters() | more)
        return reverse("resources") + (f"?{said}" if said else "")

    @property
    def here(self) -> str:
        """The address of the first page."""
        return self.address(self.wanted)

    @property
    def everything(self) -> str:
        """The address of the list without any condition."""
        return reverse("resources")

    @property
    def export(self) -> str:
        """The address of the same list as a file."""
        said = urlencode(self.wanted.parameters())
        return reverse("resources-csv") + (f"?{said}" if said else "")

    @property
    def anywhere(self) -> str:
        """The address of the same list in all domains."""
        return self.address(replace(self.wanted, domain=""))

    @property
    def sorts(self) -> dict[str, str]:
        """Where the same list is in another order."""
        return {name: self.address(replace(self.wanted, sort=name)) for name in ORDERS}

    @property
    def kept(self) -> dict[str, str]:
        """What a search keeps of this address."""
        said = self.wanted.parameters()
        return {name: value for name, value in said.items() if name != "q"}

    @property
    def picks(self) -> list[FilterTab]:
        """How the list can be narrowed."""
        plain = replace(self.wanted, kind=None, show="")
        found = [self.pick("All", "", sum(self.counts.values()), plain)]
        found += [
            self.pick(each.plural, each.icon, count, replace(plain, kind=each))
            for each in kinds.ALL
            if (count := self.counts.get(each.name, 0)) or each is self.wanted.kind
        ]
        return found

    @property
    def states(self) -> list[FilterTab]:
        """How the list can be narrowed by what is the matter; once more takes it back."""
        return [
            self.toggle("Drifting", "trending-up", self.drifting, "drifting"),
            self.toggle("Held", "hand", self.holding, "held"),
        ]

    def pick(self, name: str, icon: str, count: int, wanted: ResourceFilter) -> FilterTab:
        """Return one choice of kinds; what else was chosen stays."""
        current = wanted.kind is self.wanted.kind
        kept = replace(wanted, show=self.wanted.show)
        return FilterTab(name, icon, count, self.address(kept), current)

    def toggle(self, name: str, icon: str, count: int, show: str) -> FilterTab:
        """Return one choice of states."""
        current = self.wanted.show == show
        url = self.address(replace(self.wanted, show="" if current else show))
        return FilterTab(name, icon, count, url, current)

    @property
    def may_apply(self) -> bool:
        """Whether the one who looks may declare resources."""
        return access.may_edit(self.viewer, "add", None)


@rights(page(TAKEN))
@require_safe
def export(request: HttpRequest) -> StreamingHttpResponse:
    """Send the list as a file, a piece at a time."""
    now = timezone.now()
    stopped = [each.resource for each in holds.standing(now) if each.resource]
    pieces = written(Finder(ResourceFilter.read(request.GET), stopped), now)
    return spreadsheet.download(request, pieces, "resources.csv")


def written(finder: Finder, now: datetime) -> Iterator[spreadsheet.Piece]:
    """Yield the list as lines of a file."""
    yield spreadsheet.heading(HEADINGS)
    after = ""
    while True:
        found = finder.page(after, EXPORTED)
        rows = resource_table.rows(found.rows, finder.held, now, trends=False)
        if rows:
            yield spreadsheet.rows(map(cells, rows))
        after = found.after
        if not after:
            return


def cells(row: Row) -> tuple[str, ...]:
    """Return what the file says of one resource."""
    gauge, reported = row.gauge, row.resource.reported_at
    return (
        row.kind,
        row.resource.name,
        row.resource.domain,
        "" if gauge is None or gauge.score is None else f"{gauge.score:.4f}",
        f"{gauge.limit:g}" if gauge else "",
        gauge.word if gauge else "Not measured",
        gauge.message if gauge else "",
        gauge.controller_name if gauge else "",
        instant(reported) if reported else "",
        str(len(row.proposals)),
        "yes" if row.held else "no",
    )
