"""Every channel that is named: who names it, whether a service stands behind it, how it goes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Q

from controllers.models import Channel, Delivery
from resources.tables.models import Resource

# The kinds whose documents name channels, and where they do.
NAMING = ("Budget", "Controller", "Governance", "Telemetry")
PLACES = ("channel", "channels")
LATELY = timedelta(days=30)


@dataclass(frozen=True)
class Named:
    """One channel: its service if there is one, the documents that name it, what went out."""

    name: str
    channel: Channel | None
    by: tuple[str, ...] = ()
    sent_at: datetime | None = None
    waiting: int = 0
    given_up: int = 0
    in_app: int = 0

    @property
    def failing(self) -> bool:
        """Whether its service did not take the last message."""
        return self.channel is not None and self.channel.failed_at is not None


def named(now: datetime) -> list[Named]:
    """Return every channel that a document names or a service stands behind, by name."""
    mapped = {each.name: each for each in Channel.objects.defer("address")}
    by, lately = naming(), traffic(now)
    return [
        Named(name, mapped.get(name), tuple(by.get(name, ())), **lately.get(name, {}))
        for name in sorted({*mapped, *by})
    ]


def naming() -> dict[str, list[str]]:
    """Return which documents name each channel."""
    rows = Resource.objects.filter(kind__in=NAMING, deleted_at=None).order_by("kind", "name")
    found: dict[str, list[str]] = defaultdict(list)
    for kind, name, spec in rows.values_list("kind", "name", "spec").iterator():
        for channel in dict.fromkeys(channels_in(spec)):
            found[channel].append(f"{kind.lower()}/{name}")
    return found


def channels_in(declared: Any) -> Iterator[str]:
    """Yield the channels that a declaration names, wherever it does."""
    if isinstance(declared, list):
        for each in declared:
            yield from channels_in(each)
    elif isinstance(declared, dict):
        for key, value in declared.items():
            texts = value if isinstance(value, list) else [value]
            if key in PLACES:
                yield from (each for each in texts if isinstance(each, str) and each)
            yield from channels_in(value)


def traffic(now: datetime) -> dict[str, dict[str, Any]]:
    """Return what became of the messages to each channel lately."""
    state = Delivery.State
    rows = Delivery.objects.filter(created_at__gt=now - LATELY).exclude(channel="")
    counted = (
        rows.order_by()
        .values("channel")
        .annotate(
            sent_at=Max("sent_at"),
            waiting=Count("pk", filter=Q(state=state.WAITING)),
            given_up=Count("pk", filter=Q(state=state.GIVEN_UP)),
            in_app=Count("pk", filter=Q(state=state.IN_APP)),
        )
    )
    found: dict[str, dict[str, Any]] = {}
    for each in counted:
        row = dict(each)
        found[str(row.pop("channel"))] = row
    return found
