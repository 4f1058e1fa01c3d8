"""What the list of resources says of each: its drift, what is furthest off, what waits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from controllers.engine.proposal_lifecycle import WAITING
from controllers.models import Proposal
from controllers.narrative import drift_queries, proposal_text
from controllers.narrative.drift_queries import Gauge
from resources.documents import kinds
from resources.tables.models import Resource

LONGEST = 60
BREAKS = (", ", " and ", "; ")


@dataclass(frozen=True)
class Row:
    """One resource of the list."""

    resource: Resource
    kind: str
    icon: str
    url: str
    gauge: Gauge | None
    trend: Sequence[float]
    held: bool
    proposals: Sequence[Proposal]

    @property
    def furthest(self) -> str:
        """What is furthest off, in a few words."""
        return shortened(self.gauge) if self.gauge else "Nobody measures it"

    @property
    def number(self) -> str:
        """The name of the first proposal that waits."""
        return proposal_text.number(self.proposals[0]) if self.proposals else ""

    @property
    def more(self) -> int:
        """How many proposals wait besides the first."""
        return max(len(self.proposals) - 1, 0)


def rows(
    resources: Sequence[Resource], held: Iterable[int], now: datetime, *, trends: bool = True
) -> list[Row]:
    """Return what the list says of each resource, read for all of them at once."""
    keys, stopped = [each.pk for each in resources], set(held)
    gauges = drift_queries.of(keys)
    pairs = [(each.resource, each.controller) for each in gauges.values()] if trends else []
    lines = drift_queries.trends(pairs, now) if pairs else {}
    waiting = proposals_of(keys)
    return [
        row(each, gauges.get(each.pk), lines, each.pk in stopped, waiting.get(each.pk, ()))
        for each in resources
    ]


def row(
    resource: Resource,
    gauge: Gauge | None,
    lines: dict[drift_queries.Pair, list[float]],
    held: bool,
    waiting: Sequence[Proposal],
) -> Row:
    """Return one row."""
    kind = kinds.by_name(resource.kind)
    path = kind.path if kind else resource.kind.lower()
    return Row(
        resource,
        kind.title if kind else resource.kind,
        kind.icon if kind else "boxes",
        reverse("resource", args=[path, resource.name]),
        gauge,
        lines.get((gauge.resource, gauge.controller), ()) if gauge else (),
        held,
        waiting,
    )


def proposals_of(keys: Sequence[int]) -> dict[int, list[Proposal]]:
    """Return what waits for people about resources, the oldest first."""
    found: dict[int, list[Proposal]] = {}
    rows = Proposal.objects.filter(resource__in=keys, state__in=WAITING).order_by("pk")
    for each in rows.only("pk", "resource"):
        found.setdefault(each.resource_id, []).append(each)
    return found


def shortened(gauge: Gauge) -> str:
    """Say in a few words what is furthest off."""
    if gauge.status == "True":
        return "On target"
    said = gauge.message or gauge.reason
    first, colon, rest = said.partition(" target: ")
    clause = first_clause(rest if colon and first[:1].isdecimal() else said).rstrip(".")
    clause = proposal_text.briefly(clause)
    if len(clause) <= LONGEST:
        return clause
    return f"{clause[:LONGEST].rpartition(' ')[0].rstrip(',;:')}…"


def first_clause(text: str) -> str:
    """Return a text up to the first break that is not inside brackets."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth <= 0 and text.startswith(BREAKS, place):
            return text[:place]
    return text
