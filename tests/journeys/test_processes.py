"""Web, workers and beat as processes of their own behave as the one process does."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.browsing.stage import servers
from tests.journeys.processes import Place, placed, until
from tests.journeys.product import PATIENCE, Product, answers, free_port

pytestmark = [pytest.mark.product, pytest.mark.timeout(300), pytest.mark.full]

INTERVAL_SECONDS = 5
ORGANISATION = """
apiVersion: ioa.dev/v0.2
kind: Domain
metadata: {name: support}
spec: {purpose: Helps customers}
---
apiVersion: ioa.dev/v0.2
kind: Controller
metadata: {name: watcher}
spec:
  targetKind: Domain
  reconcileInterval: 5s
  enforcementMode: observe
  actions: {onDrift: [{type: reconcile, strategy: immediate}]}
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with servers() as given, placed(tmp_path, given) as found:
        yield found


def declared(place: Place) -> None:
    done = place.product.run("apply", "-f", "-", text=ORGANISATION)
    assert done.returncode == 0, done.stderr


def ready(base: str) -> Any:
    return httpx.get(f"{base}/readyz", timeout=PATIENCE)


def controllers_run(base: str) -> bool:
    return bool(ready(base).json()["controllers"]["running"])


def test_web_can_be_used_though_nobody_runs_the_loop(place: Place) -> None:
    base = place.web()

    answer = ready(base)

    assert (answer.status_code, answer.json()["loop"]) == (200, "silent")
    assert place.end() == [0]


@pytest.mark.quick
def test_a_worker_runs_what_is_declared_and_ends_when_asked(place: Place) -> None:
    declared(place)
    base = place.web()
    worker = place.start("worker")

    until(lambda: controllers_run(base))

    assert ready(base).json()["loop"] == "ok"
    # People at a page of the same machine go first.
    polite = [os.getpriority(os.PRIO_PROCESS, each.pid) for each in place.running]
    assert polite[1] > polite[0]
    worker.terminate()
    begun = time.monotonic()
    assert worker.wait(30) == 0
    assert time.monotonic() - begun < 12
    assert "Traceback" not in place.said()


def test_several_web_processes_share_a_port_and_one_may_go(place: Place) -> None:
    port = free_port()
    base = place.web(port, "--share-port")
    place.web(port, "--share-port")
    place.running[0].terminate()

    assert place.running[0].wait(30) == 0
    assert all(answers(base) for _ in range(20))


def test_two_beats_ring_and_nothing_happens_twice(place: Place) -> None:
    if "REDIS_URL" not in place.product.given:
        done = place.product.run("beat")
        assert (done.returncode, done.stderr) == (
            2,
            "ioa: There is nothing to ring through: set REDIS_URL.\n",
        )
        return
    declared(place)
    base = place.web()
    for command in ("beat", "beat", "worker", "worker"):
        place.start(command)
    until(lambda: controllers_run(base))
    with httpx.Client(base_url=base, timeout=PATIENCE) as client:
        person = signed_in(client, place)
        until(lambda: len(cycles(person)) >= 4)
        begun = sorted(moment(cycle["startedAt"]) for cycle in cycles(person))

    span = (begun[-1] - begun[0]).total_seconds()
    # What is new is looked at once more at once; from then on the interval is kept.
    assert len(begun) <= span / INTERVAL_SECONDS + 2
    assert place.end() == [0] * 5
    assert "Traceback" not in place.said()


def signed_in(client: httpx.Client, place: Place) -> httpx.Client:
    link = f"{client.base_url}{place.product.link('admin').removeprefix(place.product.base)}"
    client.get(link)
    client.post(link, data={"csrfmiddlewaretoken": client.cookies["csrftoken"]})
    return client


def cycles(client: httpx.Client) -> list[Any]:
    answer = client.get("/api/v1/controllers/watcher/cycles")
    assert answer.status_code == 200, answer.text
    found: list[Any] = answer.json()["items"]
    return found


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_a_server_says_what_to_do_when_the_database_is_not_made(tmp_path: Path) -> None:
    with servers(bare=True) as given:
        for command in ("web", "worker"):
            done = Product(tmp_path / "data", given=given, bare=True).run(command)

            assert done.returncode == 2
            assert done.stderr == (
                "ioa: The database is older than this version: run `ioa migrate` first.\n"
            )


def test_many_may_migrate_at_once(tmp_path: Path) -> None:
    with servers(bare=True) as given:
        place = Place(tmp_path, given, bare=True)
        for _ in range(3):
            place.start("migrate")

        assert [process.wait(120) for process in place.running] == [0, 0, 0]
        assert place.said().count("up to date now") >= 1


def test_workers_of_one_command_are_replaced_and_end_with_it(tmp_path: Path) -> None:
    with servers() as given:
        product = Product(tmp_path / "data", given=given)
        product.options = ("--workers", "1")
        with product:
            assert product.process is not None
            until(lambda: ready(product.base).status_code == 200)
            (first,) = children(product.process.pid)
            os.kill(first, 9)
            until(lambda: children(product.process.pid) not in ([], [first]))  # type: ignore[union-attr]
            (second,) = children(product.process.pid)
            assert product.stop() == 0
            assert not Path(f"/proc/{second}").exists()
            product.start()
            until(lambda: bool(children(product.process.pid)))  # type: ignore[union-attr]
            (third,) = children(product.process.pid)
        # It was killed: who it started sees that and ends.
        until(lambda: not Path(f"/proc/{third}").exists(), 30)


def children(parent: int) -> list[int]:
    """Return the processes that another one started."""
    found = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(word) for file in found for word in file.read_text().split()]
