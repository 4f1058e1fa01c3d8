"""One resource's drift over time, with what was proposed, decided and done about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from django.db.models import Q

from controllers.models import DriftSample, Proposal
from controllers.narrative import drift_queries
from controllers.narrative.drift_queries import Gauge

Point = tuple[float, float]
Mark = tuple[float, float, str]

# The scale ends at the first of these that holds everything.
TOPS = (0.6, 0.9, 1.2)
MOST_MARKS = 60


class Span(NamedTuple):
    """A time to look back, in equal steps; within a day its labels are times of day."""

    word: str
    told: str
    length: timedelta
    points: int
    daily: bool


SPANS: Mapping[str, Span] = {
    "1h": Span("1 h", "last hour", timedelta(hours=1), 120, False),
    "24h": Span("24 h", "last 24 hours", timedelta(days=1), 144, False),
    "14d": Span("14 d", "last 14 days", timedelta(days=14), 168, True),
    "90d": Span("90 d", "last 90 days", timedelta(days=90), 180, True),
}


@dataclass(frozen=True)
class History:
    """The drift of one resource under the controller that finds it furthest off."""

    gauge: Gauge
    asked: str
    now: datetime

    @cached_property
    def name(self) -> str:
        """The time to look back: the one asked for, or the shortest that holds everything."""
        if self.asked in SPANS:
            return self.asked
        kept = DriftSample.objects.filter(
            controller=self.gauge.controller, resource=self.gauge.resource
        )
        first = kept.order_by("at").values_list("at", flat=True).first() or self.now
        fitting = (name for name, each in SPANS.items() if first > self.now - each.length)
        return next(fitting, "90d")

    @cached_property
    def span(self) -> Span:
        """What that time is."""
        return SPANS[self.name]

    @cached_property
    def points(self) -> list[Point]:
        """What was known, as (0..1 of the time, score)."""
        pair = (self.gauge.resource, self.gauge.controller)
        count = self.span.points
        known = drift_queries.trends([pair], self.now, self.span.length, count)[pair]
        if len(known) == 1:
            known = known * 2
        begun = count - len(known) + 1
        return [((begun + place) / count, score) for place, score in enumerate(known)]

    @cached_property
    def marks(self) -> list[Mark]:
        """What was proposed, decided by a person and done, on the line."""
        since = self.now - self.span.length
        lately = Q(created_at__gt=since) | Q(decided_at__gt=since) | Q(executed_at__gt=since)
        rows = Proposal.objects.filter(lately, resource=self.gauge.resource).order_by("-pk")
        fields = ("created_at", "decided_at", "decided_by", "executed_at")
        found = rows.values_list(*fields)[:MOST_MARKS]
        return [mark for each in found for mark in self.marks_of(*each)]

    def marks_of(
        self, made: datetime, decided: datetime | None, who: str, done: datetime | None
    ) -> Iterator[Mark]:
        """Yield the marks of one proposal."""
        answered = decided if who.startswith("person/") else None
        for at, kind in ((made, "proposal"), (answered, "human"), (done, "action")):
            share = 1 - (self.now - at) / self.span.length if at else -1.0
            if 0 <= share <= 1:
                yield share, self.score_at(share), kind

    def score_at(self, share: float) -> float:
        """Return what was known at a part of the time."""
        before = [score for at, score in self.points if at <= share]
        return before[-1] if before else self.points[0][1] if self.points else 0.0

    @cached_property
    def top(self) -> float:
        """Where the scale ends."""
        highest = max([self.gauge.limit, *(score for _, score in self.points)])
        return next((each for each in TOPS if highest <= each), TOPS[-1])

    @property
    def heights(self) -> Sequence[float]:
        """The labels of the scale, from the top."""
        return [self.top, self.top * 2 / 3, self.top / 3, 0]

    @property
    def moments(self) -> list[datetime]:
        """The labels of the time; the end is now."""
        return [self.now - self.span.length * (4 - step) / 4 for step in range(4)]

    @property
    def sentence(self) -> str:
        """The same in words."""
        scores = [score for _, score in self.points]
        if not scores:
            return f"No drift was measured in the {self.span.told}."
        return (
            f"Drift in the {self.span.told}: from {scores[0]:.2f} to {scores[-1]:.2f}, "
            f"between {min(scores):.2f} and {max(scores):.2f}. Limit {self.gauge.limit:.2f}."
        )
