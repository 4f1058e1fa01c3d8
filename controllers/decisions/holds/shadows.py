"""What controllers would have done under a hold: one row for each plan, counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from controllers.common import judgement_writes


class Shadowed(NamedTuple):
    """A plan that a hold kept from happening."""

    hold: int
    controller: int
    resource: int
    digest: str
    actions: Sequence[dict[str, Any]]
    explanation: str = ""


@dataclass(frozen=True)
class CountingTable(judgement_writes.Table):
    """A table whose rows count how often they were written."""

    def conflict(self) -> str:
        """End the statement: a row that exists counts up and keeps when it was first written."""
        unique = ", ".join(self.unique)
        again = "actions = excluded.actions, explanation = excluded.explanation"
        counted = f"last_at = excluded.last_at, times = {self.name}.times + 1"
        # Only names of our own columns.
        return f"ON CONFLICT ({unique}) DO UPDATE SET {again}, {counted}"  # nosec B608


SHADOWS = CountingTable(
    "controllers_shadow",
    (
        ("hold_id", "bigint"),
        ("controller_id", "bigint"),
        ("resource_id", "bigint"),
        ("action_digest", "text"),
        ("actions", "json"),
        ("explanation", "text"),
        ("first_at", "timestamptz"),
        ("last_at", "timestamptz"),
        ("times", "integer"),
    ),
    ("hold_id", "controller_id", "resource_id", "action_digest"),
)


def shadow(rows: Iterable[Shadowed], now: datetime) -> int:
    """Keep what would have happened, in the caller's transaction; return how many plans."""
    # One statement may not write a row twice.
    plans = {each[:4]: each for each in rows}
    return judgement_writes.upsert(
        SHADOWS,
        [
            (*key, list(each.actions), each.explanation, now, now, 1)
            for key, each in sorted(plans.items())
        ],
    )
