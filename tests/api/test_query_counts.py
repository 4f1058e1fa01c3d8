"""How many statements each endpoint runs; never more for more rows."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from controllers.models import Runtime
from resources.documents.actor import SYSTEM
from resources.tables.ledger import instant
from resources.usecases import statuses
from tests.api.conftest import Api, agent, apply, domain, queries
from tests.conftest import Clock
from tests.controllers.making import controller, declare, work

# PostgreSQL shows entries only once their transaction has ended.
pytestmark = pytest.mark.django_db(transaction=True)

READS = [
    "resources/agent",
    "resources/agent?labelSelector=tier=gold&domain=growth",
    "resources/agent?at={now}",
    "resources/agent/a0",
    "resources/agent/a0?at={now}",
    "resources/agent/a0/status",
    "resources/agent/a0/revisions",
    "resources/agent/a0/conditions",
    "events?limit=200",
    "events?subject=agent/a0",
]
LOOP_READS = [
    "resources/agent?drifted=true",
    "resources/agent?drifted=false",
    "resources/agent/a0/drift",
    "controllers/keeper/cycles",
    "controllers/keeper/cycles/1",
    "alerts",
    "alerts?open=true&controller=keeper",
]
TELL = {"onDrift": [{"type": "alert", "severity": "warning", "channels": ["ops"]}]}
UNWELL = {"state": "running", "conditions": [{"type": "Ready", "status": "False"}]}


@pytest.fixture(params=[5, 50])
def rows(request: pytest.FixtureRequest, db: None) -> int:
    count: int = request.param
    label = {"tier": "gold"}
    apply(domain("growth"), *(agent(f"a{n}", "growth", labels=label) for n in range(count)))
    return count


@pytest.mark.parametrize("address", READS)
def test_reading_costs_the_same_for_5_and_50_rows(bob: Api, rows: int, address: str) -> None:
    path, _, query = address.partition("?")
    bob.get(path)

    with queries(f"GET {address}"):
        answer = bob.get(path, query.format(now=instant(timezone.now())))

    assert answer.status_code == 200


@pytest.fixture
def looked_after(rows: int, today: Clock) -> None:
    """A controller that has run more often than it has agents, all of them drifted."""
    declare(today, controller(targetKind="Agent", actions=TELL))
    work(today)
    reports = [statuses.Report("Agent", f"a{n}", UNWELL) for n in range(rows)]
    statuses.observe(reports, actor=SYSTEM, now=today.now)
    [cycle] = work(today)
    for number in range(rows):
        cycle.pk, cycle.number = None, 3 + number
        cycle.save()


@pytest.mark.parametrize("address", LOOP_READS)
def test_reading_what_the_loop_did_costs_the_same_for_5_and_50(
    bob: Api, looked_after: None, address: str
) -> None:
    path, _, query = address.partition("?")
    bob.get(path)

    with queries(f"GET {address}"):
        answer = bob.get(path, query)

    assert answer.status_code == 200


def test_an_agent_reads_a_cycle_for_the_same_price(robin: Api, looked_after: None) -> None:
    robin.get("alerts")

    with queries("GET controllers/keeper/cycles/2 by an agent"):
        answer = robin.get("controllers/keeper/cycles/2")
    with queries("GET alerts by an agent"):
        alerts = robin.get("alerts")

    assert [answer.status_code, alerts.status_code] == [200, 200]


def test_asking_for_a_cycle_costs_little(alice: Api, looked_after: None) -> None:
    with queries("POST controllers/keeper/reconcile"):
        asked = alice.post("controllers/keeper/reconcile", {"reason": "Manual trigger"})
    Runtime.objects.update(breaker="open")
    with queries("POST controllers/keeper/reset-breaker"):
        reset = alice.post("controllers/keeper/reset-breaker", {"reason": "It answers."})

    assert [asked.status_code, reset.status_code] == [202, 202]


def test_an_agent_reads_for_the_same_price(robin: Api, rows: int) -> None:
    robin.get("resources/agent")

    with queries("GET resources/agent by an agent"):
        answer = robin.get("resources/agent", "limit=200")

    assert len(answer.json()["items"]) == rows + 1


def test_reporting_many_costs_the_same_for_5_and_50(alice: Api, rows: int) -> None:
    items = [
        {"kind": "Agent", "name": f"a{n}", "status": {"state": "running"}} for n in range(rows)
    ]

    with queries("POST observations"):
        answer = alice.post("observations", {"items": items})

    assert {each["verdict"] for each in answer.json()["items"]} == {"changed"}


def test_no_name_is_looked_for_without_its_kind(alice: Api) -> None:
    """It would be found by going through all there are: there is no order of names alone."""
    item = {"kind": "Agent", "name": "a0", "status": {"state": "running"}}

    with CaptureQueriesContext(connection) as asked:
        alice.post("observations", {"items": [item]})

    named = [each["sql"] for each in asked if '"resources_resource"."name" IN' in each["sql"]]
    assert named
    assert all('"resources_resource"."kind" IN' in each for each in named)


def test_applying_many_costs_the_same_for_5_and_50(alice: Api, rows: int) -> None:
    body = [agent(f"new{n}", "growth") for n in range(rows)]

    with queries("POST apply"):
        answer = alice.post("apply", body)

    assert answer.json()["written"] is True


def test_writing_one_costs_little(alice: Api, rows: int) -> None:
    with queries("PATCH resources/agent/a0"):
        patched = alice.patch("resources/agent/a0", {"spec": {"purpose": "Sings."}})
    with queries("PATCH resources/agent/a0/status"):
        reported = alice.patch("resources/agent/a0/status", {"state": "idle"})

    assert [patched.status_code, reported.status_code] == [200, 200]
