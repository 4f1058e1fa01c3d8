"""The loop's rows as plain values, in the API's spelling."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from controllers import watchdog
from controllers.engine.types import Controller
from controllers.models import (
    Alert,
    Cycle,
    Delivery,
    DriftSample,
    Judgement,
    Proposal,
    Runtime,
    WorkItem,
)
from controllers.operating import Preview
from resources.kind import Document
from resources.ledger import instant
from resources.models import Resource

HIDDEN = "It is about a resource that you may not see."


def cycle_summary(cycle: Cycle, controller: Resource) -> Document:
    """Write what a cycle came to."""
    found: Document = {
        "controller": str(controller),
        "number": cycle.number,
        "outcome": cycle.outcome or "running",
        "full": cycle.full,
        "reasons": [each.name.lower() for each in WorkItem.Reason if cycle.reasons & each],
        "requestedBy": cycle.requested_by,
        "message": cycle.message,
        "mode": cycle.mode,
        "generation": cycle.generation,
        "revision": str(cycle.revision),
        "holder": cycle.holder,
        "correlationId": cycle.correlation_id,
        "startedAt": instant(cycle.started_at),
        "counts": cycle.counts,
        "times": cycle.times,
    }
    if cycle.finished_at is not None:
        found |= {"finishedAt": instant(cycle.finished_at), "durationMs": duration(cycle)}
    return {key: value for key, value in found.items() if value != ""}


def duration(cycle: Cycle) -> int:
    """Return how many milliseconds a cycle has taken."""
    lasted = (cycle.finished_at or cycle.started_at) - cycle.started_at
    return max(0, round(lasted.total_seconds() * 1000))


def mentioned(cycle: Cycle) -> set[str]:
    """Return the resources that the record of a cycle names."""
    named = {str(each["target"]) for each in (*cycle.hooks, *cycle.actions)}
    return named | {blamed(cycle)} - {""}


def blamed(cycle: Cycle) -> str:
    """Return the resource that the error of a cycle begins with, if it does."""
    first = cycle.error.partition(": ")[0]
    return first if "/" in first and " " not in first else ""


def cycle_record(cycle: Cycle, controller: Resource, seen: set[str]) -> Document:
    """Write everything about a cycle, as far as it is about what may be seen."""
    found = cycle_summary(cycle, controller)
    found["hooks"] = [each for each in cycle.hooks if each["target"] in seen]
    found["actions"] = [each for each in cycle.actions if each["target"] in seen]
    if cycle.error:
        known = not blamed(cycle) or blamed(cycle) in seen
        message = cycle.error if known else HIDDEN
        found["error"] = {"phase": cycle.phase, "message": message}
    return found | {"result": result(cycle, found)}


def result(cycle: Cycle, record: Document) -> Document:
    """Sum a cycle up in seven fields: when, what was found, what was decided, what failed."""
    failures = [
        f"{each['target']}: {each['reason']}"
        for each in record["actions"]
        if each["result"] == "failure"
    ]
    error = record.get("error", {}).get("message")
    return {
        "timestamp": instant(cycle.started_at),
        "resourcesFound": cycle.counts.get("watched", 0),
        "diffsDetected": cycle.counts.get("drifted", 0),
        "decisionsMade": cycle.counts.get("actions", 0),
        "executionErrors": list(dict.fromkeys([*failures, *([error] if error else [])])),
        "durationMs": duration(cycle),
        "decisions": record["actions"],
    }


def preview(found: Preview) -> Document:
    """Write what a cycle would find and do."""
    document: Document = {
        "controller": f"controller/{found.controller}",
        "dryRun": True,
        "counts": found.counts,
        "resources": found.resources,
    }
    return document | ({"blocked": found.blocked} if found.blocked else {})


def drift(
    judgement: Judgement, controller: Controller | None, now: datetime, version: int
) -> Document:
    """Write what a controller last concluded about a resource, and how old that is."""
    runtime: Runtime | None = getattr(judgement.controller, "runtime", None)
    stale = is_stale(runtime, controller, now)
    return {
        "controller": str(judgement.controller),
        "score": judgement.score,
        "threshold": controller.threshold if controller else None,
        "drifted": judgement.drifted,
        "status": "Unknown" if stale else judgement.status,
        "reason": "ControllerStalled" if stale else judgement.reason,
        "message": judgement.message,
        "urgency": judgement.urgency,
        "dimensions": judgement.dimensions,
        "evidence": judgement.evidence,
        "since": instant(judgement.since),
        "generation": judgement.generation,
        "judgedVersion": str(judgement.version),
        "evaluatedAt": instant(judgement.evaluated_at),
        "lastEvaluated": instant(last_evaluated(judgement, runtime, version)),
        "stale": stale,
        "episode": judgement.episode,
    }


def is_stale(runtime: Runtime | None, controller: Controller | None, now: datetime) -> bool:
    """Tell whether a controller has stopped looking, so that what it said is no longer known."""
    if runtime is None or controller is None:
        return True
    # What a silent one said before waits for its next look, even once it is heard again.
    waits = runtime.external and runtime.stalled_at is not None
    return waits or watchdog.is_silent(runtime, controller, now)


def last_evaluated(judgement: Judgement, runtime: Runtime | None, version: int) -> datetime:
    """Return until when a judgement held: a later cycle that found nothing new confirmed it."""
    confirmed = runtime is not None and not runtime.failures and judgement.version == version
    later = runtime.last_run_at if runtime is not None and confirmed else None
    return max(judgement.evaluated_at, later) if later else judgement.evaluated_at


def plan(judgement: Judgement, found: Sequence[Proposal]) -> Document:
    """Write what a controller would do about a resource: the actions of its open proposals."""
    actions = [action for each in found for action in each.actions]
    return {
        "digest": judgement.plan,
        "mode": found[-1].mode,
        "actions": sorted(actions, key=lambda action: int(action["sequence"])),
        "explanation": found[-1].explanation,
        "plannedAt": instant(found[-1].created_at),
        "correlationId": found[-1].correlation_id,
    }


def alert(found: Alert) -> Document:
    """Write what people were told, and whether it got to them."""
    document: dict[str, Any] = {
        "id": str(found.pk),
        "controller": str(found.controller),
        "resource": str(found.resource),
        "reason": found.reason,
        "channel": found.channel,
        "severity": found.severity,
        "message": found.message,
        "open": found.resolved_at is None,
        "raisedAt": instant(found.raised_at),
        "correlationId": found.correlation_id,
    }
    # The first is the alert's own; later ones say that it is over or did not get out.
    if own := min(found.deliveries.all(), key=lambda each: each.pk, default=None):
        document["delivery"] = delivery(own)
    over = {"resolvedAt": instant(found.resolved_at)} if found.resolved_at else {}
    return document | over


def delivery(found: Delivery) -> Document:
    """Write where a message to a channel is."""
    document: dict[str, Any] = {"state": found.state, "attempts": found.attempts}
    if found.sent_at is not None:
        document["sentAt"] = instant(found.sent_at)
    return document | ({"error": found.error} if found.error else {})


def sample(found: DriftSample) -> Document:
    """Write a point of the history."""
    return {
        "controller": str(found.controller),
        "at": instant(found.at),
        "score": found.score,
        "drifted": found.drifted,
        "dimensions": found.dimensions,
    }
