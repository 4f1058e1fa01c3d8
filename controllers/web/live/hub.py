"""One hub for all open pages of a process: it follows the ledger and tells each what is new.

While nobody has a page open it reads nothing. A commit makes it look at once; otherwise it looks
every second. It looks at most twice a second, however much happens.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Collection
from typing import Protocol

import orjson
from django.utils import timezone

from controllers.web.live import broadcast, session_check
from controllers.web.live.broadcast import Edition
from controllers.web.live.subscription import Seat
from resources.observability import metrics
from resources.store import announcements

logger = logging.getLogger("ioa.live")

GAP_SECONDS = 0.5
LOOK_SECONDS = 1.0
BEAT_SECONDS = 10.0
CHECK_SECONDS = 30.0
SIGNED_OUT = 4401


class Member(Protocol):
    """An open page of somebody."""

    seat: Seat
    session: str

    def tell(self, text: str) -> None:
        """Say something to the page; never waits."""

    def end(self, code: int) -> None:
        """Close the connection, and say why."""


class Hub:
    """Everybody who has a page open in this process."""

    def __init__(self) -> None:
        self.members: set[Member] = set()
        self.upto = 0
        self.woken = asyncio.Event()
        self.task: asyncio.Task[None] | None = None
        self.beat_at = self.check_at = 0.0
        self.failing = False

    def join(self, member: Member) -> None:
        """Let a page be told what is new; the first one starts the round."""
        self.members.add(member)
        metrics.SOCKETS.set(len(self.members))
        if self.task is None or self.task.done():
            self.woken = asyncio.Event()
            self.task = asyncio.get_running_loop().create_task(self.follow())
        self.woken.set()

    def leave(self, member: Member) -> None:
        """Tell a page nothing more."""
        self.members.discard(member)
        metrics.SOCKETS.set(len(self.members))

    async def follow(self) -> None:
        """Look, tell, wait for a commit, while anybody is there."""
        loop, woken = asyncio.get_running_loop(), self.woken

        def look_now() -> None:
            loop.call_soon_threadsafe(woken.set)

        announcements.listen(look_now)
        self.beat_at = self.check_at = time.monotonic()
        try:
            while self.members:
                woken.clear()
                await self.attempt()
                await asyncio.sleep(GAP_SECONDS)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(woken.wait(), LOOK_SECONDS - GAP_SECONDS)
        finally:
            announcements.forget(look_now)

    async def attempt(self) -> None:
        """Make a round; one that fails is mentioned once and tried again."""
        try:
            await self.round()
        except Exception:
            if not self.failing:
                logger.exception("Open pages could not be told what is new.")
            self.failing = True
        else:
            self.failing = False

    async def round(self) -> None:
        """Find what is new and tell everybody whom it concerns."""
        asked = {member: member.seat for member in self.members}
        seats = set(asked.values())
        edition = await asyncio.to_thread(broadcast.publish, seats, self.upto)
        self.upto = edition.upto
        if edition.people or time.monotonic() >= self.check_at:
            await self.check(asked)
        self.tell(asked, edition)

    async def check(self, members: Collection[Member]) -> None:
        """Send away whoever is not signed in any more."""
        self.check_at = time.monotonic() + CHECK_SECONDS
        sessions = {member.session for member in members}
        welcome = await asyncio.to_thread(session_check.welcome, sessions, timezone.now())
        for member in members:
            if member.session not in welcome:
                member.end(SIGNED_OUT)
            else:
                member.seat = member.seat.seen_with(welcome[member.session])

    def tell(self, asked: dict[Member, Seat], edition: Edition) -> None:
        """Hand out the messages; now and then everybody hears something, to know we are here."""
        beat = None
        if time.monotonic() >= self.beat_at:
            self.beat_at = time.monotonic() + BEAT_SECONDS
            beat = orjson.dumps({"number": edition.upto}).decode()
        for member, seat in asked.items():
            # Who left, or went to another page meanwhile, is not where the message belongs.
            if member not in self.members or member.seat != seat:
                continue
            member.seat = seat._replace(number=edition.upto)
            text = edition.messages.get(seat, beat)
            if text is not None:
                member.tell(text)


hub = Hub()
