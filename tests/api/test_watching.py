"""The feed of changes, read from a real server in another process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone
from rest_framework.request import Request

from resources.api.feed import Stream, end_all, streams
from resources.store import announcements
from resources.tables.models import AgentToken, Compaction, Resource
from resources.usecases import deletion, tokens
from tests.api.conftest import ALICE, agent, apply, domain, issue
from tests.api.serving import Server, serve, until
from tests.conftest import given

pytestmark = pytest.mark.full


@pytest.fixture
def server(real_database: None, tmp_path: Path) -> Iterator[Server]:
    with serve(tmp_path) as running:
        yield running


@pytest.fixture
def alice(real_database: None) -> dict[str, str]:
    """Return the headers of a person who is signed in."""
    client = Client()
    client.force_login(given(User.objects.create(username="alice"), "administrator"))
    return {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}


@pytest.fixture
def robin(real_database: None) -> dict[str, str]:
    """Return the headers of an agent of growth."""
    apply(domain("growth"), domain("finance"), agent("robin", "growth"))
    return {"Authorization": f"Bearer {issue('robin', 'resources:read')}"}


@pytest.mark.quick
def test_every_change_arrives_in_order_with_its_document(
    server: Server, alice: dict[str, str]
) -> None:
    with server.watch("since=0", **alice) as feed:
        apply(domain("growth"))
        apply(domain("growth", budgetRef="b"))
        deletion.delete("Domain", "growth", actor=ALICE, now=timezone.now())
        found = [until(feed, event) for event in ("ADDED", "MODIFIED", "DELETED")]

    assert [frame.data["metadata"]["name"] for frame in found] == ["growth"] * 3
    assert found[1].data["spec"]["budgetRef"] == "b"
    assert [frame.id for frame in found] == [
        frame.data["metadata"]["resourceVersion"] for frame in found
    ]
    assert [int(frame.id) for frame in found] == sorted(int(frame.id) for frame in found)


def test_a_feed_goes_on_where_it_was_left(server: Server, alice: dict[str, str]) -> None:
    apply(domain("first"), domain("second"), domain("third"))
    with server.watch("since=0", **alice) as feed:
        left_at = next(feed).id

    with server.watch("since=0", **alice, **{"Last-Event-ID": left_at}) as feed:
        names = [next(feed).data["metadata"]["name"] for _ in range(2)]

    assert names == ["second", "third"]


def test_without_a_version_a_feed_begins_now(server: Server, alice: dict[str, str]) -> None:
    apply(domain("old"))

    with server.watch(**alice) as feed:
        bookmark = next(feed)
        apply(domain("new"))
        added = until(feed, "ADDED")

    assert bookmark.event == "BOOKMARK"
    assert bookmark.data == {"metadata": {"resourceVersion": bookmark.id}}
    assert added.data["metadata"]["name"] == "new"
    assert int(added.id) > int(bookmark.id)


def test_bookmarks_come_when_nothing_happens(server: Server, alice: dict[str, str]) -> None:
    begun = time.monotonic()

    with server.watch("bookmarkSeconds=1", **alice) as feed:
        events = [next(feed).event for _ in range(3)]

    assert events == ["BOOKMARK"] * 3
    assert time.monotonic() - begun > 1.8


def test_one_kind_can_be_followed(server: Server, alice: dict[str, str]) -> None:
    apply(domain("growth"), agent("robin", "growth"))

    with server.watch("since=0&kind=agent", **alice) as feed:
        frame = next(feed)

    assert frame.data["kind"] == "Agent"


def test_an_agent_follows_only_what_it_may_read(server: Server, robin: dict[str, str]) -> None:
    with server.watch("bookmarkSeconds=1", **robin) as feed:
        next(feed)
        apply(agent("wren", "finance"))
        apply(agent("stork", "growth"))
        frame = until(feed, "ADDED")

    assert frame.data["metadata"]["name"] == "stork"


def test_a_feed_overtaken_by_retention_says_so_and_ends(
    server: Server, alice: dict[str, str]
) -> None:
    with server.watch("since=0", **alice) as feed:
        next(feed)
        Compaction.objects.create(name="revisions", floor=10**12)
        error = until(feed, "ERROR")
        rest = list(feed)

    assert (error.data["status"], error.id) == (410, "")
    assert rest == []


@pytest.mark.quick
def test_a_revoked_token_ends_its_feed(server: Server, robin: dict[str, str]) -> None:
    with server.watch("bookmarkSeconds=1", **robin) as feed:
        next(feed)
        token = AgentToken.objects.get()
        tokens.revoke(token.key_id, actor=ALICE, now=timezone.now())
        error = until(feed, "ERROR")
        rest = list(feed)

    assert error.data["status"] == 401
    assert rest == []


def test_signing_out_ends_a_feed(server: Server, alice: dict[str, str]) -> None:
    with server.watch("bookmarkSeconds=1", **alice) as feed:
        next(feed)
        Session.objects.all().delete()
        error = until(feed, "ERROR")

    assert error.data["status"] == 401


@pytest.mark.sqlite
def test_a_waiting_feed_holds_no_database_connection(
    server: Server, alice: dict[str, str]
) -> None:
    with server.watch(**alice) as feed, server.watch(**alice) as other:
        next(feed)
        next(other)
        handles = []
        for _ in range(20):
            time.sleep(0.05)
            handles.append(open_handles(server.process.pid))

    assert sorted(handles)[len(handles) // 2] == 0


def open_handles(pid: int) -> int:
    """Count how often a process has the database open."""
    folder = Path(f"/proc/{pid}/fd")
    if not folder.is_dir():
        pytest.skip("Only Linux shows what a process has open.")
    targets = [file.readlink().name for file in folder.iterdir() if file.exists()]
    return sum(target.endswith(".sqlite3") for target in targets)


async def test_a_commit_cuts_the_wait_short() -> None:
    stream = Stream(Request(HttpRequest()), None, 0, 60, loop=asyncio.get_running_loop())
    announcements.listeners.add(stream.wake)
    begun = time.monotonic()

    Thread(target=announcements.wake).start()
    await stream.pause(begun + 60)

    announcements.listeners.discard(stream.wake)
    assert time.monotonic() - begun < 20


async def test_a_server_that_stops_can_end_every_feed() -> None:
    stream = Stream(Request(HttpRequest()), None, 0, 60, loop=asyncio.get_running_loop())
    streams.add(stream)

    end_all()
    await asyncio.wait_for(stream.pause(time.monotonic() + 60), 20)

    streams.discard(stream)
    assert [frame async for frame in stream.follow()] == []


def test_the_server_stops_though_somebody_watches(server: Server, alice: dict[str, str]) -> None:
    with server.watch(**alice) as feed:
        next(feed)
        seconds = server.stop()

    assert seconds < 10
    assert Resource.objects.count() == 0
