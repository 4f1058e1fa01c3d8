"""Carry out what is due: in waves, so that a machine that hangs costs one wait and no more."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta

from django.db import DatabaseError
from django.db.models import Case, Q, QuerySet, Value, When

from controllers.common.rows import Prepared, Slot, at
from controllers.execution import critical_section, moves, outside_calls, recheck, steps
from controllers.execution.permits import Order
from controllers.loop import restore_watch
from controllers.loop.cycle_run import Means
from controllers.models import Proposal
from controllers.operations import Impossible
from resources.documents.problems import Problem
from resources.store import store

logger = logging.getLogger("ioa.executing")

ATTEMPTS = 3
MOST = 200
# Cycles and chores have their turn too, however much is due here: nothing is begun after so long,
# but for what goes at once in the first place.
TURN, WAVE = timedelta(seconds=5), 20
# Calls at the same moment, and how many of them may go to one machine.
SLOTS, SHARE = 8, 2
SOON = timedelta(seconds=1)
URGENCIES = ("critical", "high", "medium", "low")


def run_due(holder: str, means: Means) -> int:
    """Carry out what is approved and due, for a while; return how many were taken up."""
    now = means.clock()
    waiting = list(due(now)) if READY(now=now) else []
    troubled: set[str] = set()
    machines = Machines()
    done = 0
    while waiting and not means.stopping() and not (done and means.clock() - now > TURN):
        wave, waiting = next_wave(waiting, troubled, machines)
        done += len(wave)
        troubled |= run_wave(wave, holder, means)
    return done


class Machines(dict[int, str]):
    """The machine that the next step of each proposal calls, if it calls one; asked once each."""

    def of(self, proposal: Proposal) -> str:
        """Return it."""
        if proposal.pk not in self:
            self[proposal.pk] = destination(proposal)
        return self[proposal.pk]


def ready(now: datetime | Slot) -> QuerySet[Proposal]:
    """Return what is to be carried out."""
    free = Q(state="approved") | Q(state="executing", holder="", run_at__isnull=False)
    return Proposal.objects.filter(free, Q(run_at=None) | Q(run_at__lte=now))


# Asked in every round, and nearly always in vain.
READY = Prepared(lambda: ready(at("now")).values_list("pk")[:1])


def due(now: datetime) -> QuerySet[Proposal]:
    """Return what is to be carried out, the most urgent first, then what has waited longest."""
    rank = Case(
        *(When(urgency=word, then=Value(place)) for place, word in enumerate(URGENCIES)),
        default=Value(len(URGENCIES)),
    )
    found = ready(now).select_related("controller", "resource")
    return found.order_by(rank, "run_at", "pk")[:MOST]


def next_wave(
    waiting: list[Proposal], troubled: set[str], machines: Machines
) -> tuple[list[Proposal], list[Proposal]]:
    """Pick what can go at once; what waits for a machine in trouble is left for another round."""
    wave: list[Proposal] = []
    later: list[Proposal] = []
    calls: Counter[str] = Counter()
    for place, each in enumerate(waiting):
        if len(wave) == WAVE:
            return wave, [*later, *waiting[place:]]
        machine = machines.of(each)
        if machine in troubled:
            continue
        if machine and (calls[machine] >= SHARE or calls.total() >= SLOTS):
            later.append(each)
            continue
        calls[machine] += 1 if machine else 0
        wave.append(each)
    return wave, later


def destination(proposal: Proposal) -> str:
    """Return the machine that the next step of a proposal calls, if it calls one."""
    with suppress(Impossible):
        task = next(steps.remaining(proposal), None)
        if task is not None and task.hand.endpoint is not None:
            return task.hand.endpoint.name
    return ""


def run_wave(wave: Iterable[Proposal], holder: str, means: Means) -> set[str]:
    """Carry some proposals out, with their calls side by side; return the machines in trouble."""
    troubled: set[str] = set()
    with ThreadPoolExecutor(SLOTS, thread_name_prefix="ioa-call") as pool:
        calls = []
        for each in wave:
            order = None if means.stopping() else attempt(each.pk, holder, means.clock())
            if order is not None:
                # The permit is remembered outside before the call; a freeze voids it.
                restore_watch.look(means.clock())
            if order is not None and outside_calls.permitted(order, means.clock()):
                calls.append((order, pool.submit(outside_calls.make, order, means.clock)))
            elif order is not None:
                outside_calls.record(order, outside_calls.LATE, means.clock())
        for order, call in calls:
            answer = call.result()
            if answer.word in ("unknown", "transient"):
                troubled.add(order.endpoint.name)
            try:
                outside_calls.record(order, answer, means.clock())
            except (DatabaseError, store.Stale):
                # The others' results must be written too; this one's worker counts as lost.
                logger.exception("The result of %s could not be written.", order.key)
    return troubled


def attempt(key: int, holder: str, now: datetime) -> Order | None:
    """Carry one proposal out; a fault of ours costs that one a while, and no other anything."""
    try:
        return execute(key, holder, now)
    except DatabaseError:
        raise
    except Exception:  # whatever is wrong with one must not keep the others from being done
        logger.exception("proposal/%s could not be carried out.", key)
        put_off(key, now, moves.PATIENCE)
        return None


def execute(key: int, holder: str, now: datetime) -> Order | None:
    """Carry one proposal out as far as it goes; return the call that is to be made, if any."""
    for _ in range(ATTEMPTS):
        found = Proposal.objects.select_related("controller", "resource").filter(pk=key).first()
        if found is None:
            return None
        try:
            return critical_section.enter(found, recheck.look(found, now), holder, now)
        except store.Stale:
            continue
        except Problem:
            return None
    put_off(key, now)
    return None


def put_off(key: int, now: datetime, after: timedelta = SOON) -> None:
    """Try again later: its target changes faster than it can be acted on, or is being acted on."""
    Proposal.objects.filter(pk=key, state="approved").update(run_at=now + after)
