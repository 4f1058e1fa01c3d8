"""What the ledger hears of events: a digest of each batch, and each kind of wrong once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from controllers.models import TelemetryEvent
from controllers.telemetry.arrivals import Effect, Finding
from controllers.telemetry.contract_check import Judged
from resources.documents.actor import Actor
from resources.documents.canonical import digest
from resources.store import announcements
from resources.tables import ledger
from resources.tables.models import Resource

# How the ledger names what is wrong.
EVENTS: Mapping[str, str] = {
    "source": "telemetry.source-refused",
    "pii": "telemetry.personal-data-found",
    "injection": "telemetry.injection-detected",
}
VIOLATED = "telemetry.contract-violated"
ACTIONS: Mapping[Effect, str] = {"refuse": "refused", "flag": "flagged", "note": "noted"}
SEVERITIES: Mapping[Effect, str] = {"refuse": "error", "flag": "warning", "note": "info"}
# So many names of events one entry lists.
MOST_NAMES = 20
# What nobody declared is marked, and is nobody's fault.
NO_FAULT = ("uncontracted",)

Group = tuple[str, str, Effect, str, str]


def tell(
    batch: UUID,
    rows: Sequence[TelemetryEvent],
    judged: Sequence[Judged],
    agent: Resource,
    now: datetime,
) -> None:
    """Write one entry for the batch, and one for each kind of thing that was wrong in it."""
    entries = [received(batch, rows, judged, agent), *violations(judged, agent)]
    ledger.append(entries, actor=Actor("agent", agent.name), now=now)
    announcements.announce()


def stream_of(agent: Resource) -> str:
    """Return the chain that tells what an agent told."""
    return f"telemetry/{agent.uid}"


def received(
    batch: UUID, rows: Sequence[TelemetryEvent], judged: Sequence[Judged], agent: Resource
) -> ledger.Entry:
    """Say what arrived; the digest is over the kept events in their order."""
    names = Counter(each.event for each in rows)
    payload = {
        "batch": str(batch),
        "count": len(rows),
        "refused": sum(each.refused for each in judged),
        "digest": digest([each.digest for each in rows]),
        "events": dict(names.most_common(MOST_NAMES)),
    }
    return ledger.Entry(
        stream_of(agent), "telemetry.received", str(agent), payload, category="trace"
    )


def violations(judged: Iterable[Judged], agent: Resource) -> list[ledger.Entry]:
    """Say what was wrong: of each kind, event and consequence once, with how often."""
    found: dict[Group, list[Finding]] = defaultdict(list)
    contracts: dict[Group, str] = {}
    for each in judged:
        for finding in each.findings:
            if finding.code in NO_FAULT and finding.effect != "refuse":
                continue
            said = (finding.policy, finding.pattern)
            group: Group = (each.event, finding.code, finding.effect, *said)
            found[group].append(finding)
            contracts[group] = each.contract.name if each.contract else ""
    return [entry(group, found[group], contracts[group], agent) for group in sorted(found)]


def entry(group: Group, found: Sequence[Finding], contract: str, agent: Resource) -> ledger.Entry:
    """Write one kind of violation; never what was sent."""
    event, code, effect, policy, pattern = group
    payload: dict[str, Any] = {
        "agent": agent.name,
        "eventName": event,
        "contract": contract,
        "violation": code,
        "action": ACTIONS[effect],
        "count": len(found),
        "pointer": found[0].pointer,
        "detail": found[0].message,
        "policyName": policy,
        "pattern": pattern,
    }
    said = {name: value for name, value in payload.items() if value != ""}
    severity = "critical" if code == "injection" and effect == "refuse" else SEVERITIES[effect]
    return ledger.Entry(
        stream_of(agent),
        EVENTS.get(code, VIOLATED),
        str(agent),
        said,
        category="alert",
        severity=severity,
    )
