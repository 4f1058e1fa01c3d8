"""The loop: one thread that finds what is due in the database and does it."""

from __future__ import annotations

import logging
import threading

from django.db import DatabaseError, connection
from django.utils import timezone

from controllers import chores

logger = logging.getLogger("ioa.runner")

TICK_SECONDS = 1.0


class Loop:
    """Runs in the background of the embedded process until it is stopped."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run, name="ioa-loop", daemon=True)

    def start(self) -> None:
        """Begin."""
        self.thread.start()

    def stop(self, grace: float = 5.0) -> bool:
        """Ask the loop to end and wait; tells whether it did within the grace."""
        self.stopping.set()
        self.thread.join(grace)
        return not self.thread.is_alive()

    def run(self) -> None:
        """Tick until told to stop; a broken database costs ticks, never the loop."""
        while not self.stopping.wait(TICK_SECONDS):
            try:
                chores.run_due(timezone.now())
            except DatabaseError:
                logger.exception("The loop could not reach the database.")
            finally:
                connection.close()
