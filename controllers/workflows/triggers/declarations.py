"""What is declared to start runs, compiled once for each generation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from controllers.engine.document_values import section, text
from controllers.engine.programs import Ask, compile_condition
from controllers.engine.terms import Document
from controllers.telemetry import canonical
from controllers.telemetry.contracts import Cache
from resources.documents.expressions import read_condition
from resources.documents.expressions.syntax import Invalid
from resources.documents.schedules import parse
from resources.tables import ledger
from resources.tables.models import Resource


@dataclass(frozen=True, eq=False)
class Trigger:
    """What starts the runs of one workflow; an event, a schedule, or both."""

    workflow: int
    uid: UUID
    name: str
    domain: str
    created_at: datetime
    event: str
    condition: Ask | None
    schedule: str

    def fits(self, payload: Mapping[str, Any], now: datetime) -> bool:
        """Tell whether its condition is true of an event; what is unknown is not true."""
        if self.condition is None:
            return True
        answer, _ = self.condition({"payload": payload, "now": ledger.instant(now)})
        return answer is True


def trigger_of(row: Resource) -> Trigger | None:
    """Read the trigger of a workflow, if it has one."""
    said = section(row.spec, "trigger")
    event, schedule = canonical(text(said.get("event"))), text(said.get("schedule"))
    if parse(schedule) is None:
        schedule = ""
    if not event and not schedule:
        return None
    condition = condition_of(text(said.get("condition")))
    return Trigger(
        row.pk, row.uid, row.name, row.domain, row.created_at, event, condition, schedule
    )


def condition_of(written: str) -> Ask | None:
    """Compile a condition; one that nobody can read is never true."""
    if not written:
        return None
    try:
        return compile_condition(read_condition(written).condition).check
    except Invalid:
        return unknown


def unknown(_: Document) -> tuple[bool | None, Document]:
    """Answer a question that cannot be asked."""
    return None, {}


TRIGGERS = Cache("Workflow", trigger_of)


def by_event() -> dict[str, list[Trigger]]:
    """Return what events start, by their names."""
    found: dict[str, list[Trigger]] = defaultdict(list)
    for each in every():
        if each.event:
            found[each.event].append(each)
    return found


def every() -> Iterable[Trigger]:
    """Return all triggers that are declared now."""
    found: list[Trigger] = TRIGGERS.read()
    return found
