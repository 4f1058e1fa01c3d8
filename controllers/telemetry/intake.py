"""Take events: each has its own verdict, a repeat counts once, all in one transaction."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from django.db import IntegrityError, transaction

from controllers.common import judgement_writes
from controllers.models import TelemetryEvent
from controllers.telemetry import event_counts, telemetry_ledger
from controllers.telemetry.arrivals import Arrival, Finding
from controllers.telemetry.contract_check import Judged, judge
from controllers.telemetry.contracts import rules_for
from resources.store import store
from resources.tables.bulk_tables import table_of
from resources.tables.models import AgentToken, Resource

EVENTS = table_of(TelemetryEvent)
MOST = 500
ATTEMPTS = 3

# Kept; kept and marked; known already; not taken.
Verdict = Literal["accepted", "flagged", "repeated", "refused"]
REUSED = Finding("name", "/id", "must be new: another event was told under it", "refuse")


class IntakeResult(NamedTuple):
    """What became of one event."""

    judged: Judged
    verdict: Verdict
    uid: str
    digest: str
    findings: tuple[Finding, ...]


def take(arrivals: Sequence[Arrival], *, token: AgentToken, now: datetime) -> list[IntakeResult]:
    """Take what can be taken of what an agent tells."""
    agent = token.agent
    rules = rules_for(agent.domain)
    judged = [judge(each, rules, agent, now) for each in arrivals]
    for _ in range(ATTEMPTS):
        try:
            with transaction.atomic():
                return write(judged, agent, now)
        except IntegrityError:
            # The same events arrived at the same moment: by now they are known.
            continue
    raise store.Stale("These events arrive faster than they can be told apart. Try again.")


def write(judged: Sequence[Judged], agent: Resource, now: datetime) -> list[IntakeResult]:
    """Keep what is new, count it, and tell the ledger of the batch and of what was wrong."""
    batch, taken = uuid.uuid4(), sorted_out(judged, agent)
    rows = [
        row_of(each, agent, batch, now)
        for each in taken
        if each.verdict in ("accepted", "flagged")
    ]
    judgement_writes.upsert(
        EVENTS, [[getattr(row, name) for name in EVENTS.names] for row in rows]
    )
    news = [each for each in taken if each.verdict != "repeated"]
    event_counts.count([(each.judged, each.verdict != "refused") for each in news], now)
    if news:
        telemetry_ledger.tell(batch, rows, [each.judged for each in news], agent, now)
    return taken


def sorted_out(judged: Sequence[Judged], agent: Resource) -> list[IntakeResult]:
    """Say what becomes of each event; one that is known already is not taken again."""
    known = known_among([each.arrival.uid for each in judged], agent)
    taken = []
    for each in judged:
        uid, told = each.arrival.uid or str(uuid.uuid4()), each.arrival.told()
        before = known.get(uid)
        if before is not None:
            same = before == told
            found = () if same else (REUSED,)
            taken.append(IntakeResult(each, "repeated" if same else "refused", uid, told, found))
            continue
        verdict = verdict_of(each)
        if verdict != "refused":
            known[uid] = told
        # What is only noted is not the sender's to know.
        said = tuple(found for found in each.findings if found.effect != "note")
        taken.append(IntakeResult(each, verdict, uid, told, said))
    return taken


def known_among(uids: Sequence[str], agent: Resource) -> dict[str, str]:
    """Return the digests of the events that an agent has told before, by its names for them."""
    named = [each for each in uids if each]
    if not named:
        return {}
    rows = TelemetryEvent.objects.filter(agent=agent.name, uid__in=named)
    return dict(rows.values_list("uid", "digest"))


def verdict_of(judged: Judged) -> Verdict:
    """Return what becomes of an event that is new."""
    if judged.refused:
        return "refused"
    return "flagged" if any(each.effect == "flag" for each in judged.findings) else "accepted"


def row_of(
    taken: IntakeResult, agent: Resource, batch: uuid.UUID, now: datetime
) -> TelemetryEvent:
    """Return the row of an event; what is personal in it is masked."""
    judged, arrival, contract = taken.judged, taken.judged.arrival, taken.judged.contract
    return TelemetryEvent(
        contract_id=contract.key if contract else None,
        agent=agent.name,
        domain=agent.domain,
        uid=taken.uid,
        # As both databases read it.
        batch=batch.hex,
        event=judged.event,
        category=arrival.category or (contract.category if contract else "log"),
        severity=arrival.severity or (contract.severity if contract else "") or "info",
        at=arrival.at or now,
        received_at=now,
        correlation_id=arrival.correlation_id,
        causation_id=arrival.causation_id,
        payload=judged.payload,
        digest=taken.digest,
        flags=judged.flags,
    )
