"""How far resources are from what is declared: now, and over time; read for many at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import OuterRef, QuerySet, Subquery

from controllers.models import DriftSample, Judgement
from controllers.workqueue import compiled_controllers
from resources.tables.batches import batches

DAY = timedelta(days=1)
FAR = 0.5
POINTS = 24

Pair = tuple[int, int]


@dataclass(frozen=True)
class Gauge:
    """The drift of one resource under the controller that finds it furthest off."""

    resource: int
    kind: str
    name: str
    domain: str
    controller: int
    controller_name: str
    score: float | None
    limit: float
    status: str
    reason: str
    message: str
    dimensions: Mapping[str, float]

    @property
    def tone(self) -> str:
        """The colour of it: on target, drifting or far off; grey when it is not known."""
        return tone(self.score, self.limit)

    @property
    def word(self) -> str:
        """The word for it."""
        return word(self.score, self.limit)

    @property
    def share(self) -> float:
        """How far it is off, as a part of its limit."""
        return (self.score or 0) / self.limit if self.limit else self.score or 0


def tone(score: float | None, limit: float) -> str:
    """Return the tone of a score beside its limit."""
    if score is None:
        return "mute"
    return "ok" if score < limit else "danger" if score >= FAR else "warn"


def word(score: float | None, limit: float) -> str:
    """Return the word of a score beside its limit."""
    words = {"mute": "Not measured", "ok": "On target", "warn": "Drifting", "danger": "Far off"}
    return words[tone(score, limit)]


def limits() -> dict[int, float]:
    """Return the drift that each controller lets pass."""
    return {each.key: each.threshold for each in compiled_controllers.every()}


def gauges(judged: QuerySet[Judgement]) -> list[Gauge]:
    """Return judgements of living controllers as gauges, one for each resource: the worst."""
    rows = judged.filter(controller__deleted_at=None, resource__deleted_at=None)
    known = limits()
    found: dict[int, Gauge] = {}
    for each in rows.select_related("resource", "controller").defer(
        "resource__spec", "resource__status", "controller__spec", "controller__status", "evidence"
    ):
        gauge = gauge_of(each, known.get(each.controller_id, 1.0))
        other = found.get(gauge.resource)
        if other is None or gauge.share > other.share:
            found[gauge.resource] = gauge
    return list(found.values())


def gauge_of(judgement: Judgement, limit: float) -> Gauge:
    """Return one judgement as a gauge."""
    row = judgement.resource
    return Gauge(
        row.pk,
        row.kind,
        row.name,
        row.domain,
        judgement.controller_id,
        judgement.controller.name,
        judgement.score,
        limit,
        judgement.status,
        judgement.reason,
        judgement.message,
        judgement.dimensions,
    )


def of(resources: Iterable[int]) -> dict[int, Gauge]:
    """Return the gauges of some resources."""
    found: dict[int, Gauge] = {}
    for batch in batches(sorted(set(resources))):
        judged = Judgement.objects.filter(resource__in=batch)
        found |= {each.resource: each for each in gauges(judged)}
    return found


def domains() -> list[Gauge]:
    """Return the domains that somebody measures, those furthest off first."""
    found = gauges(Judgement.objects.filter(resource__kind="Domain"))
    return sorted(found, key=lambda each: (-each.share, each.name))


def trends(
    pairs: Iterable[Pair], now: datetime, span: timedelta = DAY, points: int = POINTS
) -> dict[Pair, list[float]]:
    """Return the drift of pairs of resource and controller over a time, in equal steps.

    A point holds what was known at its moment; before the first sample there is none.
    """
    wanted, since = set(pairs), now - span
    keys = {resource for resource, _ in wanted}
    found: dict[Pair, list[tuple[datetime, float]]] = {pair: [] for pair in wanted}
    for batch in batches(sorted(keys)):
        for resource, controller, score in before(batch, since):
            if (resource, controller) in found and score is not None:
                found[resource, controller].append((since, score))
        within = DriftSample.objects.filter(resource__in=batch, at__gt=since, at__lte=now)
        fields = ("resource", "controller", "at", "score")
        for resource, controller, at, score in within.order_by("at", "pk").values_list(*fields):
            if (resource, controller) in found and score is not None:
                found[resource, controller].append((at, score))
    return {pair: steps(samples, since, span, points) for pair, samples in found.items()}


def before(resources: Sequence[int], since: datetime) -> Iterable[tuple[int, int, float | None]]:
    """Return what was known of each pair when a time began."""
    earlier = DriftSample.objects.filter(
        resource=OuterRef("resource"), controller=OuterRef("controller"), at__lte=since
    ).order_by("-at", "-pk")
    judged = Judgement.objects.filter(resource__in=resources)
    last = judged.annotate(then=Subquery(earlier.values("score")[:1]))
    return last.values_list("resource", "controller", "then")


def steps(
    samples: Sequence[tuple[datetime, float]], since: datetime, span: timedelta, points: int
) -> list[float]:
    """Return what was known at equally distant moments, the last one now."""
    found: list[float] = []
    place, known = 0, None
    for number in range(points):
        moment = since + span * (number + 1) / points
        while place < len(samples) and samples[place][0] <= moment:
            known = samples[place][1]
            place += 1
        if known is not None:
            found.append(known)
    return found
