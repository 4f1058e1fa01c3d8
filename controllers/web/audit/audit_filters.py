"""Which entries of the ledger somebody wants to see; nonsense in an address is ignored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.http import QueryDict

from resources.documents import kinds
from resources.tables.models import LedgerEvent

# No index leads to these filters, so one look goes back over at most so many numbers.
WINDOW = 50_000
LONGEST = 300
LARGEST = 10**18
# Entries are numbered in the order of their commits; their times were taken a little before.
SLACK = timedelta(minutes=15)
SHOWN = {
    "people": "People's decisions",
    "actions": "Actions",
    "errors": "Errors",
}
ACTIONS = (
    "controller.action-performed",
    "proposal.begun",
    "proposal.resumed",
    "proposal.offered",
    "proposal.claimed",
    "proposal.dispatched",
    "proposal.step-done",
    "proposal.executed",
    "proposal.verified",
    "proposal.failed",
    "proposal.lost",
    "proposal.rolled-back",
)
ERRORS = ("error", "critical")
ACTORS = ("person", "agent", "controller", "policy", "system")


class Bounds(NamedTuple):
    """The numbers between which entries are looked for, and whether that leaves older ones out."""

    below: int
    floor: int
    cut: bool


@dataclass(frozen=True)
class Filters:
    """What an address asks for."""

    show: str = ""
    actor: str = ""
    on: str = ""
    event: str = ""
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None

    @property
    def wide(self) -> bool:
        """Whether no index leads to what is asked for."""
        return bool(self.show or self.actor or self.event)

    @property
    def narrowed(self) -> bool:
        """Whether anything but everything is asked for."""
        return self != Filters(before=self.before)

    @property
    def detailed(self) -> bool:
        """Whether more than a word of the toolbar is asked for."""
        return replace(self, show="", before=None) != Filters()

    def without(self, name: str) -> Filters:
        """Return all of these but one, from their first page on."""
        return replace(self, before=None, **{name: getattr(Filters, name)})

    @property
    def newest(self) -> str:
        """The query of the first page."""
        return replace(self, before=None).address

    @property
    def address(self) -> str:
        """The query of these filters."""
        named = {
            "show": self.show,
            "actor": self.actor,
            "on": self.on,
            "event": self.event,
            "since": spelled(self.since),
            "until": spelled(self.until),
            "before": self.before or "",
        }
        return urlencode({name: value for name, value in named.items() if value})

    def chosen(self) -> QuerySet[LedgerEvent]:
        """Return the entries that are asked for, whichever page."""
        found = KINDS.get(self.show, LedgerEvent.objects.all)()
        if self.actor:
            found = found.filter(actor__in=spellings(self.actor, ACTORS))
        if self.on:
            found = found.filter(subject__in=subjects(self.on))
        if self.event:
            found = found.filter(Q(event=self.event) | Q(event__startswith=f"{self.event}."))
        if self.since:
            found = found.filter(at__gte=self.since)
        if self.until:
            found = found.filter(at__lt=self.until)
        return found

    def ends(self) -> Bounds:
        """Return between which numbers the entries that are asked for lie."""
        below = min(self.before or LARGEST, LARGEST)
        if self.until:
            below = min(below, first_since(self.until + SLACK))
        return Bounds(below, first_since(self.since - SLACK) if self.since else 0, False)

    def bounds(self) -> Bounds:
        """Return between which numbers the entries of one page are looked for."""
        ends = self.ends()
        if not self.wide or self.on:
            return ends
        newest = LedgerEvent.objects.filter(id__lt=ends.below).order_by("-id")
        lowest = (newest.values_list("id", flat=True).first() or 0) - WINDOW
        return Bounds(ends.below, max(ends.floor, lowest), lowest > ends.floor)


def by_people() -> QuerySet[LedgerEvent]:
    """Return what people did, but for coming in."""
    theirs = LedgerEvent.objects.filter(actor__startswith="person/")
    return theirs.exclude(event="person.signed-in")


def actions() -> QuerySet[LedgerEvent]:
    """Return what was done to resources."""
    return LedgerEvent.objects.filter(event__in=ACTIONS)


def errors() -> QuerySet[LedgerEvent]:
    """Return what went wrong."""
    return LedgerEvent.objects.filter(severity__in=ERRORS)


KINDS: Mapping[str, Callable[[], QuerySet[LedgerEvent]]] = {
    "people": by_people,
    "actions": actions,
    "errors": errors,
}


def read(query: QueryDict) -> Filters:
    """Read an address; what cannot be meant is left out."""
    show, before = query.get("show", ""), query.get("before", "")
    number = before.isascii() and before.isdecimal() and len(before) <= len(str(LARGEST))
    return Filters(
        show if show in SHOWN else "",
        word(query, "actor"),
        word(query, "on"),
        word(query, "event"),
        moment(query.get("since", "")),
        moment(query.get("until", "")),
        int(before) if number else None,
    )


def word(query: QueryDict, name: str) -> str:
    """Read a word that a column can hold."""
    text = query.get(name, "").strip()
    return text if len(text) <= LONGEST and text.isprintable() else ""


def moment(text: str) -> datetime | None:
    """Read a time; without a zone it is in UTC, as the log writes it."""
    try:
        at = datetime.fromisoformat(text[:40])
        at = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
        # Room for what is added and taken away around it.
        return at if 1 < at.year < 9999 else None
    except (ValueError, OverflowError):
        return None


def spelled(at: datetime | None) -> str:
    """Write a time as its field in the form takes it."""
    return f"{at:%Y-%m-%dT%H:%M}" if at else ""


def spellings(name: str, families: tuple[str, ...]) -> list[str]:
    """Return how the ledger may write a name."""
    return [name] if "/" in name else [f"{family}/{name}" for family in families]


def subjects(text: str) -> list[str]:
    """Return how the ledger may write what something is about: `P-7`, `agent/x` or `x`."""
    number = text[2:]
    if text[:2].upper() == "P-" and number.isdecimal():
        return [f"proposal/{number}"]
    others = ("proposal", "person", "group", "channel", "endpoint")
    families = (*(kind.path for kind in kinds.ALL), *others)
    return [*spellings(text, families), text]


def first_since(at: datetime) -> int:
    """Return the number of the first entry from a time on, found by halving."""
    ids = LedgerEvent.objects.order_by("id")
    last = ids.values_list("id", flat=True).last()
    low, high = 0, (last or 0) + 1
    while low < high:
        middle = (low + high) // 2
        found = ids.filter(id__gte=middle).values_list("id", "at").first()
        if found is None or found[1] >= at:
            high = middle
        else:
            low = found[0] + 1
    return low
