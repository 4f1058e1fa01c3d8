"""What people and agents ask of a controller: run now, show what you would do, start again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from controllers import compiled, cycles, gating, holds, queue, registration, upserts
from controllers.effects import Effects, Looking
from controllers.engine import breaker
from controllers.engine import cycle as engine
from controllers.engine.errors import TimedOut
from controllers.engine.types import Case, Controller, Outcome, Renewed
from controllers.models import Cycle, Runtime
from controllers.standing import breaker_of
from controllers.store import Reader, one_view
from controllers.tally import Tally
from resources import announcements, ledger
from resources.actor import Actor
from resources.models import Resource

POLL_SECONDS = 0.05


class Refused(Exception):
    """It cannot be done as things are; the message says why and what helps."""


class Missing(Exception):
    """There is no such controller."""


@dataclass(frozen=True)
class Preview:
    """What a cycle would find and do; nothing of it was done."""

    controller: str
    counts: dict[str, int]
    resources: list[dict[str, Any]] = field(default_factory=list)
    # Why a real cycle would be refused.
    blocked: str = ""


def find(name: str) -> Resource:
    """Return a controller by its name."""
    found = Resource.objects.filter(kind="Controller", name=name, deleted_at=None).first()
    if found is None:
        raise Missing(f"There is no controller/{name}.")
    return found


def request(
    name: str, *, actor: Actor, now: datetime, message: str = "", after: timedelta = timedelta(0)
) -> int:
    """Ask for a cycle over everything a controller watches; return the number of its last one.

    The loop runs it. A controller that a breaker stopped, or that cannot run, says so at once.
    """
    row = find(name)
    registration.sync(now)
    with transaction.atomic():
        runtime = Runtime.objects.get(controller=row)
        if reason := hindrance(row):
            raise Refused(reason)
        asked = Asked("controller.reconciliation-requested", message, now + after)
        enqueue(row, asked, actor=actor, now=now)
        queue.free_all(row.pk, now + after)
    return runtime.cycles


@dataclass(frozen=True)
class Asked:
    """What somebody asked for, why, and from when on."""

    event: str
    reason: str
    run_at: datetime


def enqueue(row: Resource, asked: Asked, *, actor: Actor, now: datetime) -> None:
    """Write down who asked and queue it; the cycle goes on with the same correlation id."""
    payload = {"controllerName": row.name, "reason": asked.reason[:500]}
    entry = ledger.Entry(f"controller/{row.uid}", asked.event, str(row), payload)
    (event,) = ledger.append([entry], actor=actor, now=now)
    wanted = queue.Request(
        queue.MANUAL, asked.run_at, queue.URGENT, str(actor), asked.reason, event.correlation_id
    )
    queue.enqueue_whole(row.pk, wanted)
    announcements.announce()


def hindrance(row: Resource) -> str:
    """Say why a controller cannot run as it is declared now; nothing when it can."""
    try:
        controller = compiled.compiled(row.pk, row.generation)
    except compiled.Invalid as error:
        return f"{row} cannot run: {error}"
    if controller.runner == "external":
        return f"{row} is run by an outside process."
    runtime = Runtime.objects.filter(controller=row, breaker=Runtime.Breaker.OPEN).first()
    return breaker.stopped(breaker_of(runtime)) if runtime is not None else ""


def wait(
    name: str, after: int, *, seconds: float, sleep: Callable[[float], None] = time.sleep
) -> Cycle | None:
    """Wait for the first manual cycle after a number to end; nothing if it does not in time."""
    row = find(name)
    until = time.monotonic() + seconds
    wanted = Cycle.objects.filter(controller=row, number__gt=after).exclude(finished_at=None)
    while True:
        for cycle in wanted.order_by("number"):
            if cycle.reasons & queue.MANUAL:
                return cycle
        if time.monotonic() >= until:
            return None
        sleep(POLL_SECONDS)


def reset_breaker(name: str, *, actor: Actor, now: datetime, reason: str) -> int:
    """Let a stopped controller try one cycle; a person says why. Return its last one's number."""
    if actor.kind != "person":
        raise Refused("Only a person may start a stopped controller again.")
    if not reason.strip():
        raise Refused("Say why it may run again.")
    row = find(name)
    with transaction.atomic():
        state = Runtime.objects.filter(controller=row, breaker=Runtime.Breaker.OPEN)
        if not state.update(breaker=breaker.reset(breaker.Breaker("open")).state):
            raise Refused(f"controller/{name} is not stopped.")
        asked = Asked("controller.breaker-reset", reason.strip(), now)
        enqueue(row, asked, actor=actor, now=now)
        return Runtime.objects.values_list("cycles", flat=True).get(controller=row)


def preview(name: str, *, now: datetime, most: int = 200) -> Preview:
    """Run the first three phases over everything and return what would be done; write nothing."""
    row = find(name)
    try:
        controller = compiled.compiled(row.pk, row.generation)
    except compiled.Invalid as error:
        raise Refused(f"controller/{name} cannot run: {error}") from error
    tally, effects = (
        Tally(engine.Stopwatch(time.perf_counter)),
        Looking(controller, now=now, catalogue=gating.traits, holds=holds.standing(now)),
    )
    found: list[dict[str, Any]] = []
    try:
        for case in cases_of(controller, tally, effects, now):
            if case.judgement.status != "True" and len(found) < most:
                found.append(unwell(controller, case))
    except TimedOut as error:
        raise Refused(str(error)) from error
    return Preview(name, dict(tally.counts), found, hindrance(row))


def cases_of(
    controller: Controller, tally: Tally, effects: Effects, now: datetime
) -> Iterator[Case]:
    """Yield what a look at everything a controller watches comes to."""
    reader, after = Reader(controller, compiled.reads(controller)), 0
    while True:
        with one_view():
            found = reader.sweep(after, cycles.chunk_size())
            if not found.rows:
                break
            look = engine.Pass(controller, reader.snapshots(found), effects, now)
        after = found.rows[-1][0]
        looked = list(engine.reconcile(look, tally.stopwatch))
        cases = [each for each in looked if isinstance(each, Case)]
        renewed = [each for each in looked if isinstance(each, Renewed)]
        tally.add(cases, renewed, len(found.rows))
        yield from cases


def considered(outcome: Outcome) -> dict[str, Any]:
    """Write an action and what the gate says of it."""
    said = outcome.verdict
    ruled = {"disposition": said.word, "code": said.code, "reason": said.reason} if said else {}
    return upserts.as_document(outcome.action) | ruled


def unwell(controller: Controller, case: Case) -> dict[str, Any]:
    """Write what a look at one resource came to."""
    judgement, planned = case.judgement, case.plan
    return {
        "resource": case.ref,
        "score": judgement.score,
        "threshold": controller.threshold,
        "drifted": judgement.drifted,
        "status": judgement.status,
        "reason": judgement.reason,
        "message": judgement.message,
        "dimensions": judgement.dimensions,
        "evidence": list(judgement.evidence),
        "hooks": [each._asdict() for each in planned.hooks] if planned else [],
        "actions": [considered(each) for each in case.outcomes],
    }
