"""Across processes: a commit in one makes all others look, through Redis when there is one.

A ring carries nothing and may be lost: whoever has open pages looks once a second anyway.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable

from channels.layers import get_channel_layer

from resources import announcements, metrics

logger = logging.getLogger("ioa.live")

GROUP = "live"
# However many commits there are, others are rung at most this often: pages look twice a second.
GAP_SECONDS = 0.2
RETRY_SECONDS = 1.0
RING_SECONDS = 1.0
# The group forgets a member that does not renew; see CHANNEL_LAYERS.
RENEW_SECONDS = 240.0


class Doorbell:
    """Rings others from one thread, never in the thread that commits."""

    name = "others"
    warning = "The others are rung no more, they look by themselves: %s"

    def __init__(self) -> None:
        self.rung = threading.Event()
        self.stopping = threading.Event()
        self.away = False
        self.thread = threading.Thread(target=self.run, name="ioa-doorbell", daemon=True)

    def start(self) -> None:
        """Ring at every commit of this process from now on."""
        announcements.listeners.add(self.rung.set)
        self.thread.start()

    def stop(self, grace: float = GAP_SECONDS + RETRY_SECONDS) -> bool:
        """Ring no more; tells whether the last ring was over within the grace."""
        announcements.listeners.discard(self.rung.set)
        self.stopping.set()
        self.rung.set()
        if self.thread.ident is not None:
            self.thread.join(grace)
        return not self.thread.is_alive()

    def run(self) -> None:
        """Wait for commits and hand them on; those of one moment together."""
        while self.rung.wait() and not self.stopping.is_set():
            self.rung.clear()
            self.attempt()
            time.sleep(GAP_SECONDS)

    def attempt(self) -> None:
        """Ring once; a Redis that is away is mentioned once."""
        try:
            self.ring()
        except Exception as error:
            metrics.BELL_FAILURES.labels(self.name).inc()
            if not self.away:
                logger.warning(self.warning, error or type(error).__name__)
            self.away = True
        else:
            self.away = False

    def ring(self) -> None:
        """Ring whoever is meant."""
        raise NotImplementedError


class PagesBell(Doorbell):
    """Rings the web processes, whose open pages then look; does nothing without a Redis."""

    name = "pages"
    warning = "Redis is away, pages are a second late: %s"

    def start(self) -> None:
        """Ring, if there is a Redis."""
        if get_channel_layer() is not None:
            super().start()

    def run(self) -> None:
        """Keep one event loop: the connections of the layer belong to it."""
        with asyncio.Runner() as self.runner:
            super().run()

    def ring(self) -> None:
        """Ring once."""
        self.runner.run(self.send())

    async def send(self) -> None:
        """Send to the group; a Redis that takes a message and never answers counts as away."""
        async with asyncio.timeout(RING_SECONDS):
            await get_channel_layer().group_send(GROUP, {"type": "ring"})


async def listen(ring: Callable[[], None]) -> None:
    """Call `ring` whenever another process rings; this process is one member of the group."""
    layer = get_channel_layer()
    if layer is None:
        return
    name = await layer.new_channel()
    while True:
        try:
            await layer.group_add(GROUP, name)
            await hear(name, ring)
        except Exception:
            # Whatever is wrong there, pages stay live: the hub looks by itself.
            await asyncio.sleep(RETRY_SECONDS)


async def hear(name: str, ring: Callable[[], None]) -> None:
    """Pass rings on until membership has to be renewed."""
    layer = get_channel_layer()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(RENEW_SECONDS):
            while True:
                await layer.receive(name)
                ring()
