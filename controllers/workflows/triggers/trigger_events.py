"""What may start a run: an event that an agent told, or one of the ledger."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast
from uuid import UUID

from controllers.models import TelemetryEvent
from controllers.telemetry import canonical
from controllers.workflows.triggers.declarations import Trigger
from resources.documents.actor import Actor, ActorKind
from resources.tables.models import LedgerEvent
from resources.tables.visibility import SHARED

RECEIVED = "telemetry.received"
HOSTILE = "injection"


class Happening(NamedTuple):
    """One event, whoever told it."""

    key: str
    event: str
    payload: Mapping[str, Any]
    story: str
    behind: Actor
    at: datetime
    # What it is about, when the ledger tells it.
    subject: str = ""
    # Whom an agent speaks for where no contract lets it speak to others.
    domain: str | None = None
    hostile: bool = False

    def reaches(self, trigger: Trigger) -> bool:
        """Tell whether it may start a workflow: one that was there, not itself, and is near."""
        there = self.at >= trigger.created_at
        itself = self.subject == f"workflow/{trigger.name}"
        near = self.domain is None or trigger.domain in (self.domain, *SHARED)
        return there and near and not itself


def spelled(names: Collection[str]) -> list[str]:
    """Return how the ledger may spell names of events, with `_` in the place of `-`."""
    ours = [
        each.replace("system.controller_", "controller.", 1)
        for each in names
        if each.startswith("system.controller_")
    ]
    return [*names, *ours]


def of_ledger(events: Sequence[LedgerEvent], wanted: Collection[str]) -> Iterator[Happening]:
    """Yield what happened, in the order of the ledger; batches yield what agents told."""
    told = told_in([each for each in events if each.event == RECEIVED], wanted)
    for each in events:
        name = canonical(each.event)
        if name in wanted:
            kind, _, who = each.actor.partition("/")
            yield Happening(
                f"event/{each.pk}",
                name,
                each.payload,
                each.correlation_id,
                Actor(cast(ActorKind, kind), who),
                each.at,
                subject=each.subject,
            )
        for row in told.get(str(each.payload.get("batch")), ()):
            yield of_agent(row, each)


def told_in(
    batches: Sequence[LedgerEvent], wanted: Collection[str]
) -> dict[str, list[TelemetryEvent]]:
    """Return what agents told in some batches, as far as somebody waits for it."""
    keys = [UUID(each.payload["batch"]) for each in batches]
    if not keys:
        return {}
    rows = TelemetryEvent.objects.filter(
        batch__in=keys, event__in=wanted, received_at__gte=min(each.at for each in batches)
    )
    found: dict[str, list[TelemetryEvent]] = {}
    for row in rows.order_by("pk"):
        found.setdefault(str(row.batch), []).append(row)
    return found


def of_agent(row: TelemetryEvent, batch: LedgerEvent) -> Happening:
    """Return what an agent told; without a story of its own it belongs to that of its batch."""
    return Happening(
        f"telemetry/{row.pk}",
        row.event,
        row.payload,
        row.correlation_id or batch.correlation_id,
        Actor("agent", row.agent),
        row.received_at,
        domain=row.domain if row.contract_id is None else None,
        hostile=HOSTILE in row.flags.split(","),
    )
