"""What a run left behind, read without the product: tables, and two logs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

Query = Callable[[str], list[tuple[Any, ...]]]
Line = dict[str, Any]


class Event(NamedTuple):
    """One entry of the ledger."""

    id: int
    stream: str
    seq: int
    previous: str
    hash: str
    at: datetime
    event: str
    category: str
    severity: str
    actor: str
    subject: str
    correlation_id: str
    causation_id: str
    payload_digest: str
    payload: Any


class Proposal(NamedTuple):
    """One proposal as it stands."""

    id: int
    uid: str
    state: str
    held: str
    revision: int
    changed_at: datetime


class Decision(NamedTuple):
    """One answer."""

    id: int
    proposal: int
    revision: int
    actor: str
    answer: str


class Step(NamedTuple):
    """One action that was carried out, or was to be."""

    id: int
    proposal: int
    operation: str
    executor: str
    idempotent: bool
    state: str
    key: str
    epoch: int
    attempts: int
    authority: Any


class Hold(NamedTuple):
    """One hold."""

    id: int
    kind: str
    scope: str
    ended_at: datetime | None


@dataclass(frozen=True)
class Facts:
    """Everything the checker looks at."""

    events: list[Event] = field(default_factory=list)
    heads: dict[str, tuple[int, str]] = field(default_factory=dict)
    proposals: dict[int, Proposal] = field(default_factory=dict)
    decisions: dict[int, Decision] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    holds: dict[int, Hold] = field(default_factory=dict)
    # Since when cycles are open that nobody has ended.
    cycles: list[datetime] = field(default_factory=list)
    # The number in each agent's stored status.
    statuses: dict[str, int] = field(default_factory=dict)
    clients: list[Line] = field(default_factory=list)
    calls: list[Line] = field(default_factory=list)


EVENTS = """SELECT id, stream, seq, previous, hash, at, event, category, severity, actor, subject,
    correlation_id, causation_id, payload_digest, payload FROM resources_ledgerevent
    ORDER BY stream, seq"""
HEADS = "SELECT name, seq, head FROM resources_ledgerstream"
PROPOSALS = "SELECT id, uid, state, held, revision, changed_at FROM controllers_proposal"
DECISIONS = "SELECT id, proposal_id, revision, actor, answer FROM controllers_decision"
STEPS = """SELECT id, proposal_id, operation, executor, idempotent, state, key, epoch, attempts,
    authority FROM controllers_step"""
HOLDS = "SELECT id, kind, scope, ended_at FROM controllers_hold"
CYCLES = "SELECT started_at FROM controllers_cycle WHERE finished_at IS NULL"
STATUSES = "SELECT name, status FROM resources_resource WHERE kind = 'Agent'"


def read(query: Query, clients: list[Line], calls: list[Line]) -> Facts:
    """Read everything; the tables by plain SQL."""
    statuses = {name: plain(status) for name, status in query(STATUSES)}
    return Facts(
        events=[event_of(row) for row in query(EVENTS)],
        heads={name: (seq, head) for name, seq, head in query(HEADS)},
        proposals={row[0]: proposal_of(row) for row in query(PROPOSALS)},
        decisions={row[0]: Decision._make(row) for row in query(DECISIONS)},
        steps=[Step._make((*row[:-1], plain(row[-1]))) for row in query(STEPS)],
        holds={row[0]: Hold._make((*row[:3], moment_of(row[3]))) for row in query(HOLDS)},
        cycles=[at for (row,) in query(CYCLES) if (at := moment_of(row)) is not None],
        statuses={name: each.get("queueLength", 0) for name, each in statuses.items()},
        clients=clients,
        calls=calls,
    )


def event_of(row: tuple[Any, ...]) -> Event:
    """Read an entry."""
    return Event._make((*row[:5], moment_of(row[5]), *row[6:-1], plain(row[-1])))


def proposal_of(row: tuple[Any, ...]) -> Proposal:
    """Read a proposal."""
    return Proposal._make((row[0], str(row[1]), *row[2:5], moment_of(row[5])))


def plain(value: Any) -> Any:
    """Return a document: one database keeps it as text."""
    return json.loads(value) if isinstance(value, str | bytes) else value


def moment_of(value: Any) -> datetime | None:
    """Return a time: one database keeps it as text."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    found: datetime | None = value
    return found
