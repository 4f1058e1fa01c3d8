"""What a target kind knows: what is desired of it, what is observed, and what would close the gap.

Each module of `targets` makes one. Every function is pure; what a target has no word for it leaves
out, and that dimension then has no data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from controllers.engine.terms import (
    Compliance,
    Condition,
    Difference,
    Document,
    Drift,
    Glance,
    Reading,
    Related,
    Snapshot,
    Spend,
    Step,
)

# Name, spec and status of a resource, what it is measured against, and the time.
Measure = Callable[[str, Document, Document, Related, datetime], Glance | None]


def _nothing(_: Snapshot, __: datetime) -> tuple[()]:
    return ()


def _no_steps(_: Snapshot, __: Drift, ___: datetime) -> tuple[()]:
    return ()


def _never(_: Snapshot, __: datetime) -> None:
    return None


@dataclass(frozen=True, kw_only=True, eq=False)
class Target:
    """One target kind of the specification."""

    kind: str
    # Kinds of related resources it is measured against; WATCH loads them with it.
    reads: tuple[str, ...] = ()
    kpis: Callable[[Snapshot, datetime], Sequence[Reading]] = _nothing
    # The same at a quick look: how many of them are met for certain, and the readings of the rest.
    unmet: Callable[[Snapshot, datetime], tuple[int, Sequence[Reading]]] | None = None
    # All of it at a glance, from name, spec and status; None asks for a closer look. Conditions
    # then count for nothing but health.
    glance: Measure | None = None
    spending: Callable[[Snapshot, datetime], Sequence[Spend]] = _nothing
    compliance: Callable[[Snapshot, datetime], Sequence[Compliance]] = _nothing
    # Conditions worked out from the status; one that was reported under the same type wins.
    observations: Callable[[Snapshot, datetime], Sequence[Condition]] = _nothing
    fields: Callable[[Snapshot, datetime], Sequence[Difference]] = _nothing
    # Operations that would close the gap, the most helpful first.
    steps: Callable[[Snapshot, Drift, datetime], Sequence[Step]] = _no_steps
    # One sentence for people: what is wrong, in the words of this kind.
    explain: Callable[[Snapshot, Drift], str]
    # When the clock alone may change the outcome next.
    recheck: Callable[[Snapshot, datetime], datetime | None] = _never
