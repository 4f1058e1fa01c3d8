"""An answer that may take a while: nothing is held meanwhile, no connection and no thread."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import orjson
from asgiref.sync import sync_to_async

from resources.api.feed import Stream, release

# How long a wait goes on without looking: another process may have answered.
LOOK_SECONDS = 1.0


@dataclass(eq=False)
class Answering(Stream):
    """One client that waits for a person; a commit, or a second, lets it look again."""

    look: Callable[[], dict[str, Any]] = dict
    wait: float = 0.0

    async def follow(self) -> AsyncIterator[bytes]:
        """Look until there is an answer, or the wait is over."""
        ends = time.monotonic() + self.wait
        while True:
            self.woken.clear()
            found = await sync_to_async(self.looked, thread_sensitive=False)()
            left = ends - time.monotonic()
            if found["decision"] != "waiting" or left <= 0 or self.ended:
                yield orjson.dumps(found)
                return
            await self.pause(time.monotonic() + min(left, LOOK_SECONDS))

    def looked(self) -> dict[str, Any]:
        """Return the answer as it stands; runs in a worker thread."""
        try:
            return self.look()
        finally:
            release()
