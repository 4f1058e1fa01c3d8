"""How a controller stands: its status as the specification writes it, and its own conditions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from controllers.engine.breaker import Breaker, stopped
from controllers.engine.terms import Condition, Controller
from controllers.loop.chunk_writer import Run
from controllers.loop.cycle_counts import Tally
from controllers.loop.target_conditions import state
from controllers.models import Runtime
from resources.documents import kinds
from resources.store import store
from resources.tables import ledger
from resources.tables.models import Resource

# How many actions a status lists; the ledger keeps all.
LISTED = 50


def write(run: Run, runtime: Runtime, tally: Tally, now: datetime) -> None:
    """Write a controller's status after a cycle."""
    row = Resource.objects.filter(pk=run.controller.key, deleted_at=None)
    for draft in store.drafts_of(row):
        draft.quiet, draft.observed = True, True
        before = draft.resource.status
        draft.resource.status = {**before, **status(before, runtime, tally, now)}
        for condition in conditions(run.controller, runtime):
            state(draft, condition, now)
        store.write([draft], actor=run.actor, now=now)


def status(
    before: dict[str, Any], runtime: Runtime, tally: Tally, now: datetime
) -> dict[str, Any]:
    """Write the status of a controller; what never happened is left out."""
    found = {
        "lastReconcile": ledger.instant(now),
        "reconcileCount": counted(before, runtime),
        "driftDetected": runtime.drifted > 0,
        "actionsPerformed": performed(before, tally, now),
        "healthyResources": runtime.healthy,
        "unhealthyResources": runtime.drifted + runtime.unknown,
    }
    if runtime.last_drift_at is not None:
        found["lastDriftAt"] = ledger.instant(runtime.last_drift_at)
    return found


def counted(before: dict[str, Any], runtime: Runtime) -> int:
    """Count the cycles, on from what a document brought along from elsewhere."""
    known = before.get("reconcileCount")
    return max(runtime.cycles, known + 1 if isinstance(known, int) else 0)


def performed(before: dict[str, Any], tally: Tally, now: datetime) -> list[dict[str, Any]]:
    """List the latest actions, the newest last; what was only planned was not performed."""
    known = before.get("actionsPerformed")
    listed = [
        {
            "type": each.action.type,
            "target": each.action.target,
            "at": ledger.instant(now),
            "result": each.result,
        }
        for each in tally.outcomes
        if each.result != "planned"
    ]
    return [*(known if isinstance(known, list) else []), *listed][-LISTED:]


def conditions(controller: Controller, runtime: Runtime) -> Iterator[Condition]:
    """Say how a controller stands, in conditions it alone writes."""
    healthy = runtime.drifted == runtime.unknown == 0
    said = all_healthy(runtime, controller) if healthy else some_unhealthy(runtime, controller)
    word, other = ("True", "False") if healthy else ("False", "True")
    reason = "AllHealthy" if healthy else "DriftDetected" if runtime.drifted else "NotAllKnown"
    yield Condition("Reconciling", other, reason, said, controller.ref)  # type: ignore[arg-type]
    yield Condition("TargetsHealthy", word, reason, said, controller.ref)  # type: ignore[arg-type]
    yield Condition("Stalled", "False", "Running", "", controller.ref)
    yield ready(controller, breaker_of(runtime))


def ready(controller: Controller, breaker: Breaker) -> Condition:
    """Say whether a controller can run its next cycle."""
    if breaker.state == "open":
        return Condition("Ready", "False", "CircuitOpen", stopped(breaker), controller.ref)
    if breaker.state == "half_open":
        said = "Its next cycle is a trial."
        return Condition("Ready", "True", "HalfOpen", said, controller.ref)
    return Condition("Ready", "True", "Running", "", controller.ref)


def breaker_of(runtime: Runtime) -> Breaker:
    """Read a controller's breaker."""
    return Breaker(runtime.breaker, runtime.failures, runtime.breaker_reason)  # type: ignore[arg-type]


def all_healthy(runtime: Runtime, controller: Controller) -> str:
    """Say that all is well."""
    if not runtime.watched:
        return f"It watches no {plural(controller)}."
    return f"All {runtime.watched} {plural(controller)} are healthy"


def some_unhealthy(runtime: Runtime, controller: Controller) -> str:
    """Say how many are not well."""
    parts = [f"{runtime.drifted} drifted"] if runtime.drifted else []
    parts += [f"{runtime.unknown} unknown"] if runtime.unknown else []
    return f"{' and '.join(parts)} of {runtime.watched} {plural(controller)}"


def plural(controller: Controller) -> str:
    """Name what a controller watches."""
    kind = kinds.by_name(controller.kind)
    return kind.plural.lower() if kind else controller.kind
