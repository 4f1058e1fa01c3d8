"""The loop: one thread that finds what is due in the database and does it."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from controllers import admission, budgets, execution
from controllers.common import clocks
from controllers.engine.errors import Fenced
from controllers.loop import cycle_run, recovery, registration, restore_watch, routing, watchdog
from controllers.loop.cycle_run import Means
from controllers.models import Cycle
from controllers.notifications import delivery
from controllers.worker import housekeeping
from controllers.workqueue import compiled_controllers, leases, queue
from resources.store import announcements, store
from resources.tables.models import Resource

logger = logging.getLogger("ioa.runner")

TICK_SECONDS = 1.0
# The least time between two rounds: however fast things change, they are looked at together.
PAUSE_SECONDS = 1.0
# A round that took long is followed by as long a rest, up to this: what changes meanwhile is
# looked at together, which costs far less, and whoever waits for a page has the machine.
MOST_REST_SECONDS = 5.0
# How often it is looked whether people approved something, in a round and while resting.
SOON = timedelta(seconds=PAUSE_SECONDS)


def worker_name() -> str:
    """Name a worker so that no two on earth are the same."""
    return f"{socket.gethostname()[:40]}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


def work(holder: str, means: Means) -> list[Cycle]:
    """Do everything that is due now, once; of many workers each cycle is run by one."""
    now = means.clock()
    registration.sync(now)
    recovery.go_on(now)
    execution.recover(now)
    routing.route(now)
    done, carried = [], means.clock()
    for controller in queue.due(means.clock()):
        if means.stopping():
            break
        cycle = run_one(controller, holder, means)
        if cycle is not None:
            done.append(cycle)
        # What people approved does not wait for all there is to look at.
        if means.clock() - carried >= SOON:
            execution.run_due(holder, means)
            carried = means.clock()
    execution.run_due(holder, means)
    admission.sweep(means.clock())
    budgets.publish(means.clock())
    delivery.send_due(means.clock())
    return done


def run_one(controller: int, holder: str, means: Means) -> Cycle | None:
    """Run one controller if its lease is free; one that is taken away ends without a trace."""
    if not internal(controller):
        return None
    lease = leases.take(controller, holder, means.clock())
    if lease is None:
        return None
    # Another worker may have done it all since it was found.
    if not queue.is_due(controller, means.clock()):
        leases.release(lease)
        return None
    try:
        return cycle_run.run(lease, means)
    except Fenced:
        logger.warning("A cycle of controller %s was taken over.", controller)
    except (Resource.DoesNotExist, compiled_controllers.Invalid):
        leases.release(lease)
    except store.Stale:
        logger.warning("The report of a cycle of controller %s came too late.", controller)
        leases.release(lease)
    return None


def internal(controller: int) -> bool:
    """Tell whether a controller is ours to run."""
    try:
        return compiled_controllers.load(controller).runner == "internal"
    except (Resource.DoesNotExist, compiled_controllers.Invalid):
        return False


def rest_after(seconds: float) -> float:
    """Return how long the loop rests after a round that took so long."""
    return min(max(PAUSE_SECONDS, seconds), MOST_REST_SECONDS)


class Loop:
    """Runs in the background of the embedded process until it is stopped."""

    def __init__(self, clock: Callable[[], datetime] | None = None) -> None:
        # The machine's own clock has to agree with the database's.
        self.own_clock, self.astray = clock is None, False
        clock = clock or timezone.now
        self.stopping = threading.Event()
        self.awake = threading.Event()
        self.holder = worker_name()
        self.means = Means(clock, stopping=self.stopping.is_set)
        self.looked_at: datetime | None = None
        self.thread = threading.Thread(target=self.run, name="ioa-loop", daemon=True)

    def start(self) -> None:
        """Begin."""
        announcements.listen(self.awake.set, to_workers=False)
        self.thread.start()

    def stop(self, grace: float = 5.0) -> bool:
        """Ask the loop to end and wait; tells whether it did within the grace."""
        announcements.forget(self.awake.set)
        self.stopping.set()
        self.awake.set()
        if self.thread.ident is not None:
            self.thread.join(grace)
        return not self.thread.is_alive()

    def run(self) -> None:
        """Tick until told to stop; a broken database costs ticks, never the loop."""
        while not self.stopping.is_set():
            self.awake.wait(TICK_SECONDS)
            self.awake.clear()
            if not self.stopping.is_set():
                began = time.monotonic()
                self.tick(self.holder)
                self.rest(rest_after(time.monotonic() - began))

    def rest(self, seconds: float) -> None:
        """Rest, and meanwhile only carry out what people approved."""
        until = time.monotonic() + seconds
        while not self.stopping.wait(min(PAUSE_SECONDS, max(0.0, until - time.monotonic()))):
            if time.monotonic() >= until:
                return
            self.attempt(self.carry_out)

    def look(self, now: datetime) -> None:
        """Look for a restored database before anything else is done, then every minute."""
        if self.looked_at is None or now - self.looked_at >= settings.CHECKPOINT_EVERY:
            restore_watch.look(now)
            self.looked_at = now

    def tick(self, holder: str) -> None:
        """Do what is due, once."""
        self.attempt(partial(self.do, holder))

    def do(self, holder: str) -> None:
        """Do what is due."""
        housekeeping.run_due(self.means.clock())
        watchdog.look(self.means.clock())
        work(holder, self.means)

    def carry_out(self) -> None:
        """Carry out what people approved."""
        execution.run_due(self.holder, self.means)

    def attempt(self, deed: Callable[[], None]) -> None:
        """Do something if the time is right and the database the same; the loop goes on anyway."""
        try:
            if self.own_clock and self.is_astray():
                return
            self.look(self.means.clock())
            deed()
        except DatabaseError:
            logger.exception("The loop could not reach the database.")
        except Exception:
            logger.exception("The loop met an error; it goes on.")
        finally:
            connection.close()

    def is_astray(self) -> bool:
        """Tell whether this machine's clock is wrong, and say so once: others do the work.

        What a wrong clock claims stays claimed, and what it calls over is over, for everybody.
        """
        before, self.astray = self.astray, clocks.astray(self.means.clock) > clocks.MOST_ASTRAY
        if self.astray and not before:
            logger.error("The clock of this machine is not the database's: it does nothing.")
        return self.astray
