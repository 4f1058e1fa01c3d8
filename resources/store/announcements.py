"""Tell whoever waits that something was committed, in this process and in the others.

Between processes it goes through Redis, where there is one. A wake-up carries nothing but who sent
it, and may be lost: whoever waits looks once a second anyway, so it costs a poll, no more.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from typing import Any, Literal

import redis
from django.conf import settings
from django.db import transaction

from resources.observability import metrics

logger = logging.getLogger("ioa.announcements")

Listener = Callable[[], None]
Sender = Literal["web", "worker"]

CHANNEL = "ioa-wakeup"
# However many commits there are, others are woken at most this often: pages look twice a second.
GAP_SECONDS = 0.2
RETRY_SECONDS = 1.0
# A Redis that takes a message and never answers counts as away.
ANSWER_SECONDS = 1.0
CHECK_SECONDS = 10

listeners: set[Listener] = set()
# Whom the commits of this process wake elsewhere.
senders: set[Listener] = set()
# Listeners that workers elsewhere do not wake.
web_only: set[Listener] = set()


def announce() -> None:
    """Wake the listeners once the current transaction has committed."""
    transaction.on_commit(wake)


def wake() -> None:
    """Wake whoever listens, in every process."""
    call({*listeners, *senders})


def wake_here(sender: str = "web") -> None:
    """Wake whoever listens in this process to what such a process committed elsewhere."""
    call(listeners - web_only if sender == "worker" else listeners)


def call(woken: Iterable[Listener]) -> None:
    """Call every listener; one that fails does not keep the others waiting."""
    for listener in tuple(woken):
        try:
            listener()
        except RuntimeError as error:
            logger.warning("A listener could not be woken: %s", error)


def listen(listener: Listener, *, to_workers: bool = True) -> None:
    """Wake a listener at every commit from now on; of workers elsewhere only where it asks."""
    listeners.add(listener)
    if not to_workers:
        web_only.add(listener)
    hearing.start()


def forget(listener: Listener) -> None:
    """Wake a listener no more."""
    listeners.discard(listener)
    web_only.discard(listener)


def connect(url: str) -> redis.Redis:
    """Connect to Redis, and never wait for long."""
    limits: dict[str, Any] = {
        "socket_connect_timeout": ANSWER_SECONDS,
        "socket_timeout": ANSWER_SECONDS,
        "health_check_interval": CHECK_SECONDS,
    }
    return redis.Redis.from_url(url, decode_responses=True, **limits)


class Hearing:
    """What other processes announce, heard in one thread while anybody listens here."""

    def __init__(self) -> None:
        self.thread: threading.Thread | None = None
        self.lock = threading.Lock()

    def start(self) -> None:
        """Hear the others, if there is a Redis."""
        with self.lock:
            if settings.REDIS_URL and self.thread is None:
                self.thread = threading.Thread(target=self.run, name="ioa-hearing", daemon=True)
                self.thread.start()

    def needed(self) -> bool:
        """Tell whether anybody listens; if not, the thread is over."""
        with self.lock:
            if not listeners:
                self.thread = None
            return bool(listeners)

    def run(self) -> None:
        """Hear; whatever is wrong there, whoever listens looks once a second."""
        while self.needed():
            try:
                self.hear(str(settings.REDIS_URL))
            except Exception:
                time.sleep(RETRY_SECONDS)

    def hear(self, url: str) -> None:
        """Pass on what is announced while somebody listens."""
        with connect(url) as client, client.pubsub(ignore_subscribe_messages=True) as channel:
            channel.subscribe(CHANNEL)
            while listeners:
                message = channel.get_message(timeout=RETRY_SECONDS)
                if message is not None:
                    sender, _, process = str(message["data"]).partition(" ")
                    if process not in own:
                        wake_here(sender)


class Wakeup:
    """Announces the commits of this process to the others, from a thread of its own.

    A commit never waits for Redis. Without a Redis it does nothing.
    """

    def __init__(self, sender: Sender) -> None:
        self.sender, self.process = sender, uuid.uuid4().hex
        self.committed, self.stopping = threading.Event(), threading.Event()
        self.away = False
        self.client: redis.Redis | None = None
        self.thread = threading.Thread(target=self.run, name="ioa-wakeup", daemon=True)

    def start(self) -> None:
        """Announce every commit of this process from now on, if there is a Redis."""
        if settings.REDIS_URL:
            own.add(self.process)
            senders.add(self.committed.set)
            self.thread.start()

    def stop(self, grace: float = GAP_SECONDS + ANSWER_SECONDS) -> bool:
        """Announce no more; tells whether the last one was over within the grace."""
        senders.discard(self.committed.set)
        self.stopping.set()
        self.committed.set()
        if self.thread.ident is not None:
            self.thread.join(grace)
        own.discard(self.process)
        return not self.thread.is_alive()

    def run(self) -> None:
        """Wait for commits and hand them on; those of one moment together."""
        while self.committed.wait() and not self.stopping.is_set():
            self.committed.clear()
            self.attempt()
            time.sleep(GAP_SECONDS)

    def attempt(self) -> None:
        """Announce once; a Redis that is away is mentioned once."""
        try:
            self.send()
        except Exception as error:
            metrics.WAKEUP_FAILURES.inc()
            if not self.away:
                told = error or type(error).__name__
                logger.warning("Redis is away, pages and workers are a second late: %s", told)
            self.away = True
        else:
            self.away = False

    def send(self) -> None:
        """Tell the others that something was committed here."""
        if self.client is None:
            self.client = connect(str(settings.REDIS_URL))
        self.client.publish(CHANNEL, f"{self.sender} {self.process}")


hearing = Hearing()
# What this process sends comes back to it and is news to nobody.
own: set[str] = set()
