"""End a cycle: its record, the controller's status, the last events, and the way on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db import transaction

from controllers.engine import breaker, due_times, gate, hooks, watch
from controllers.engine.breaker import Breaker
from controllers.engine.events import error
from controllers.engine.terms import Controller, Event, Template
from controllers.loop import controller_status
from controllers.loop.chunk_writer import ATTEMPTS, Run, entries, recount
from controllers.loop.cycle_begin import Opened
from controllers.loop.cycle_counts import Tally
from controllers.models import Cycle, Runtime
from controllers.notifications import alerts
from controllers.workqueue import leases, queue
from controllers.workqueue.cycle_effects import Effects, Notice
from resources.store import announcements, store
from resources.tables import ledger

OUTCOME = Cycle.Outcome
# Outcomes that count against a controller.
FAILED = (OUTCOME.FAILED, OUTCOME.TIMED_OUT)


@dataclass(frozen=True)
class Ending:
    """A cycle that has ended, before anything of it is written."""

    opened: Opened
    effects: Effects
    tally: Tally
    outcome: OUTCOME
    breaker: Breaker
    now: datetime

    @property
    def run(self) -> Run:
        """The cycle that ended."""
        return self.opened.run

    @property
    def broke(self) -> bool:
        """Whether the breaker opened by this cycle: none begins under an open one."""
        return self.breaker.state == "open"

    @property
    def complete(self) -> bool:
        """Whether everything was looked at that had to be."""
        return self.outcome not in (*FAILED, OUTCOME.INTERRUPTED)


def finish(
    opened: Opened,
    effects: Effects,
    tally: Tally,
    cut_short: OUTCOME | None,
    now: datetime,
    taken: dict[str, float] | None = None,
) -> None:
    """Write the report of a cycle, whatever became of it, and give the lease back.

    How long its phases took is measured here, or told by whoever ran it.
    """
    outcome = cut_short or judge(tally)
    state = after(opened.run.controller, opened.runtime, tally, outcome)
    ending = Ending(opened, effects, tally, outcome, state, now)
    times = tally.times() if taken is None else taken
    for _ in range(ATTEMPTS):
        with suppress(store.Stale), store.all_or_stale():
            leases.hold(opened.run.lease, now)
            with ledger.together():
                write(ending, times)
            return
    raise store.Stale("The report of a cycle could not be written.")


def write(ending: Ending, times: dict[str, float]) -> None:
    """Write everything a cycle ends with, inside one transaction."""
    run, now = ending.run, ending.now
    if ending.opened.full and ending.complete:
        recount(run.controller.key)
    runtime = Runtime.objects.get(controller=run.controller.key)
    events, notices = conclude(ending, runtime)
    alerts.resolve(run.controller.key, [run.controller.key], now, over(ending, runtime))
    alerts.raise_all(run.controller.key, notices, run.cycle.correlation_id, now)
    update(ending, runtime)
    close(run.cycle, ending, times)
    controller_status.write(run, runtime, ending.tally, ending.now)
    ledger.append(entries(run, events), actor=run.actor, now=now)
    reschedule(ending, runtime)
    leases.release(run.lease)
    taken = (now - ending.opened.now).total_seconds()
    transaction.on_commit(partial(ending.tally.publish, ending.outcome.value, taken))
    announcements.announce()


def judge(tally: Tally) -> OUTCOME:
    """Name what a cycle that ran to its end came to."""
    counts = tally.counts
    if counts["errors"]:
        return OUTCOME.PARTIAL
    if counts["success"] or counts["failure"]:
        return OUTCOME.ACTED
    if counts["held"]:
        return OUTCOME.SKIPPED
    return OUTCOME.DRIFTED if counts["drifted"] else OUTCOME.CONVERGED


def after(controller: Controller, runtime: Runtime, tally: Tally, outcome: OUTCOME) -> Breaker:
    """Move the breaker: cycles that fail in a row open it, and so does a declared pause."""
    before = controller_status.breaker_of(runtime)
    if outcome == OUTCOME.INTERRUPTED:
        return before
    reason = tally.errors[-1][1] if tally.errors else ""
    state = breaker.after_cycle(before, outcome not in FAILED, controller.limits.errors, reason)
    pauses = [each for each in controller.on_error if each.type == "pause"]
    if pauses and tally.errors:
        state = breaker.open_now(state, pauses[0].reason or reason)
    return state


def conclude(ending: Ending, runtime: Runtime) -> tuple[list[Event], list[Notice]]:
    """Collect what is said at the end of a cycle."""
    controller, tally = ending.run.controller, ending.tally
    events = [error(controller, controller.ref, *each) for each in cycle_errors(ending)]
    notices = [*first_look(ending), *stops(ending)]
    if tally.errors:
        events += spoken(controller, controller.on_error, trouble(tally))
        notices += told(ending, controller.on_error, "Error", trouble(tally))
    elif ending.complete and runtime.watched and runtime.watched == runtime.healthy:
        events += spoken(
            controller, controller.on_healthy, controller_status.all_healthy(runtime, controller)
        )
    if ending.broke:
        payload = {"controllerName": controller.name, "reason": ending.breaker.reason}
        events.append(
            Event("controller.breaker-opened", controller.ref, payload, "alert", "critical")
        )
    emitted = hooks.emissions(controller)
    events += [
        Event(name, controller.ref, {"controllerName": controller.name}) for name in emitted
    ]
    return [*events, completed(ending)], notices


def cycle_errors(ending: Ending) -> Sequence[tuple[str, str]]:
    """Return the error that cut the cycle short; those of single resources are told already."""
    return ending.tally.errors[-1:] if ending.outcome in FAILED else ()


def trouble(tally: Tally) -> str:
    """Say what went wrong, in one sentence."""
    more = tally.counts["errors"] - 1
    return tally.errors[0][1] + (f" And {more} more." if more else "")


def first_look(ending: Ending) -> Iterator[Notice]:
    """Say in one sentence what a controller's first look would have said many times."""
    controller, counts = ending.run.controller, ending.tally.counts
    if not (ending.opened.first_look and counts["drifted"]):
        return
    said = f"First look of {controller.name}: {counts['drifted']} of {counts['judged']} drifted."
    for channel, severity in ending.effects.held_back:
        yield Notice(controller.key, "FirstLook", channel, severity, said)
    if not ending.effects.held_back:
        # A worker that was lost had found it all, and had not told anybody yet.
        yield from told(ending, controller.on_drift, "FirstLook", said)


def stops(ending: Ending) -> Iterator[Notice]:
    """Say what people hear in any mode: that a cycle took too long, that no other will follow."""
    key = ending.run.controller.key
    if ending.outcome == OUTCOME.TIMED_OUT:
        yield Notice(key, "TimedOut", "", "error", ending.tally.errors[-1][1])
    if ending.broke:
        yield Notice(key, "BreakerOpen", "", "critical", breaker.stopped(ending.breaker))


def told(
    ending: Ending, templates: Sequence[Template], reason: str, message: str
) -> Iterator[Notice]:
    """Turn declared alerts into notices, as far as the mode goes."""
    controller = ending.run.controller
    if gate.disposition(controller.mode, "notify", "low", True, "required") != "run":
        return
    for template in templates:
        if template.type in ("alert", "escalate"):
            for channel in template.channels or ("",):
                yield Notice(controller.key, reason, channel, template.severity, message)


def spoken(controller: Controller, templates: Sequence[Template], message: str) -> list[Event]:
    """Turn declared log actions into events."""
    return [
        Event(
            "controller.logged",
            controller.ref,
            {"controllerName": controller.name, "message": message},
            "log",
            template.severity,
        )
        for template in templates
        if template.type == "log"
    ]


def completed(ending: Ending) -> Event:
    """Tell of the end of a cycle."""
    run, counts = ending.run, ending.tally.counts
    lasted = (ending.now - run.cycle.started_at).total_seconds()
    payload = {
        "controllerName": run.controller.name,
        "cycle": run.cycle.number,
        "durationMs": max(0, round(lasted * 1000)),
        "driftDetected": bool(counts["drifted"]),
        "actionsPerformed": counts["success"] + counts["failure"],
        "outcome": ending.outcome.value,
    }
    return Event("controller.reconciliation-completed", run.controller.ref, payload)


def over(ending: Ending, runtime: Runtime) -> set[str]:
    """Return which of the controller's own alerts are over."""
    ended = {"Silent"}
    if ending.complete:
        ended.add("TimedOut")
        if not ending.tally.errors and not queue.has_failed(runtime.controller_id):
            ended.add("Error")
    if not ending.broke:
        ended.add("BreakerOpen")
    if runtime.watched == runtime.healthy:
        ended.add("FirstLook")
    return ended


def update(ending: Ending, runtime: Runtime) -> None:
    """Move the controller's clock and its breaker."""
    controller = ending.run.controller
    runtime.last_run_at = ending.now
    if ending.tally.counts["drifted"]:
        runtime.last_drift_at = ending.now
    if ending.opened.full and ending.complete:
        wait = watch.resync_after(controller, runtime.watched)
        runtime.resync_at = due_times.next_due(ending.opened.now, wait, ending.now)
        runtime.stalled_at = None
        trust_again(ending.run.cycle)
    runtime.breaker, runtime.failures, runtime.breaker_reason = ending.breaker
    changed = ("last_run_at", "last_drift_at", "resync_at", "stalled_at")
    runtime.save(update_fields=[*changed, "breaker", "failures", "breaker_reason"])


def trust_again(cycle: Cycle) -> None:
    """Let a controller act again after a hold: it has proposed in a whole cycle since."""
    proposing = Runtime.objects.filter(controller=cycle.controller_id)
    proposing.filter(only_proposes_from__lte=cycle.number).update(only_proposes_from=None)


def close(cycle: Cycle, ending: Ending, times: dict[str, float]) -> None:
    """Complete the record of a cycle."""
    tally = ending.tally
    cycle.finished_at, cycle.outcome = ending.now, ending.outcome
    if tally.errors:
        cycle.phase, cycle.error = tally.errors[-1]
    cycle.counts, cycle.times, cycle.hooks = dict(tally.counts), times, tally.hooks
    cycle.actions = [
        {
            "type": each.action.type,
            "operation": each.action.operation,
            "target": each.action.target,
            "result": each.result,
            "reason": each.reason,
            "why": each.action.why,
        }
        for each in tally.outcomes
    ]
    fields = ("finished_at", "outcome", "phase", "error", "counts", "times", "hooks", "actions")
    cycle.save(update_fields=fields)


def reschedule(ending: Ending, runtime: Runtime) -> None:
    """Set when everything is looked at next; a cycle that was cut short is not done yet."""
    opened = ending.opened
    if opened.whole is not None and ending.outcome != OUTCOME.INTERRUPTED:
        interval = opened.run.controller.interval
        due = due_times.next_due(opened.now, interval, ending.now)
        queue.reschedule(opened.whole, due, done=ending.complete)
