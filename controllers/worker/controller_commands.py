"""What people and agents ask of a controller: run now, show your plan, stop, start again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, get_args

from django.contrib.auth.models import User
from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.db.models import F

from controllers.access import people, roles
from controllers.common import judgement_writes
from controllers.decisions import creation, gate_facts, holds
from controllers.engine import breaker, configuration
from controllers.engine import cycle as engine
from controllers.engine.errors import TimedOut
from controllers.engine.terms import Case, Controller, Mode, Outcome, Renewed
from controllers.loop import cycle_run, recovery, registration
from controllers.loop.chunk_writer import ATTEMPTS
from controllers.loop.controller_status import breaker_of
from controllers.loop.cycle_counts import Tally
from controllers.models import Cycle, Runtime
from controllers.notifications import alerts
from controllers.workqueue import compiled_controllers, queue
from controllers.workqueue.chunk_snapshot import one_view
from controllers.workqueue.cycle_effects import Effects, Looking, Notice
from controllers.workqueue.target_store import Reader
from resources.documents import reader
from resources.documents.actor import Actor
from resources.documents.problems import BUSY, Problem, invalid, missing, refused
from resources.store import announcements, store
from resources.tables import ledger
from resources.tables.models import Resource

POLL_SECONDS = 0.05
LONGEST_REASON = 500
MODES: tuple[Mode, ...] = get_args(Mode)


@dataclass(frozen=True)
class Preview:
    """What a cycle would find and do; nothing of it was done."""

    controller: str
    counts: dict[str, int]
    resources: list[dict[str, Any]] = field(default_factory=list)
    # Why a real cycle would be refused.
    blocked: str = ""


@contextmanager
def undisturbed() -> Iterator[None]:
    """Refuse what found a controller gone that was there a moment ago."""
    try:
        yield
    except ObjectDoesNotExist:
        raise Problem(BUSY, "The controller was declared anew meanwhile.") from None


def find(name: str) -> Resource:
    """Return a controller by its name."""
    found = Resource.objects.filter(kind="Controller", name=name, deleted_at=None).first()
    if found is None:
        raise missing(f"There is no controller/{name}.")
    return found


def permitted(name: str, person: User, now: datetime) -> Actor:
    """Return somebody as the one who runs a controller; whoever may not is denied."""
    roles.check_operate(person, find(name).domain, now)
    return people.actor_for(person)


@undisturbed()
def request(
    name: str, *, actor: Actor, now: datetime, message: str = "", after: timedelta = timedelta(0)
) -> int:
    """Ask for a cycle over everything a controller watches; return the number of its last one.

    The loop runs it. A controller that a breaker stopped, or that cannot run, says so at once.
    """
    row = find(name)
    check_words(message)
    registration.sync(now)
    with transaction.atomic():
        runtime = Runtime.objects.get(controller=row)
        if reason := hindrance(row):
            raise refused(reason)
        asked = ControllerCommand("controller.reconciliation-requested", message, now + after)
        enqueue(row, asked, actor=actor, now=now)
        queue.free_all(row.pk, now + after)
    return runtime.cycles


@dataclass(frozen=True)
class ControllerCommand:
    """What somebody asked for, why, and from when on."""

    event: str
    reason: str
    run_at: datetime


def enqueue(row: Resource, asked: ControllerCommand, *, actor: Actor, now: datetime) -> None:
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
        controller = compiled_controllers.compiled(row.pk, row.generation)
    except compiled_controllers.Invalid as error:
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


@undisturbed()
def reset_breaker(name: str, *, actor: Actor, now: datetime, reason: str) -> int:
    """Let a stopped controller try one cycle; a person says why. Return its last one's number."""
    if actor.kind != "person":
        raise refused("Only a person may start a stopped controller again.")
    check_words(reason, "Say why it may run again.")
    row = find(name)
    with transaction.atomic():
        state = Runtime.objects.filter(controller=row, breaker=Runtime.Breaker.OPEN)
        if not state.update(breaker=breaker.reset(breaker.Breaker("open")).state):
            raise refused(f"controller/{name} is not stopped.")
        asked = ControllerCommand("controller.breaker-reset", reason.strip(), now)
        enqueue(row, asked, actor=actor, now=now)
        return Runtime.objects.values_list("cycles", flat=True).get(controller=row)


def check_words(reason: str, question: str = "") -> None:
    """Refuse words that the ledger cannot keep, and none at all where there is a question."""
    if question and not reason.strip():
        raise invalid(question)
    if len(reason) > LONGEST_REASON:
        raise invalid(f"A reason has at most {LONGEST_REASON} characters.")
    for fault in reader.text_faults(reason):
        raise invalid(f"The reason cannot be kept: {fault}")


@undisturbed()
def trip_breaker(name: str, *, person: User, now: datetime, reason: str) -> None:
    """Stop a controller at once, until a person resets it; a cycle under way is cut off."""
    actor, row = permitted(name, person, now), find(name)
    check_words(reason, "Say why it has to stop.")
    for _ in range(ATTEMPTS):
        with suppress(store.Stale), store.all_or_stale():
            trip(row, actor, reason.strip(), now)
            return
    raise refused(f"{row} changed at the same moment. Try again.")


def trip(row: Resource, actor: Actor, reason: str, now: datetime) -> None:
    """Open a breaker and say so everywhere, as a failed cycle would."""
    said = f"{actor}: {reason}"
    # Another token fences the worker: what it has not written yet is never written.
    stopped = Runtime.objects.filter(controller=row).exclude(breaker=Runtime.Breaker.OPEN)
    if not stopped.update(
        breaker=Runtime.Breaker.OPEN,
        breaker_reason=said,
        token=F("token") + 1,
        holder="",
        leased_until=None,
    ):
        raise refused(f"{row} is stopped already, or has not started yet.")
    for cycle in Cycle.objects.filter(controller=row, finished_at=None):
        recovery.close(cycle, Cycle.Outcome.INTERRUPTED, now)
        Cycle.objects.filter(pk=cycle.pk).update(error=f"Cut off by {said}")
    payload = {"controllerName": row.name, "reason": said}
    told = ("controller.breaker-opened", str(row), payload, "alert", "critical")
    (event,) = ledger.append([ledger.Entry(f"controller/{row.uid}", *told)], actor=actor, now=now)
    runtime = Runtime.objects.get(controller=row)
    notice = Notice(row.pk, "BreakerOpen", "", "critical", breaker.stopped(breaker_of(runtime)))
    alerts.raise_all(row.pk, [notice], event.correlation_id, now)
    declared = compiled_controllers.attempt((row.pk, row.generation))
    registration.say(row, registration.readiness(row, declared, runtime.problem), now)
    announcements.announce()


def propose_mode(
    name: str, mode: str, *, person: User, now: datetime, reason: str
) -> creation.Filed:
    """Propose another enforcement mode: it changes what is declared, so others approve it."""
    row = find(name)
    if mode not in MODES:
        raise invalid(f"Choose a mode from: {', '.join(MODES)}.")
    if mode == configuration.mode_of(row.spec):
        raise invalid(f"{row} is in this mode already.")
    change = {"operation": "modify-spec", "parameters": {"patch": {"enforcementMode": mode}}}
    filing = creation.Filing(row.pk, [change], reason.strip())
    return creation.propose(filing, by=person, now=now)


@undisturbed()
def preview(name: str, *, now: datetime, most: int = 200) -> Preview:
    """Run the first three phases over everything and return what would be done; write nothing."""
    row = find(name)
    try:
        controller = compiled_controllers.compiled(row.pk, row.generation)
    except compiled_controllers.Invalid as error:
        raise refused(f"controller/{name} cannot run: {error}") from error
    if controller.runner == "external":
        raise refused(f"{row} is run by an outside process: only that knows what it would find.")
    tally = Tally(engine.Stopwatch(time.perf_counter))
    effects = Looking(controller, now=now, catalogue=gate_facts.traits, holds=holds.standing(now))
    effects.earned = gate_facts.earned_by(controller)
    found: list[dict[str, Any]] = []
    try:
        for case in cases_of(controller, tally, effects, now):
            if case.judgement.status != "True" and len(found) < most:
                found.append(unwell(controller, case))
    except TimedOut as error:
        raise refused(str(error)) from error
    return Preview(name, dict(tally.counts), found, hindrance(row))


def cases_of(
    controller: Controller, tally: Tally, effects: Effects, now: datetime
) -> Iterator[Case]:
    """Yield what a look at everything a controller watches comes to."""
    reader, after = Reader(controller, configuration.reads(controller)), 0
    while True:
        with one_view():
            found = reader.sweep(after, cycle_run.CHUNK)
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
    return judgement_writes.as_document(outcome.action) | ruled


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
