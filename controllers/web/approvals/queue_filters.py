"""What of the queue somebody wants to see: plain query parameters, so that it can be shared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.http import QueryDict

from controllers.decisions import proposal_groups
from controllers.engine.proposal_lifecycle import WAITING
from controllers.models import Proposal
from controllers.narrative import proposal_text

STATES: Mapping[str, str] = {"open": "Open", "decided": "Decided", "all": "All"}
AGES: Mapping[str, tuple[str, timedelta]] = {
    "hour": ("Over an hour", timedelta(hours=1)),
    "day": ("Over a day", timedelta(days=1)),
    "week": ("Over a week", timedelta(days=7)),
}
GROUPS = ("mine", "others", "routine", "underway", "snoozed", "past")
LONGEST = 253
LONGEST_KEY = 18
NUMBER = "P-"


class Option(NamedTuple):
    """One choice of a filter."""

    text: str
    url: str
    current: bool


class FilterMenu(NamedTuple):
    """A filter: its name, what is chosen, and what can be."""

    name: str
    chosen: str
    options: Sequence[Option]


@dataclass(frozen=True)
class Filters:
    """The query of the queue; what is not understood is as if it were not there."""

    state: str = "open"
    mine: bool = False
    domain: str = ""
    controller: str = ""
    risk: str = ""
    mode: str = ""
    age: str = ""
    q: str = ""
    cause: str = ""
    group: str = ""
    after: str = ""
    at: int | None = None
    # Whether the list, not the proposal, is what a small screen shows.
    list: bool = False

    @classmethod
    def read(cls, query: QueryDict) -> Filters:
        """Read what was asked for."""
        return cls(
            state=word(query, "state", STATES) or "open",
            mine=query.get("mine") == "1",
            domain=text(query, "domain"),
            controller=text(query, "controller"),
            risk=word(query, "risk", proposal_text.RISKS),
            mode=word(query, "mode", proposal_text.MODES),
            age=word(query, "age", AGES),
            q=text(query, "q"),
            cause=text(query, "cause"),
            group=word(query, "group", dict.fromkeys(GROUPS)),
            after=text(query, "after"),
            at=key(query.get("at", "")),
            list=query.get("list") == "1",
        )

    @property
    def query(self) -> str:
        """What it is in an address, without what is chosen at the moment."""
        return replace(self, at=None, list=False).written()

    def written(self) -> str:
        """Write it as a query; what is as usual is left out."""
        usual = Filters()
        given = [(each.name, getattr(self, each.name)) for each in fields(self)]
        return urlencode(
            [
                (name, 1 if value is True else value)
                for name, value in given
                if value != getattr(usual, name)
            ]
        )

    def url(self, **changes: Any) -> str:
        """Return the address of the queue with something changed, from its beginning."""
        fresh: dict[str, Any] = {"at": None, "list": False, "after": "", "group": ""}
        query = replace(self, **(fresh | changes)).written()
        return f"/approvals?{query}" if query else "/approvals"

    @property
    def narrowed(self) -> bool:
        """Whether anything is left out."""
        names = ("domain", "controller", "risk", "mode", "age", "q", "cause", "mine")
        return any(getattr(self, name) for name in names)

    def among(self, rows: QuerySet[Proposal], now: datetime) -> QuerySet[Proposal]:
        """Narrow proposals down to what was asked for."""
        equal = {
            "resource__domain": self.domain,
            "controller__name": self.controller,
            "risk": self.risk,
            "mode": self.mode,
            "cause": self.cause,
        }
        rows = rows.filter(**{name: value for name, value in equal.items() if value})
        if self.age:
            rows = rows.filter(created_at__lte=now - AGES[self.age][1])
        return rows.filter(self.found()) if self.q else rows

    def found(self) -> Q:
        """Say what a search finds: names, words of the explanation, or one number."""
        said = Q(resource__name__icontains=self.q) | Q(explanation__icontains=self.q)
        number = key(self.q.upper().removeprefix(NUMBER))
        return said | Q(pk=number) if number is not None else said


def waiting(now: datetime) -> QuerySet[Proposal]:
    """Return what waits, the soonest end first."""
    rows = proposal_groups.waiting(now).select_related("resource", "controller")
    return rows.order_by("expires_at", "pk")


def past(now: datetime, state: str) -> QuerySet[Proposal]:
    """Return what was decided, or all there is, the latest first."""
    rows = Proposal.objects.select_related("resource", "controller")
    if state == "decided":
        rows = rows.exclude(state__in=WAITING)
    return rows.order_by("-changed_at", "-pk")


def picks(filters: Filters, now: datetime) -> list[FilterMenu]:
    """Return the filters with the choices there are."""
    rows = (
        proposal_groups.waiting(now).order_by()
        if filters.state == "open"
        else Proposal.objects.all()
    )
    domains = rows.exclude(resource__domain="").values_list("resource__domain", flat=True)
    makers = rows.exclude(controller=None).values_list("controller__name", flat=True)
    named = {
        "domain": {each: each for each in sorted(set(domains.distinct()))},
        "controller": {each: each for each in sorted({str(e) for e in makers.distinct()})},
        "risk": dict(proposal_text.RISKS),
        "mode": {name: each.name for name, each in proposal_text.MODES.items()},
        "age": {name: each[0] for name, each in AGES.items()},
    }
    return [pick(filters, name, choices) for name, choices in named.items()]


def pick(filters: Filters, name: str, choices: Mapping[str, str]) -> FilterMenu:
    """Return one filter; the first choice is to have none."""
    chosen = getattr(filters, name)
    options = [Option("Any", filters.url(**{name: ""}), not chosen)]
    options += [
        Option(said, filters.url(**{name: value}), value == chosen)
        for value, said in choices.items()
    ]
    return FilterMenu(name.title(), choices.get(chosen, chosen), options)


def text(query: QueryDict, name: str) -> str:
    """Read a text; one that nothing is called by is none."""
    given = query.get(name, "").strip()
    return given if len(given) <= LONGEST and given.isprintable() else ""


def word(query: QueryDict, name: str, known: Mapping[str, Any]) -> str:
    """Read one of some words."""
    given = query.get(name, "")
    return given if given in known else ""


def key(given: str) -> int | None:
    """Read the number of a proposal."""
    usable = given.isascii() and given.isdecimal() and len(given) <= LONGEST_KEY
    return int(given) if usable else None
