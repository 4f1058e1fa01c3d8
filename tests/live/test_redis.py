"""The doorbell between processes, on Redis; and that nothing depends on it."""

from __future__ import annotations

import asyncio
import copy
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

from controllers.live.doorbell import PagesBell, listen
from resources import announcements
from tests.api.serving import serve
from tests.live.conftest import Open
from tests.live.tabs import measure, opened
from tests.live.test_sockets import delay, settled
from tests.services import own_redis

NOWHERE = "redis://127.0.0.1:1/0"


@pytest.fixture
def doorbell(real_database: None) -> Iterator[PagesBell]:
    """Ring others when this process commits."""
    bell = PagesBell()
    bell.start()
    yield bell
    bell.stop()


@pytest.fixture
def uncrowded(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Give the test a Redis of its own: what is counted there, no other test has caused."""
    layers = copy.deepcopy(settings.CHANNEL_LAYERS)
    with own_redis() as url:
        layers["default"]["CONFIG"]["hosts"] = [{"address": url, "socket_timeout": None}]
        monkeypatch.setenv("REDIS_URL", url)
        settings.REDIS_URL = url
        settings.CHANNEL_LAYERS = layers
        yield url


@pytest.mark.postgres
async def test_a_ring_is_heard_though_nothing_was_heard_for_long(doorbell: PagesBell) -> None:
    heard = asyncio.Event()
    listening = asyncio.create_task(listen(heard.set))
    await asyncio.to_thread(wait_for_a_member)

    # Redis waits five seconds for a message; a client that gives up then would be deaf.
    for quiet in (0, 6):
        await asyncio.sleep(quiet)
        heard.clear()
        announcements.wake()
        await asyncio.wait_for(heard.wait(), 10)

    listening.cancel()


def wait_for_a_member() -> None:
    """Wait until somebody listens."""
    with redis.Redis.from_url(str(settings.REDIS_URL)) as client:
        until = time.monotonic() + 10
        while not client.zcard("ioa-live:group:live") and time.monotonic() < until:
            time.sleep(0.02)


@pytest.mark.postgres
def test_a_page_that_is_quiet_for_ten_seconds_still_hears_the_next_ring(
    doorbell: PagesBell, look: Open
) -> None:
    tab = look(since=settled())
    measure("a-1")
    tab.hear_until("a-1")
    time.sleep(10)
    measure("b-2")

    assert tab.hear_until("b-2")


@pytest.mark.postgres
def test_redis_is_asked_as_often_for_one_page_as_for_thirty(
    uncrowded: str, doorbell: PagesBell, look: Open
) -> None:
    one = commands_of_a_change(look, 1)
    thirty = commands_of_a_change(look, 29)

    assert one["cmdstat_eval"] >= 1
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
    settings.CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.core.RedisChannelLayer",
            "CONFIG": {"hosts": [NOWHERE]},
        }
    }
    bell = PagesBell()
    bell.start()
    begun = time.monotonic()
    for _ in range(20):
        with transaction.atomic():
            announcements.announce()
        time.sleep(0.02)
    committed = time.monotonic() - begun
    time.sleep(0.5)
    bell.stop()

    assert committed < 2
    assert not bell.thread.is_alive()
    assert caplog.text.count("Redis is away") == 1


def test_without_redis_nobody_is_rung(settings: Any) -> None:
    settings.CHANNEL_LAYERS = {}
    before = set(announcements.listeners)
    bell = PagesBell()
    bell.start()

    assert announcements.listeners == before
    assert bell.thread.ident is None
