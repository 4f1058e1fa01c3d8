"""The product as processes: started, stopped, killed, measured, and without its loop."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.browsing.stage import servers
from tests.journeys.processes import Place, placed
from tests.journeys.product import Product
from tests.promises.callers import Caller, People, Person, until
from tests.promises.organisation import agent, budget, controller, domain

pytestmark = [pytest.mark.product, pytest.mark.timeout(300), pytest.mark.full]


def figures(admin: Person) -> dict[str, float]:
    """Return what the metrics say, by name and labels."""
    lines = admin.line.get("/metrics").text.splitlines()
    pairs = (line.rpartition(" ") for line in lines if line and not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}


# Beside a server the loop is a process of its own, which tells its own figures.
@pytest.mark.sqlite
def test_metrics_tell_how_cycles_go_and_counters_only_grow(admin: Person) -> None:
    """O-53 D-53"""
    admin.apply(domain("meter"), agent("measured", "meter", labels={"by": "meter"}))
    admin.apply(controller("of-meter", "Agent", "meter"))
    admin.report("agent/measured", {"errorRate": 0.5})
    admin.reconcile("of-meter")
    first = figures(admin)
    admin.reconcile("of-meter")
    second = figures(admin)

    names = {name.partition("{")[0] for name in second}
    assert {"ioa_cycles_total", "ioa_phase_seconds_total", "ioa_ledger_events_total"} <= names
    counters = [name for name in first if "_total" in name]
    assert all(second[name] >= first[name] for name in counters)
    cycles = [name for name in counters if name.startswith("ioa_cycles_total")]
    assert sum(second[name] for name in cycles) > sum(first[name] for name in cycles)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Return a database on which each test starts its own processes."""
    with servers() as given, placed(tmp_path, given) as found:
        yield found
        for client in found.product.clients:
            client.close()


def signed_in(place: Place, base: str) -> Person:
    """Let the administrator in at one of the web processes."""
    place.product.base = base
    return Person(place.product.sign_in(place.product.link("admin")))


def declare(person: Person) -> None:
    """Declare an agent that drifts, and who watches it."""
    person.apply(domain("dock"), agent("docker", "dock", labels={"by": "dock"}))
    person.apply(controller("of-dock", "Agent", "dock"))
    person.report("agent/docker", {"errorRate": 0.5})


def test_without_the_loop_people_still_work_and_nothing_is_lost(place: Place) -> None:
    """I-99 F-23 A-27 O-02"""
    person = signed_in(place, place.web())
    declare(person)
    assert person.line.get("/readyz").json()["loop"] == "silent"
    assert person.items("resources/agent/docker/drift") == []
    assert "docker" in person.page("/resources/agent/docker")
    pause = {"kind": "pause", "scope": "resource", "resource": "agent/docker", "reason": "Wait."}
    assert person.post("holds", pause).status_code == 201

    # What waited is done by whoever comes; killed, another takes over.
    first = place.start("worker")
    until(lambda: person.drift("agent/docker", "of-dock").get("drifted"), 60)
    first.kill()
    first.wait()
    place.start("worker")
    known = person.items("controllers/of-dock/cycles")[0]["number"]
    person.report("agent/docker", {"errorRate": 0.6})
    until(lambda: person.items("controllers/of-dock/cycles")[0]["number"] > known, 90)
    holders = {each["holder"] for each in person.items("controllers/of-dock/cycles")}
    assert len(holders) == 2
    numbers = [each["number"] for each in person.items("controllers/of-dock/cycles")]
    assert numbers == list(range(len(numbers), 0, -1))


def test_several_workers_run_each_controller_once(place: Place) -> None:
    """A-02 F-24 A-38 X-24"""
    base = place.web()
    workers = [place.start("worker") for _ in range(2)]
    person = signed_in(place, base)
    names = [f"w{number}" for number in range(12)]
    crew = [agent(each, "docks", labels={"by": "docks"}) for each in names]
    person.apply(domain("docks"), *crew)
    for name in names:
        person.report(f"agent/{name}", {"errorRate": 0.5})
    person.apply(controller("of-docks", "Agent", "docks", reconcileInterval="1s"))
    until(lambda: len(person.items("controllers/of-docks/cycles")) >= 5, 60)

    cycles = list(reversed(person.items("controllers/of-docks/cycles")))
    ended = [each for each in cycles if "finishedAt" in each]
    for one, two in itertools.pairwise(ended):
        assert one["finishedAt"] <= two["startedAt"]
    assert all(len(person.proposals(f"agent/{name}")) == 1 for name in names)
    assert [each.poll() for each in workers] == [None, None]
    assert place.end() == [0] * 3


def test_sums_and_revisions_go_on_after_a_kill(tmp_path: Path) -> None:
    """A-37 O-07"""
    with servers() as given:
        product = Product(tmp_path / "data", given=given)
        with product:
            admin = People(product).first
            admin.apply(domain("till"), agent("cashier", "till"), budget("cash", "till", 1000))
            done = product.run("token", "create", "cashier", "--scope", "usage:write")
            bearer = {"Authorization": f"Bearer {done.stdout.strip()}"}
            for number in range(5):
                spend(product, bearer, number)
            before = int(admin.resource("agent/cashier")["metadata"]["resourceVersion"])
            product.stop(signal.SIGKILL)
            product.start()
            again = Person(product.sign_in(product.link("admin")))
            for number in range(5, 10):
                spend(product, bearer, number)
            until(lambda: used(again) == 100)
            after = int(again.resource("agent/cashier")["metadata"]["resourceVersion"])
            assert after > before
            assert again.read("audit/verify")["ok"]
            assert product.stop(signal.SIGTERM) == 0


def spend(product: Product, bearer: dict[str, str], number: int) -> None:
    with httpx.Client(base_url=product.base, headers=bearer) as line:
        said = {"id": f"bill-{number}", "tokens": {"input": 10, "output": 0}}
        assert Caller(line).post("usage", said).status_code == 200


def used(person: Person) -> Any:
    return person.resource("budget/cash").get("status", {}).get("consumed", {}).get("tokens")
