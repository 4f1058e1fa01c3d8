"""One client's stream of changes, and what wakes it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import orjson
from asgiref.sync import sync_to_async
from django.contrib.auth import get_user
from django.db import OperationalError, connection
from django.http import HttpRequest
from rest_framework.request import Request

from resources.api.authentication import (
    AgentTokenAuthentication,
    principal_of,
    require_scope,
)
from resources.api.problems import document, explained
from resources.documents.problems import NOT_SIGNED_IN, Problem
from resources.store import announcements
from resources.tables.models import AgentToken
from resources.usecases import watch
from resources.usecases.access import Principal, sees

SCOPE = "resources:read"
POLL_SECONDS = 1.0
RECHECK_SECONDS = 20.0
PAGE = 500


@dataclass(eq=False)
class Stream:
    """One client's feed. It holds no database connection while it waits."""

    request: Request
    kind: str | None
    cursor: int
    bookmark_seconds: int
    principal: Principal | None = None
    ended: bool = False
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    loop: asyncio.AbstractEventLoop | None = None

    async def frames(self) -> AsyncIterator[bytes]:
        """Yield frames until the client leaves, its rights end, or the server stops."""
        self.loop = asyncio.get_running_loop()
        announcements.listen(self.wake)
        streams.add(self)
        pulse.start(self.loop)
        try:
            # The thread that answered the request keeps a connection until the response ends.
            await sync_to_async(release)()
            async for frame in self.follow():
                yield frame
        finally:
            announcements.forget(self.wake)
            streams.discard(self)

    async def follow(self) -> AsyncIterator[bytes]:
        """Read, hand on, wait; a commit cuts the wait short."""
        bookmark_at = check_at = time.monotonic()
        while not self.ended:
            self.woken.clear()
            due = time.monotonic() >= check_at
            try:
                frames, more = await sync_to_async(self.poll, thread_sensitive=False)(check=due)
            except Exception as error:
                yield farewell(error)
                return
            if due:
                check_at = time.monotonic() + min(RECHECK_SECONDS, self.bookmark_seconds)
            for frame in frames:
                yield frame
            if time.monotonic() >= bookmark_at:
                bookmark_at = time.monotonic() + self.bookmark_seconds
                yield bookmark(self.cursor)
            if not more:
                await self.pause(min(bookmark_at, check_at))

    async def pause(self, until: float) -> None:
        """Wait for a commit, but no longer than until the next thing is due."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.woken.wait(), max(0.0, until - time.monotonic()))

    def poll(self, *, check: bool) -> tuple[list[bytes], bool]:
        """Return the next frames and whether more are waiting; runs in a worker thread."""
        try:
            if check or self.principal is None:
                self.principal = recheck(self.request)
            page = watch.changes(self.cursor, kind=self.kind, limit=PAGE)
            frames = [
                frame(each.type, each.resource_version, each.document)
                for each in page.events
                if sees(self.principal, each.document)
            ]
            self.cursor = page.upto
            return frames, len(page.events) == PAGE
        finally:
            release()

    def wake(self) -> None:
        """Cut the wait short; may be called from any thread."""
        if self.loop is not None:
            self.loop.call_soon_threadsafe(self.woken.set)

    def end(self) -> None:
        """End the stream at its next step."""
        self.ended = True
        self.wake()


class Pulse:
    """Looks for other processes' commits, once a second for all streams of this one."""

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Beat as long as there are streams."""
        if self.task is None or self.task.done() or self.task.get_loop() is not loop:
            self.task = loop.create_task(self.beat())

    async def beat(self) -> None:
        """Wake every stream when the safe version has moved."""
        seen = -1
        while streams:
            await asyncio.sleep(POLL_SECONDS)
            with contextlib.suppress(OperationalError):
                now = await sync_to_async(safe_version, thread_sensitive=False)()
                if now != seen:
                    wake_all()
                seen = now


# Every open stream of this process.
streams: set[Stream] = set()
pulse = Pulse()


def wake_all() -> None:
    """Let every stream look for changes."""
    for stream in tuple(streams):
        stream.woken.set()


def safe_version() -> int:
    """Return how far a feed may read; runs in a worker thread."""
    try:
        return watch.current()
    finally:
        release()


def end_all() -> None:
    """End every stream of this process; clients come back with the last version they saw."""
    for stream in tuple(streams):
        stream.end()


def frame(event: str, version: int, data: Any) -> bytes:
    """Write one server-sent event."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (version, event.encode(), orjson.dumps(data))


def bookmark(cursor: int) -> bytes:
    """Say how far the feed has come, though nothing happened."""
    return frame("BOOKMARK", cursor, {"metadata": {"resourceVersion": str(cursor)}})


def farewell(error: Exception) -> bytes:
    """Say why a stream ends; without an id, so that a client comes back where it was."""
    refused = explained(error, {"view": None})
    if refused is None:
        raise error
    return b"event: ERROR\ndata: %s\n\n" % orjson.dumps(document(refused))


def recheck(request: Request) -> Principal:
    """Return who reads, if they still may."""
    if isinstance(request.auth, AgentToken):
        _, request.auth = AgentTokenAuthentication().authenticate(request) or (None, None)
        require_scope(request, SCOPE)
        return principal_of(request)
    fresh = HttpRequest()
    fresh.session = type(request.session)(request.session.session_key)
    user = get_user(fresh)
    if not user.is_authenticated:
        raise Problem(NOT_SIGNED_IN, "Your session has ended. Sign in again.")
    return user


def release() -> None:
    """Give this thread's database connection back."""
    if not connection.in_atomic_block:
        connection.close()
