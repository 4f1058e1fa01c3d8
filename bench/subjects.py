"""The subject: the real loop at work, and a person who works beside it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import connection

from bench import floors, meter, world
from bench.meter import Readings
from controllers.loop.cycle_run import Means
from controllers.models import Cycle, WorkItem
from controllers.worker import controller_commands, worker_loop
from controllers.workqueue import queue
from ioa_site.server.database import migrate_if_needed
from resources.tables.models import Resource
from resources.usecases import specs

SETTLED = world.NOW + timedelta(minutes=1)
LATER = SETTLED + timedelta(minutes=2)
# How often something is done that costs too little to be measured once.
REPEATED = 20
# How many items are queued at once.
AT_ONCE = 500
# A person's next edit follows this long after the one before.
PAUSE_SECONDS = 0.02


def database() -> meter.Cpu:
    """Measure the database this process is connected to."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            return meter.in_process
        cursor.execute("SELECT pg_backend_pid()")
        return meter.of_server(cursor.fetchone()[0])


def load(size: int, bare: bool = False, domains: int = world.DOMAINS) -> Readings:
    """Make the database, its agents, and the floor's tables."""
    migrate_if_needed()
    world.DOMAINS = domains
    world.load(size, bare=bare)
    with connection.cursor() as cursor:
        for statement in floors.TABLES:
            cursor.execute(statement)
    return {}


def change() -> Readings:
    """Let every agent report once more."""
    world.change(range(agents()), marked=False)
    gather_statistics()
    return {}


def first() -> Readings:
    """Run the controller's first cycle, which writes a condition on every resource."""
    found = measured_work(SETTLED)
    gather_statistics()
    return found


def gather_statistics() -> None:
    """Do what a PostgreSQL server does by itself soon after much was written."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


def full() -> Readings:
    """Run a cycle over everything: a person asked for it."""
    controller_commands.request(world.CONTROLLER, actor=world.PERSON, now=LATER)
    return measured_work(LATER)


def some() -> Readings:
    """Run a cycle after one in a hundred has changed."""
    warm_up()
    world.change(range(0, agents(), 100), marked=True)
    return measured_work(LATER)


def nothing() -> Readings:
    """Run cycles after which nothing has changed; return what one of them takes."""
    warm_up()
    with meter.measured(database()) as found:
        for number in range(REPEATED):
            (cycle,) = work(LATER + timedelta(minutes=number))
    return {name: value / REPEATED for name, value in found.items()} | judged(cycle)


def enqueue(pending: int, items: int) -> Readings:
    """Queue work while much other work waits."""
    controller = controller_commands.find(world.CONTROLLER).pk
    rows = Resource.objects.filter(kind="Agent")
    keys = list(rows.order_by("pk").values_list("pk", flat=True))
    waiting = queue.Request(queue.CHANGE, LATER + timedelta(days=1))
    queue.enqueue(controller, rows.filter(pk__lte=keys[pending - 1]), waiting)
    fresh = keys[-items:]
    with meter.measured(database()) as found:
        for start in range(0, items, AT_ONCE):
            some = rows.filter(pk__in=fresh[start : start + AT_ONCE])
            queue.enqueue(controller, some, queue.Request(queue.CHANGE, LATER))
    if WorkItem.objects.count() != pending + items:
        raise RuntimeError("The queue does not hold what was put into it.")
    return found | {"items": items}


def edit(cycle: list[str]) -> dict[str, list[float]]:
    """Edit specs as a person does, before and during a cycle in another process."""
    edits = one_edit_after_another()
    idle = [next(edits) for _ in range(REPEATED)]
    busy = []
    with subprocess.Popen(cycle, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            under_way = Cycle.objects.filter(finished_at=None).exists()
            took = next(edits)
            if under_way and process.poll() is None:
                busy.append(took)
            time.sleep(PAUSE_SECONDS)
    if process.returncode:
        raise RuntimeError("The cycle beside the edits failed.")
    return {"idle": idle[1:], "busy": busy}


def one_edit_after_another() -> Iterator[float]:
    """Change one agent after the other; yield how many seconds each edit took."""
    size, number = agents(), 0
    while True:
        # Far apart, so that edits meet the cycle before it, in it and after it.
        number = (number + 7919) % size
        document = world.document(number)
        document["spec"]["purpose"] += f" Edited at {time.time()}."
        began = time.perf_counter()
        wish = specs.DesiredDocument(document)
        outcome = specs.apply([wish], actor=world.PERSON, now=LATER)
        yield time.perf_counter() - began
        if not outcome.written:
            raise RuntimeError(f"An edit was refused: {outcome.results[0].problems}")


def warm_up() -> None:
    """Run one cycle that finds nothing: a loop compiles its controllers once, not each time."""
    work(SETTLED + timedelta(minutes=1))


def measured_work(now: datetime) -> Readings:
    """Do what is due, and say what it took."""
    with meter.measured(database()) as found:
        (cycle,) = work(now)
    return found | judged(cycle)


def work(now: datetime) -> list[Cycle]:
    """Do what is due."""
    return worker_loop.work("bench", Means(clock=lambda: now))


def judged(cycle: Cycle) -> Readings:
    """Return what a cycle looked at; one that failed is no measurement."""
    if cycle.error:
        raise RuntimeError(f"The cycle failed: {cycle.error}")
    names = ("judged", "changed", "drifted", "watched")
    return {name: cycle.counts.get(name, 0) for name in names} | {"phases": cycle.times}


def agents() -> int:
    """Return how many agents there are."""
    return Resource.objects.filter(kind="Agent").count()
