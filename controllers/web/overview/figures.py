"""The figures of the overview: how the organisation drifts, and what happened today."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import Count, Min, Q

from controllers.decisions import proposal_groups
from controllers.models import Proposal, Step
from controllers.narrative import drift_queries
from controllers.narrative.drift_queries import Gauge, Pair
from controllers.trust import track_record

# Two scores that differ by less look the same with two decimals.
STILL = 0.005


@dataclass(frozen=True)
class OrganisationDrift:
    """The mean drift of the domains that are measured, now and over the last hours."""

    score: float
    domains: int
    trend: Sequence[float]
    # The limit of all of them, if it is one and the same.
    limit: float

    @property
    def change(self) -> float:
        """By how much it rose or fell over the hours of the trend."""
        return self.trend[-1] - self.trend[0] if self.trend else 0.0

    @property
    def direction(self) -> str:
        """Up, down or the same."""
        if abs(self.change) < STILL:
            return "same"
        return "up" if self.change > 0 else "down"

    @property
    def amount(self) -> str:
        """How much it changed, with two decimals."""
        return f"{abs(self.change):.2f}"

    @property
    def hours(self) -> int:
        """How many hours the trend covers."""
        return len(self.trend)


def organisation(
    gauges: Iterable[Gauge], trends: dict[Pair, list[float]]
) -> OrganisationDrift | None:
    """Return the mean over the domains that are measured; nothing when none is."""
    known = [each for each in gauges if each.score is not None]
    if not known:
        return None
    series = [trends.get((each.resource, each.controller), []) for each in known]
    limits = {each.limit for each in known}
    return OrganisationDrift(
        score=mean([each.score or 0.0 for each in known]),
        domains=len(known),
        trend=means(series),
        limit=limits.pop() if len(limits) == 1 else 0,
    )


def means(series: Sequence[Sequence[float]]) -> list[float]:
    """Return the mean of several series at each moment; all of them end now."""
    longest = max(map(len, series), default=0)
    return [
        mean([each[-back] for each in series if len(each) >= back])
        for back in range(longest, 0, -1)
    ]


def mean(values: Sequence[float]) -> float:
    """Return the mean."""
    return sum(values) / len(values)


@dataclass(frozen=True)
class Open:
    """What waits for anybody: how many, and since when the oldest."""

    count: int
    oldest: datetime | None


def waiting(now: datetime) -> Open:
    """Return how much waits for anybody."""
    return Open(
        **proposal_groups.waiting(now).aggregate(count=Count("pk"), oldest=Min("created_at"))
    )


@dataclass(frozen=True)
class Tally:
    """How many there were, and of which kinds."""

    total: int
    kinds: Sequence[tuple[int, str]]

    @property
    def words(self) -> str:
        """The kinds that there are: "19 approved, 3 rejected"."""
        return ", ".join(f"{count:,} {word}" for count, word in self.kinds if count)


def midnight(now: datetime) -> datetime:
    """Return when the day began, in UTC."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def decided(now: datetime) -> Tally:
    """Return what people decided today."""
    today = Q(changed_at__gte=midnight(now), decided_at__gte=midnight(now))
    rows = Proposal.objects.filter(today, decided_by__startswith="person/")
    words = {
        "approved": track_record.APPROVED,
        "overridden": track_record.OVERRIDDEN,
        "rejected": track_record.REJECTED,
    }
    counts = {word: Count("pk", filter=answers) for word, answers in words.items()}
    found = rows.aggregate(total=Count("pk", filter=track_record.COUNTS["decided"]), **counts)
    return Tally(found["total"], [(found[word], word) for word in words])


def carried_out(now: datetime) -> Tally:
    """Return what was carried out today, and how it went."""
    day = midnight(now)
    done = Q(proposal__changed_at__gte=day, ended_at__gte=day, undoes=False)
    words = {
        "worked": Step.State.DONE,
        "failed": Step.State.FAILED,
        "unclear": Step.State.UNKNOWN,
        "taken back": Step.State.UNDONE,
    }
    ended = Step.objects.filter(done, state__in=words.values()).order_by()
    found = dict(ended.values_list("state").annotate(count=Count("pk")))
    kinds = [(found.get(state, 0), word) for word, state in words.items()]
    return Tally(sum(count for count, _ in kinds), kinds)


def trends(gauges: Iterable[Gauge], now: datetime) -> dict[Pair, list[float]]:
    """Return how domains drifted over a day."""
    return drift_queries.trends(((each.resource, each.controller) for each in gauges), now)
