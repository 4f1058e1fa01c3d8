"""WATCH: which resources a controller looks after, and which of them it must look at now."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from datetime import datetime, timedelta

from controllers.engine.types import Controller, Judgement, Resource, Snapshot

# What was read of a resource, and what was concluded about it before.
Seen = tuple[Snapshot, Judgement | None]

# A controller of so few resources looks at all of them each time, as the specification says.
# One of more goes by what changed, and looks at everything once an hour.
FEW = 1_000
SLOW = timedelta(hours=1)


def matches(controller: Controller, resource: Resource) -> bool:
    """Tell whether a resource is of the controller's kind and carries every label it asks for."""
    if resource.kind != controller.kind:
        return False
    if not controller.labels:
        return True
    labels = resource.labels
    return all(labels.get(key) == value for key, value in controller.labels.items())


def is_due(
    controller: Controller, resource: Resource, judged: Judgement | None, now: datetime
) -> bool:
    """Tell whether a resource has to be judged: new, changed, or not within the interval."""
    if judged is None or (judged.generation, judged.version) != (
        resource.generation,
        resource.version,
    ):
        return True
    if judged.recheck_at is not None and judged.recheck_at <= now:
        return True
    return now - judged.evaluated_at >= controller.interval


def select(
    controller: Controller, seen: Iterable[Seen], now: datetime, forced: Container[int] | None
) -> Iterator[Seen]:
    """Keep what the controller looks after and was asked about or has not seen in its interval."""
    for each in seen:
        target, judged = each[0].target, each[1]
        if matches(controller, target) and (
            forced is None or target.key in forced or is_due(controller, target, judged, now)
        ):
            yield each


def resync_after(controller: Controller, watched: int) -> timedelta:
    """Return how long a controller may go by what changed before it looks at everything."""
    if controller.resync is not None:
        return max(controller.resync, controller.interval)
    return controller.interval if watched <= FEW else max(controller.interval, SLOW)
