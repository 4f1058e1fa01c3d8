"""Several clients at once, over HTTP, against a real server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from controllers.access import people
from resources.documents.actor import Actor
from resources.documents.kind import Document
from resources.store import evidence
from resources.tables.models import Resource
from resources.usecases import specs, watch
from tests.api.serving import Server, serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.servers]

ALICE = Actor("person", "alice")
CSRF = "c" * 32
CLIENTS = 8
ROUNDS = 6
QUIET_SECONDS = 2.5


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serve(tmp_path / "served") as running:
        yield running


@pytest.fixture
def cookies() -> dict[str, str]:
    user: User = people.ensure_administrator(timezone.now())
    browser = Client()
    browser.force_login(user)
    return {"sessionid": browser.cookies["sessionid"].value, "csrftoken": CSRF}


def domain(name: str, **spec: object) -> Document:
    return {
        "apiVersion": "ioa.dev/v0.2",
        "kind": "Domain",
        "metadata": {"name": name},
        "spec": {"purpose": "Race", **spec},
    }


def apply(*documents: Document) -> None:
    wishes = [specs.DesiredDocument(document) for document in documents]
    assert specs.apply(wishes, actor=ALICE, now=timezone.now()).written


class Contestant:
    """One client that adds marks to a list, each to the list as it has just read it."""

    def __init__(self, worker: int, address: str, cookies: dict[str, str]) -> None:
        self.worker = worker
        self.address = address
        self.cookies = cookies
        self.won: list[int] = []
        self.conflicts = 0

    def run(self, barrier: threading.Barrier) -> None:
        """Go on until every mark is placed."""
        headers = {"X-CSRFToken": CSRF}
        with httpx.Client(cookies=self.cookies, headers=headers, timeout=30) as client:
            barrier.wait()
            while len(self.won) < ROUNDS:
                self.place_mark(client)

    def place_mark(self, client: httpx.Client) -> None:
        """Read, add, write at the version that was read."""
        read = client.get(self.address)
        listed = read.json()["spec"]["boundaries"]["includes"]
        mark = f"client-{self.worker}-round-{len(self.won)}"
        answer = client.patch(
            self.address,
            json={"spec": {"boundaries": {"includes": [*listed, mark]}}},
            headers={
                "If-Match": read.headers["ETag"],
                "Content-Type": "application/merge-patch+json",
            },
        )
        assert answer.status_code in (200, 409), answer.text
        if answer.status_code == 200:
            self.won.append(int(answer.headers["ETag"].strip('"')))
        else:
            assert answer.json()["currentVersion"]
            self.conflicts += 1


def test_eight_clients_patching_one_resource_lose_nothing(
    server: Server, cookies: dict[str, str]
) -> None:
    apply(domain("contested", boundaries={"includes": []}))
    address = f"{server.url}/api/v1/resources/domain/contested"
    barrier = threading.Barrier(CLIENTS)
    contestants = [Contestant(worker, address, cookies) for worker in range(CLIENTS)]

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(lambda each: each.run(barrier), contestants))

    contested = Resource.objects.get(name="contested")
    history = list(contested.revisions.order_by("resource_version"))
    lengths = [len(revision.spec["boundaries"]["includes"]) for revision in history]
    marks = [f"client-{who}-round-{each}" for who in range(CLIENTS) for each in range(ROUNDS)]
    acknowledged = sorted(version for each in contestants for version in each.won)
    assert sorted(contested.spec["boundaries"]["includes"]) == sorted(marks)
    assert acknowledged == [revision.resource_version for revision in history][1:]
    assert [revision.generation for revision in history] == list(range(1, len(history) + 1))
    assert lengths == list(range(len(history)))
    assert sum(each.conflicts for each in contestants) > 0
    assert evidence.verify().findings == []


class Follower(threading.Thread):
    """A client that follows the feed until it has seen so many changes."""

    def __init__(self, server: Server, cookies: dict[str, str], expected: int) -> None:
        super().__init__()
        self.server = server
        self.header = "; ".join(f"{name}={value}" for name, value in cookies.items())
        self.since = watch.current()
        self.expected = expected
        self.arrived: list[str] = []
        self.everything = threading.Event()

    def run(self) -> None:
        with self.server.watch(f"since={self.since}", Cookie=self.header) as feed:
            for frame in feed:
                if frame.event != "BOOKMARK":
                    self.arrived.append(frame.data["metadata"]["name"])
                if len(self.arrived) == self.expected:
                    self.everything.set()
                    return


class Holder(threading.Thread):
    """A writer that takes its number and keeps its transaction open."""

    def __init__(self) -> None:
        super().__init__()
        self.holding, self.release = threading.Event(), threading.Event()

    def run(self) -> None:
        with transaction.atomic():
            apply(domain("held-open"))
            self.holding.set()
            self.release.wait(30)
        connection.close()


def test_the_feed_waits_for_an_open_writer_and_skips_nothing(
    server: Server, cookies: dict[str, str]
) -> None:
    apply(domain("before"))
    follower, holder = Follower(server, cookies, expected=12), Holder()
    follower.start()
    holder.start()
    assert holder.holding.wait(30)
    others = [f"other-{number}" for number in range(10)]
    for name in others:
        apply(domain(name))

    assert not follower.everything.wait(QUIET_SECONDS)
    seen_while_held = list(follower.arrived)
    holder.release.set()
    holder.join(30)
    apply(domain("afterwards"))
    assert follower.everything.wait(30), follower.arrived
    follower.join(30)

    assert seen_while_held == []
    assert follower.arrived == ["held-open", *others, "afterwards"]
