"""Several processes on one database: workers that share cycles, and a person beside them."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import DatabaseError, connection

from bench import world
from bench.meter import Readings
from bench.subjects import LATER, SETTLED, work
from controllers.access import people
from controllers.decisions import answers, holds
from controllers.decisions.holds import HoldRequest
from controllers.decisions.proposals import SeenRevision
from controllers.models import Cycle, Hold, Proposal
from controllers.worker import controller_commands
from controllers.workqueue import queue
from resources.documents.problems import Problem
from resources.store.store import Stale
from resources.tables.models import Resource

PERSON = "bench-manager"
READY, GO = b"ready\n", b"go\n"
# A person's next click follows this long after the one before.
PAUSE_SECONDS = 0.02
CLICKS = 200
IDLE_SECONDS = 0.01


def divide() -> Readings:
    """Let each domain have a controller, and run the first cycle of each."""
    world.divide()
    work(SETTLED)
    return {}


def share(worker: list[str], count: int) -> Readings:
    """Ask for a cycle of every controller and let workers share them; return how long it took."""
    asked = ask_for_all()
    crew = [hire(worker) for _ in range(count)]
    began = time.perf_counter()
    start(crew)
    for each in crew:
        if each.wait():
            raise RuntimeError("A worker failed.")
    wall = time.perf_counter() - began
    done = Cycle.objects.filter(started_at__gte=LATER, error="").exclude(finished_at=None).count()
    if done != asked:
        raise RuntimeError(f"{done} of {asked} cycles were run.")
    return {"wall": wall, "cycles": done}


def take() -> Readings:
    """Be one of the workers: say when ready, then work until nothing is due."""
    connection.ensure_connection()
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    sys.stdin.buffer.readline()
    cycles = 0
    while queue.due(LATER):
        done = len(work(LATER))
        cycles += done
        if not done:
            # The last one is another worker's: it is not to be disturbed.
            time.sleep(IDLE_SECONDS)
    return {"cycles": cycles}


def toil() -> Readings:
    """Be a worker that always has something to do, until somebody ends it."""
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    sys.stdin.buffer.readline()
    for minute in itertools.count():
        now = LATER + timedelta(minutes=minute)
        # As in the loop: whoever was in the way is through by the next round.
        with suppress(DatabaseError, Stale):
            ask_for_all(now)
            work(now)
    return {}


def ask_for_all(now: datetime = LATER) -> int:
    """Ask for a cycle of every controller; return how many there are."""
    names = Resource.objects.filter(kind="Controller", deleted_at=None).values_list("name")
    for (name,) in names:
        controller_commands.request(name, actor=world.PERSON, now=now)
    return len(names)


def hire(command: list[str]) -> subprocess.Popen[bytes]:
    """Start a worker and wait until it is ready."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if process.stdout is None or process.stdout.readline() != READY:
        raise RuntimeError("A worker did not start.")
    return process


def start(crew: list[subprocess.Popen[bytes]]) -> None:
    """Let them all begin."""
    for each in crew:
        if each.stdin is not None:
            each.stdin.write(GO)
            each.stdin.flush()


def pause(worker: list[str], count: int) -> dict[str, list[float]]:
    """Press pause for the whole organisation, again and again, while workers are busy."""
    person = manager()
    crew = [hire(worker) for _ in range(count)]
    try:
        start(crew)
        time.sleep(1)
        took = list(itertools.islice(pauses(person), CLICKS))
        if any(each.poll() is not None for each in crew):
            raise RuntimeError("A worker ended too early.")
    finally:
        for each in crew:
            each.kill()
            each.wait()
    return {"busy": took}


def pauses(person: User) -> Iterator[float]:
    """Stop everything and let it go on; yield how many seconds stopping took."""
    stop = HoldRequest(Hold.Kind.STOP, Hold.Scope.ORGANISATION, "Measured.", open_ended=True)
    while True:
        began = time.perf_counter()
        placed = holds.place(stop, person=person, now=LATER)
        yield time.perf_counter() - began
        holds.lift(placed.hold.pk, person=person, now=LATER, reason="Measured.")
        time.sleep(PAUSE_SECONDS)


def decide(cycle: list[str]) -> dict[str, list[float]]:
    """Approve proposals, one after the other, while a cycle runs in another process."""
    person, busy = manager(), []
    waiting = Proposal.objects.filter(state="pending").order_by("pk")
    with subprocess.Popen(cycle, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and not Cycle.objects.filter(finished_at=None).exists():
            time.sleep(PAUSE_SECONDS)
        for proposal in waiting:
            with suppress(Problem):  # the cycle found that it is no longer needed
                busy.append(approve(proposal, person))
            time.sleep(PAUSE_SECONDS)
            if process.poll() is not None:
                break
    if process.returncode or not busy:
        raise RuntimeError("The cycle beside the decisions failed, or nothing was decided in it.")
    return {"busy": busy}


def approve(proposal: Proposal, person: User) -> float:
    """Approve one proposal; return how many seconds it took."""
    seen = SeenRevision(proposal.revision, proposal.action_digest)
    began = time.perf_counter()
    answers.approve(proposal.pk, person=person, seen=seen, now=LATER, reason="Measured.")
    return time.perf_counter() - began


def manager() -> User:
    """Return somebody who may stop everything and decide."""
    return people.add_person(
        PERSON, name="Bench Manager", role="Approvers", actor=world.PERSON, now=SETTLED
    )
