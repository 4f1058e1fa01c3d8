"""Celery: a beat makes the workers look every second. Its task carries nothing and may be lost.

What is committed wakes other processes without it (`resources/store/announcements.py`). Every
worker looks into the database once a second anyway, so Redis may be away, flushed or slow, and a
beat may be lost or come twice.
"""

from __future__ import annotations

import logging
import threading
from typing import Any

from celery import Celery, platforms
from celery.apps.beat import Beat
from celery.beat import Scheduler
from django.conf import settings
from kombu.common import Broadcast

from resources.store import announcements

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


@app.task(name=RING)  # type: ignore[untyped-decorator]
def ring() -> None:
    """Wake whoever waits in this process."""
    announcements.wake_here()


class Ringer(Scheduler):  # type: ignore[misc]
    """Rings on time; a Redis that is away is mentioned once, and not in a trace each second."""

    away = False
    # Whether it was told to end.
    ended = False

    def tick(self, *given: Any, **options: Any) -> Any:
        """Ring what is due; whoever was told to end rings no more."""
        if self.ended:
            raise SystemExit(0)
        return super().tick(*given, **options)

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Ring once."""
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except Exception as error:
            if not (self.away or self.ended):
                logger.warning("Redis is away, nobody is rung: %s", error or type(error).__name__)
            self.away = True
        else:
            self.away = False


class Bell(Beat):  # type: ignore[misc]
    """A beat that ends when it is told to, also in the middle of a ring."""

    def install_sync_handler(self, service: Any) -> None:
        """Remember that it was told, and break off what it does.

        A ring that is broken off may come to an error of Redis's client instead of to an end.
        """
        ringer = service.scheduler

        def end(*_: object) -> None:
            ringer.ended = True
            raise SystemExit(0)

        platforms.signals.update(SIGTERM=end, SIGINT=end)


class Listener:
    """A Celery worker in a thread: it hears the beat and does nothing else."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run, name="ioa-celery", daemon=True)

    def start(self) -> None:
        """Listen, if there is a Redis."""
        if settings.REDIS_URL:
            self.thread.start()

    def stop(self) -> None:
        """Listen no more; the thread may be waiting for Redis and ends with the process."""
        self.stopping.set()

    def run(self) -> None:
        """Listen; a Celery worker that ended is started again."""
        while not self.stopping.is_set():
            try:
                self.worker().start()
            except Exception:
                logger.exception("The beat is not heard; Celery is started again.")
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
