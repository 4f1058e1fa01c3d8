"""A thousand open pages: what it costs the server to tell them all, and whether any misses it."""

from __future__ import annotations

import asyncio
import http.client
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlencode

import orjson
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.utils import timezone
from websockets.asyncio.client import ClientConnection, connect

from bench import meter, world
from controllers.access import people, session_records
from ioa_site.server.web_server import many_files
from resources.tables.models import LedgerEvent
from resources.usecases import specs

PAGE = "/resources/domain/domain-00"
AT_ONCE = 50
PATIENCE = 60.0


@dataclass
class Guest:
    """One open page: how often it was told something, and up to which number."""

    socket: ClientConnection
    told: int = 0
    number: int = 0
    task: asyncio.Task[None] | None = field(default=None, repr=False)

    async def listen(self) -> None:
        """Count what arrives."""
        async for text in self.socket:
            message = orjson.loads(text)
            self.number = max(self.number, message.get("number", 0))
            self.told += "html" in message


def crowd(guests: int, rounds: int, burst: int, port: int) -> dict[str, Any]:
    """Measure the product's own server."""
    many_files()
    cookie = f"{settings.SESSION_COOKIE_NAME}={signed_in()}"
    command = [sys.executable, "-m", "ioa_site.cli", "web", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            return asyncio.run(ours(server.pid, port, cookie, (guests, rounds, burst)))
        finally:
            server.terminate()


def bare(guests: int, rounds: int, port: int) -> dict[str, Any]:
    """Measure a server that does nothing but send a text to every socket."""
    many_files()
    command = [sys.executable, "-m", "bench.broadcast", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            return asyncio.run(theirs(server.pid, port, guests, rounds))
        finally:
            server.terminate()


async def ours(pid: int, port: int, cookie: str, sizes: tuple[int, int, int]) -> dict[str, Any]:
    """Change something again and again, and see that everybody is told."""
    guests, rounds, burst = sizes
    await answering(port)
    since = await asyncio.to_thread(newest)
    async with opened(port, guests, {"Cookie": cookie}, since) as crowd:
        # The first round finds everything: that is no part of the price of one message.
        await told(crowd, lambda: rename(-1))
        before = meter.total(pid), sum(guest.told for guest in crowd)
        for number in range(rounds):
            await told(crowd, partial(rename, number))
        used = meter.total(pid) - before[0]
        delivered = sum(guest.told for guest in crowd) - before[1]
        for number in range(burst):
            await asyncio.to_thread(rename, rounds + number)
        last = await asyncio.to_thread(newest)
        lost = await missing(crowd, last)
    return {"cpu": used / delivered, "lost": lost, "delivered": delivered}


async def theirs(pid: int, port: int, guests: int, rounds: int) -> dict[str, Any]:
    """Let the bare server send, and see that everybody is told."""
    await answering(port)
    async with opened(port, guests, {}) as crowd:
        before = meter.total(pid)
        for number in range(rounds + 1):
            if number == 1:
                before = meter.total(pid)
            await asyncio.to_thread(post, port)
            await until(partial(heard, crowd, number))
        used = meter.total(pid) - before
    return {"cpu": used / (rounds * guests)}


def heard(crowd: list[Guest], number: int) -> bool:
    """Tell whether everybody was told more often than so."""
    return all(each.told > number for each in crowd)


@asynccontextmanager
async def opened(
    port: int, guests: int, headers: dict[str, str], since: int = 0
) -> AsyncIterator[list[Guest]]:
    """Open so many pages, which know everything up to a number."""
    address = f"ws://127.0.0.1:{port}/live?{urlencode({'page': PAGE, 'since': since})}"
    origin = f"http://127.0.0.1:{port}"
    crowd: list[Guest] = []
    while len(crowd) < guests:
        some = (
            connect(
                address,
                additional_headers={**headers, "Origin": origin},
                compression=None,
                ping_interval=None,
            )
            for _ in range(min(AT_ONCE, guests - len(crowd)))
        )
        crowd += [Guest(each) for each in await asyncio.gather(*some)]
    for each in crowd:
        each.task = asyncio.create_task(each.listen())
    yield crowd
    await asyncio.gather(*(each.socket.close() for each in crowd))


async def told(crowd: list[Guest], change: Callable[[], None]) -> None:
    """Make a change and wait until every page was told."""
    before = [guest.told for guest in crowd]
    await asyncio.to_thread(change)
    await until(lambda: all(now.told > then for now, then in zip(crowd, before, strict=True)))


async def missing(crowd: list[Guest], last: int) -> int:
    """Wait for everybody to know the last number; return how many never do."""
    deadline = time.monotonic() + PATIENCE
    while any(guest.number < last for guest in crowd) and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    return sum(guest.number < last for guest in crowd)


async def until(true: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE):
        while not true():
            await asyncio.sleep(0.01)


async def answering(port: int) -> None:
    """Wait until a server listens."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return


def post(port: int) -> None:
    """Ask the bare server to send."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    line.request("POST", "/")
    line.getresponse().read()
    line.close()


def signed_in(role: str = "Viewers") -> str:
    """Return the key of a session of somebody."""
    person = people.add_person(
        "bench", name="Bench", role=role, actor=world.PERSON, now=timezone.now()
    )
    session = SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.create()
    now = timezone.now()
    session_records.begin(
        session, person, session_records.Came("password", "127.0.0.1", "bench"), now
    )
    session.save()
    return str(session.session_key)


def rename(number: int) -> None:
    """Change something that the page shows."""
    domain = world.made(
        "Domain", "domain-00", {"purpose": f"Holds agents, said {number + 2} times."}
    )
    outcome = specs.apply([specs.DesiredDocument(domain)], actor=world.PERSON, now=timezone.now())
    if not outcome.written:
        raise RuntimeError("The change was refused.")


def newest() -> int:
    """Return the number of the last event."""
    return int(LedgerEvent.objects.order_by("-id").values_list("id", flat=True)[0])
