"""The hub of a process: it works while somebody looks, and cuts off who does not listen."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from asgiref import testing
from django.db import connections
from django.utils import timezone

from controllers.web.live import broadcast, hub, session_check, sockets
from controllers.web.live.hub import Hub
from controllers.web.live.sockets import MOST_UNREAD, LiveSocket
from controllers.web.live.subscription import Seat
from resources.store import announcements
from resources.tables import versions
from tests.live.tabs import measure

pytestmark = pytest.mark.usefixtures("growth")


class Reader:
    """A page that only remembers."""

    def __init__(self, session: str, number: int) -> None:
        self.seat, self.session = Seat("/more", number), session
        self.told: list[str] = []
        self.ended: int | None = None

    def tell(self, text: str) -> None:
        self.told.append(text)

    def end(self, code: int) -> None:
        self.ended = code


async def eventually(true: Callable[[], object], seconds: float = 30) -> None:
    """Wait for something to become true."""
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.02)


async def elsewhere(function: Callable[..., object], *given: object) -> None:
    """Do something in another thread, with a connection of its own."""

    def done() -> None:
        try:
            function(*given)
        finally:
            connections.close_all()

    await asyncio.to_thread(done)


@pytest.fixture
def shown(growth: None) -> int:
    return versions.horizon()


async def test_all_pages_of_a_process_hear_the_same_bytes_rendered_once(
    session: str, shown: int, renders: Counter[str]
) -> None:
    readers = [Reader(session, shown) for _ in range(50)]
    mine = Hub()
    await elsewhere(measure, "support")
    for reader in readers:
        mine.join(reader)

    await eventually(lambda: all("support" in "".join(each.told) for each in readers))

    news = [text for text in readers[0].told if "support" in text]
    assert all(text in each.told for text in news for each in readers)
    assert renders == {"domains": 1, "power": 1}
    assert {each.seat.number for each in readers} == {mine.upto}
    mine.members.clear()


async def test_it_looks_only_while_somebody_is_there(session: str, shown: int) -> None:
    before = set(announcements.listeners)
    mine, reader = Hub(), Reader(session, shown)
    assert mine.task is None
    mine.join(reader)
    await eventually(lambda: announcements.listeners - before)
    mine.leave(reader)
    assert mine.task is not None
    await mine.task

    assert announcements.listeners == before


async def test_it_starts_again_for_the_next_one(session: str, shown: int) -> None:
    mine, first, second = Hub(), Reader(session, shown), Reader(session, shown)
    mine.join(first)
    mine.leave(first)
    assert mine.task is not None
    await mine.task
    mine.join(second)
    await elsewhere(measure, "support")

    await eventually(lambda: "support" in "".join(second.told))
    assert "support" not in "".join(first.told)
    mine.members.clear()


async def test_who_moved_on_meanwhile_is_not_told_about_the_page_before(
    session: str, shown: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, reader = Hub(), Reader(session, shown)
    await elsewhere(measure, "support")
    edition = await asyncio.to_thread(broadcast.publish, {reader.seat}, 0)
    asked = {reader: reader.seat}
    mine.members.add(reader)
    reader.seat = Seat("/shortcuts", shown)
    mine.beat_at = float("inf")

    mine.tell(asked, edition)  # type: ignore[arg-type]

    assert reader.told == []
    assert reader.seat == Seat("/shortcuts", shown)


async def test_sessions_are_checked_now_and_then(
    session: str, shown: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "CHECK_SECONDS", 0.1)
    mine, stays, goes = Hub(), Reader(session, shown), Reader("ended", shown)
    mine.join(stays)
    mine.join(goes)

    await eventually(lambda: goes.ended == 4401)

    assert stays.ended is None
    mine.members.clear()


async def test_a_database_that_is_away_is_mentioned_once_and_waited_for(
    session: str,
    shown: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(hub, "GAP_SECONDS", 0.01)
    monkeypatch.setattr(hub, "LOOK_SECONDS", 0.02)
    failures: list[int] = []

    def away(*_: object) -> None:
        failures.append(1)
        raise ConnectionError("The database is away.")

    mine, reader = Hub(), Reader(session, shown)
    with monkeypatch.context() as broken:
        broken.setattr(broadcast, "publish", away)
        mine.join(reader)
        await eventually(lambda: len(failures) > 3)
    await elsewhere(measure, "support")

    await eventually(lambda: "support" in "".join(reader.told))
    assert caplog.text.count("could not be told") == 1
    mine.members.clear()


async def test_a_page_that_does_not_listen_is_cut_off() -> None:
    deaf = LiveSocket()
    deaf.unread = asyncio.Queue(MOST_UNREAD)
    hub.hub.members.add(deaf)
    for number in range(MOST_UNREAD):
        deaf.tell(str(number))
    assert deaf in hub.hub.members

    deaf.tell("one too many")

    assert deaf not in hub.hub.members
    assert deaf.unread.get_nowait() == 1013


async def test_there_is_room_for_so_many(session: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "MOST_SOCKETS", 0)
    headers = [(b"host", b"localhost"), (b"origin", b"http://localhost")]
    headers.append((b"cookie", f"sessionid={session}".encode()))
    scope = {"type": "websocket", "path": "/live", "query_string": b"page=/", "headers": headers}
    tab: Any = testing.ApplicationCommunicator(LiveSocket.as_asgi(), scope)  # type: ignore[no-untyped-call]

    await tab.send_input({"type": "websocket.connect"})

    assert (await tab.receive_output())["type"] == "websocket.accept"
    assert await tab.receive_output() == {"type": "websocket.close", "code": 1013}
    await tab.send_input({"type": "websocket.disconnect", "code": 1013})
    await tab.wait()


def test_a_session_is_good_until_it_expires(session: str) -> None:
    now = timezone.now()

    assert set(session_check.welcome({session, "another"}, now)) == {session}
    assert session_check.welcome({session}, now + timedelta(hours=13)) == {}
    assert session_check.welcome(set(), now) == {}
