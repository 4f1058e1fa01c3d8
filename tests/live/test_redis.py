"""The wake-up between processes, on Redis; and that nothing depends on it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings
from django.db import transaction

from resources.store import announcements
from resources.store.announcements import Wakeup
from tests.api.serving import serve
from tests.live.conftest import Open
from tests.live.tabs import measure, opened
from tests.live.test_sockets import delay, settled
from tests.services import own_redis

pytestmark = pytest.mark.servers

NOWHERE = "redis://127.0.0.1:1/0"


@pytest.fixture
def wakeup(real_database: None) -> Iterator[Wakeup]:
    """Wake others when this process commits."""
    sending = Wakeup("web")
    sending.start()
    yield sending
    sending.stop()


@pytest.fixture
def uncrowded(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Give the test a Redis of its own: what is counted there, no other test has caused."""
    with own_redis() as url:
        monkeypatch.setenv("REDIS_URL", url)
        settings.REDIS_URL = url
        yield url


@pytest.mark.postgres
@pytest.mark.full
async def test_others_are_heard_though_nothing_was_heard_for_long(wakeup: Wakeup) -> None:
    heard, loop = asyncio.Event(), asyncio.get_running_loop()

    def listener() -> None:
        loop.call_soon_threadsafe(heard.set)

    announcements.listen(listener)
    announcements.own.discard(wakeup.process)
    await asyncio.to_thread(wait_for_a_subscriber)

    # A client that gives up when Redis says nothing for some seconds would be deaf.
    for quiet in (0, 6):
        await asyncio.sleep(quiet)
        heard.clear()
        wakeup.committed.set()
        await asyncio.wait_for(heard.wait(), 10)

    announcements.forget(listener)


def wait_for_a_subscriber() -> None:
    """Wait until somebody listens."""
    with redis.Redis.from_url(str(settings.REDIS_URL)) as client:
        until = time.monotonic() + 10
        while not client.pubsub_numsub(announcements.CHANNEL)[0][1] and time.monotonic() < until:
            time.sleep(0.02)


@pytest.mark.postgres
@pytest.mark.parametrize(("sender", "woken"), [("web", 2), ("worker", 1)])
def test_workers_do_not_wake_each_other(real_database: None, sender: Any, woken: int) -> None:
    heard: Counter[str] = Counter()
    listeners = [partial(heard.update, [name]) for name in ("page", "worker")]
    announcements.listen(listeners[0])
    announcements.listen(listeners[1], to_workers=False)
    wait_for_a_subscriber()

    Wakeup(sender).send()
    until = time.monotonic() + 5
    while not heard["page"] and time.monotonic() < until:
        time.sleep(0.02)

    for each in listeners:
        announcements.forget(each)
    assert (heard["page"], heard.total()) == (1, woken)


@pytest.mark.postgres
def test_what_this_process_sends_wakes_it_once(wakeup: Wakeup) -> None:
    heard: Counter[str] = Counter()
    listener = partial(heard.update, ["here"])
    announcements.listen(listener)
    wait_for_a_subscriber()

    announcements.wake()
    time.sleep(1)

    announcements.forget(listener)
    assert heard["here"] == 1


@pytest.mark.postgres
@pytest.mark.full
def test_a_page_that_is_quiet_for_ten_seconds_still_hears_the_next_change(
    wakeup: Wakeup, look: Open
) -> None:
    tab = look(since=settled())
    measure("a-1")
    tab.hear_until("a-1")
    time.sleep(10)
    measure("b-2")

    assert tab.hear_until("b-2")


@pytest.mark.postgres
def test_redis_is_asked_as_often_for_one_page_as_for_thirty(
    uncrowded: str, wakeup: Wakeup, look: Open
) -> None:
    one = commands_of_a_change(look, 1)
    thirty = commands_of_a_change(look, 29)

    assert one["cmdstat_publish"] >= 1
    assert abs(thirty.total() - one.total()) <= 6


def commands_of_a_change(look: Open, pages: int) -> Counter[str]:
    """Open more pages, let something happen, and return the commands that took."""
    tabs = [look(since=settled()) for _ in range(pages)]
    name = f"with-{pages}"
    measure(f"before-{pages}")
    for tab in tabs:
        tab.hear_until(f"before-{pages}")
    with redis.Redis.from_url(str(settings.REDIS_URL)) as client:
        client.config_resetstat()
        measure(name)
        for tab in tabs:
            tab.hear_until(name)
        time.sleep(0.5)
        stats: dict[str, Any] = client.info("commandstats")
    return Counter({name: each["calls"] for name, each in stats.items()})


def test_pages_stay_live_while_redis_is_away(
    growth: None, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", NOWHERE)
    with serve(tmp_path) as server:
        tab = opened(server.url, session, since=settled())
        took = [delay(tab, partial(measure, f"{name}-1"), f"{name}-1") for name in "abc"]
        tab.close()

    assert min(took) < 2


def test_a_commit_neither_waits_for_redis_nor_fails_without_it(
    growth: None, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.REDIS_URL = NOWHERE
    sending = Wakeup("web")
    sending.start()
    begun = time.monotonic()
    for _ in range(20):
        with transaction.atomic():
            announcements.announce()
        time.sleep(0.02)
    committed = time.monotonic() - begun
    time.sleep(0.5)
    sending.stop()

    assert committed < 2
    assert not sending.thread.is_alive()
    assert caplog.text.count("Redis is away") == 1


def test_without_redis_only_this_process_is_woken(settings: Any) -> None:
    settings.REDIS_URL = None
    heard: Counter[str] = Counter()
    listener = partial(heard.update, ["here"])
    sending = Wakeup("web")
    sending.start()
    announcements.listen(listener)
    announcements.wake()
    announcements.forget(listener)

    assert heard["here"] == 1
    assert not announcements.senders
    assert sending.thread.ident is None
    assert sending.stop()


def test_it_hears_others_only_while_somebody_listens(settings: Any) -> None:
    settings.REDIS_URL = NOWHERE
    before = set(announcements.listeners)
    listener = threading.Event().set
    announcements.listen(listener)
    hearing = announcements.hearing.thread
    announcements.forget(listener)

    assert hearing is not None
    assert before or joined(hearing)


def joined(thread: threading.Thread) -> bool:
    """Tell whether a thread ends."""
    thread.join(10)
    return not thread.is_alive()
