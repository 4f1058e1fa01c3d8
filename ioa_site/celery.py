"""Celery: a doorbell for the workers. A ring carries nothing, and none has to arrive.

Every worker looks into the database once a second anyway, so Redis may be away, flushed or slow,
and a ring may be lost or come twice.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from celery import Celery
from celery.beat import Scheduler
from django.conf import settings
from kombu.common import Broadcast

from controllers.live.doorbell import Doorbell

logger = logging.getLogger("ioa.celery")

RING = "ioa.ring"
QUEUE = "ioa-workers"
ANSWER_SECONDS = 0.5
RETRY_SECONDS = 1.0

app = Celery("ioa")
app.conf.update(
    broker_url=settings.REDIS_URL,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_transport_options={"socket_connect_timeout": ANSWER_SECONDS},
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    # Every worker hears a ring; whoever is not there misses it, and nothing piles up.
    task_queues=(Broadcast(QUEUE),),  # type: ignore[no-untyped-call]
    task_default_queue=QUEUE,
    task_routes={RING: {"queue": QUEUE, "exchange": QUEUE}},
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
    worker_enable_remote_control=False,
    beat_schedule={"ring": {"task": RING, "schedule": 1.0}},
    beat_max_loop_interval=1,
)


# What a ring wakes in this process.
waiting: set[Callable[[], None]] = set()


@app.task(name=RING)  # type: ignore[untyped-decorator]
def ring() -> None:
    """Wake whoever waits in this process."""
    for wake in tuple(waiting):
        wake()


class WorkersBell(Doorbell):
    """Rings the workers at every commit; does nothing without a Redis."""

    name = "workers"
    warning = "Redis is away, workers are a second late: %s"

    def start(self) -> None:
        """Ring, if there is a Redis."""
        if settings.REDIS_URL:
            super().start()

    def ring(self) -> None:
        """Ring once, and never wait for a Redis that does not answer."""
        ring.apply_async(retry=False)


class Ringer(Scheduler):  # type: ignore[misc]
    """Rings on time; a Redis that is away is mentioned once, and not in a trace each second."""

    away = False

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Ring once."""
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except Exception as error:
            if not self.away:
                logger.warning("Redis is away, nobody is rung: %s", error or type(error).__name__)
            self.away = True
        else:
            self.away = False


class Listener:
    """A Celery worker in a thread: it hears rings and does nothing else."""

    def __init__(self, name: str, wake: Callable[[], None]) -> None:
        self.name, self.wake = name, wake
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run, name="ioa-celery", daemon=True)

    def start(self) -> None:
        """Listen, if there is a Redis."""
        if settings.REDIS_URL:
            waiting.add(self.wake)
            self.thread.start()

    def stop(self) -> None:
        """Listen no more; the thread may be waiting for Redis and ends with the process."""
        waiting.discard(self.wake)
        self.stopping.set()

    def run(self) -> None:
        """Listen; a Celery worker that ended is started again."""
        while not self.stopping.is_set():
            try:
                self.worker().start()
            except Exception:
                logger.exception("The doorbell broke; it is hung up again.")
            self.stopping.wait(RETRY_SECONDS)

    def worker(self) -> Any:
        """Make a Celery worker that runs its tasks, which take no time, in its own thread."""
        return app.WorkController(
            hostname=f"ioa@{self.name}",
            pool="solo",
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
        )
