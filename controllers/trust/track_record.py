"""How what somebody proposes turns out: what people say of it, and whether it helps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, Q

from controllers.models import Proposal

LATELY = timedelta(days=90)

APPROVED = Q(answer__in=("approve", "break_glass", "undo"))
REJECTED = Q(answer__in=("reject", "accept"))
OVERRIDDEN = Q(answer="override")
COUNTS: Mapping[str, Q] = {
    "decided": APPROVED | REJECTED | OVERRIDDEN | Q(answer="adopt"),
    "approved": APPROVED,
    # Nobody was asked: the policy let it run.
    "by_policy": APPROVED & Q(lane="run"),
    "rejected": REJECTED,
    "overridden": OVERRIDDEN,
    "changed": ~Q(planned_digest__in=("", F("action_digest"))),
    "effective": Q(outcome="effective"),
    "ineffective": Q(outcome="ineffective"),
    "worse": Q(outcome="worse"),
}


@dataclass(frozen=True)
class Record:
    """What became of the proposals of one controller, agent or person since a time."""

    proposer: str
    since: datetime
    states: Mapping[str, int]
    decided: int
    approved: int
    by_policy: int
    rejected: int
    overridden: int
    # People edited the plan before it was decided.
    changed: int
    effective: int
    ineffective: int
    worse: int

    @property
    def proposals(self) -> int:
        """How many there were, whatever became of them."""
        return sum(self.states.values())

    @property
    def override_rate(self) -> float | None:
        """How many of those decided people replaced by something else; nothing of none."""
        return self.overridden / self.decided if self.decided else None


def of(proposer: str, now: datetime, since: datetime | None = None) -> Record:
    """Return the record of whoever proposes, such as `agent/scribe`."""
    since = since or now - LATELY
    counts = {name: Count("pk", filter=condition) for name, condition in COUNTS.items()}
    moved = Proposal.objects.filter(proposer=proposer, changed_at__gte=since, seeded=None)
    grouped = moved.order_by().values("state").annotate(proposals=Count("pk"), **counts)
    rows: list[dict[str, Any]] = [dict(row) for row in grouped]
    states = {row["state"]: row["proposals"] for row in rows}
    sums = {name: sum(row[name] for row in rows) for name in COUNTS}
    return Record(proposer, since, states, **sums)
