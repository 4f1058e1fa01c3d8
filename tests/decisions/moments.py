"""How everything stands at a moment, read from the tables as the database keeps them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC
from functools import lru_cache
from typing import Any, NamedTuple

from django.db import connection

Row = dict[str, Any]
Rows = dict[int, Row]

PROPOSAL = (
    "id, uid, controller_id, resource_id, proposer, state, revision, actions, action_digest,"
    " basis, basis_digest, lane, risk, reversible, people, expires_at, execute_before,"
    " decided_by, answer, undoing, fence, review_by, policy"
)
STEP = (
    "id, proposal_id, sequence, undoes, operation, parameters, executor, state, key, fence,"
    " result, before"
)
DECISION = "id, proposal_id, revision, person_id, behalf_id, actor, answer, counts, shown, at"
HOLD = "id, uid, kind, scope, starts_at, ends_at, ended_at, ended_by, epoch, proposal_id"
RESOURCE = "id, uid, kind, name, domain, spec, status, generation, resource_version"
ENTRY = "id, stream, seq, event, actor, payload"
TIMES = ("expires_at", "execute_before", "review_by", "at", "starts_at", "ends_at", "ended_at")
DOCUMENTS = ("actions", "basis", "parameters", "result", "before", "spec", "payload", "policy")


class Snapshot(NamedTuple):
    """How everything stood at a moment."""

    proposals: Rows
    steps: Rows
    decisions: Rows
    holds: Rows
    resources: Rows
    epoch: int
    # The last entry of the ledger.
    last: int


@lru_cache(maxsize=4_096)
def parsed(text: str) -> Any:
    return json.loads(text)


def read(columns: str, table: str, more: str = "") -> Iterator[Row]:
    """Read rows as the database keeps them."""
    names = [each.strip() for each in columns.split(",")]
    cast = ", ".join(f'"{name}"' for name in names)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {cast} FROM {table} {more} ORDER BY id")  # noqa: S608
        found = cursor.fetchall()
    for values in found:
        row = dict(zip(names, values, strict=True))
        for name in TIMES:
            if row.get(name) is not None:
                row[name] = row[name].replace(tzinfo=UTC)
        for name in DOCUMENTS:
            if isinstance(row.get(name), str):
                row[name] = parsed(row[name])
        yield row


def keyed(columns: str, table: str) -> Rows:
    return {row["id"]: row for row in read(columns, table)}


def look(last: int) -> tuple[Snapshot, list[Row]]:
    """Read everything, and what the ledger has to tell since an entry."""
    entries = list(read(ENTRY, "resources_ledgerevent", f"WHERE id > {last}"))
    counted = next(read("id, value", "controllers_epoch"), {"value": 0})
    snapshot = Snapshot(
        keyed(PROPOSAL, "controllers_proposal"),
        keyed(STEP, "controllers_step"),
        keyed(DECISION, "controllers_decision"),
        keyed(HOLD, "controllers_hold"),
        keyed(RESOURCE, "resources_resource"),
        counted["value"],
        entries[-1]["id"] if entries else last,
    )
    return snapshot, entries


def digest(value: Any) -> str:
    """Name a value: its canonical JSON, hashed."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def spelled(uid: Any) -> str:
    """Spell a key as people see it; SQLite keeps it without hyphens."""
    text = str(uid)
    if "-" in text:
        return text
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
