"""WATCH: which resources a controller looks after, and which of them it must look at now."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from controllers.engine.terms import (
    Case,
    Controller,
    Episode,
    Glimpse,
    Judgement,
    Renewed,
    Resource,
    Snapshot,
)

# What was read of a resource, and what was concluded about it before.
JudgedSnapshot = tuple[Snapshot, Judgement | None]
# A quick look: the same holds as before, if that is certain.
QuickCheck = Callable[[Glimpse], Renewed | None]
# A look at one of which no conditions were read, because they are as they were: what holds now.
Weigh = Callable[[tuple[Snapshot, Judgement]], Case | Renewed | None]

# A controller of so few resources looks at all of them each time, as the specification says.
# One of more goes by what changed, and looks at everything once an hour.
FEW = 1_000
SLOW = timedelta(hours=1)


@runtime_checkable
class Sights(Protocol):
    """Resources in sight, each read and decoded only as far as it is looked at."""

    def __iter__(self) -> Iterator[JudgedSnapshot]:
        """Look closely at each that no glance has settled."""

    def glanced(self, look: QuickCheck) -> Iterator[Renewed]:
        """Look quickly at each that was well, and yield what that settles."""

    def reweighed(self, weigh: Weigh) -> Iterator[Case | Renewed]:
        """Weigh those that this did not settle, and yield what that does."""


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


def is_due_at_a_glance(controller: Controller, seen: Glimpse, now: datetime) -> bool:
    """Tell the same of a resource of which only this much was read."""
    if seen.version != seen.judged_version or seen.evaluated_at is None:
        return True
    return now - seen.evaluated_at >= controller.interval


def is_chosen(
    controller: Controller, seen: JudgedSnapshot, now: datetime, forced: Container[int] | None
) -> bool:
    """Tell whether the controller looks after it, and was asked or has not seen it lately."""
    target, judged = seen[0].target, seen[1]
    return matches(controller, target) and (
        forced is None or target.key in forced or is_due(controller, target, judged, now)
    )


def revived(seen: JudgedSnapshot) -> JudgedSnapshot:
    """Let what was given up be tried again: a person asked, or the controller is another now."""
    snapshot, judged = seen
    if judged is None or judged.plain or not judged.episode.parked:
        return seen
    return snapshot, judged.whole()._replace(episode=Episode())


def resync_after(controller: Controller, watched: int) -> timedelta:
    """Return how long a controller may go by what changed before it looks at everything."""
    if controller.resync is not None:
        return max(controller.resync, controller.interval)
    return controller.interval if watched <= FEW else max(controller.interval, SLOW)
