"""A large organisation in a moment: rows as the store and the loop would have left them."""

from __future__ import annotations

from datetime import datetime, timedelta

from controllers.models import DriftSample, Judgement
from resources.tables.models import Resource
from tests.resources.making import apply, live, made

BATCH = 2_000


def watched(now: datetime, agents: int, every: int = 10, first: int = 0) -> Resource:
    """Add a controller and agents it watches, of which each `every`th drifts; return it."""
    spec = {"targetKind": "Agent", "reconcileInterval": "5m", "driftThreshold": 0.2}
    apply(now, made("Controller", "keeper", spec))
    keeper = live("Controller", "keeper")
    rows = [agent(now, number) for number in range(first, first + agents)]
    Resource.objects.bulk_create(rows, batch_size=BATCH)
    judged = [judgement(keeper, each, place, every) for place, each in enumerate(rows)]
    Judgement.objects.bulk_create(judged, batch_size=BATCH)
    samples = [
        DriftSample(
            controller=keeper,
            resource=each.resource,
            at=now - timedelta(hours=1),
            score=each.score,
            drifted=each.drifted,
        )
        for each in judged
    ]
    DriftSample.objects.bulk_create(samples, batch_size=BATCH)
    return keeper


def agent(now: datetime, number: int) -> Resource:
    """Return an agent that is not stored yet."""
    spec = {"domain": f"pier-{number % 7}", "type": "supervised", "purpose": "Plan berths."}
    return Resource(
        kind="Agent",
        name=f"gull-{number:06}",
        domain=spec["domain"],
        spec=spec | {"constraints": ["Never at night."] * 8},
        status={"state": "running", "errorRate": 0.01},
        resource_version=1_000_000 + number,
        declared_version=1_000_000 + number,
        created_at=now,
        updated_at=now,
        reported_at=now,
    )


def judgement(keeper: Resource, row: Resource, place: int, every: int) -> Judgement:
    """Return what the controller would have concluded."""
    drifts = place % every == 0
    now = row.created_at
    return Judgement(
        controller=keeper,
        resource=row,
        generation=1,
        version=row.resource_version,
        score=0.2 + (place % 800) / 1_000 if drifts else 0.01,
        drifted=drifts,
        status="False" if drifts else "True",
        reason="DriftDetected" if drifts else "Converged",
        message="errorRate is 0.06 (wanted <= 0.02 ratio)." if drifts else "Drift is below 0.2.",
        urgency="low",
        since=now,
        evaluated_at=now,
    )
