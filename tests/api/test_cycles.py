"""The cycles of a controller over HTTP: everything that happened, and only to whom it concerns."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from controllers.models import Cycle
from resources.documents.actor import Actor
from resources.tables.models import Resource
from resources.usecases import statuses
from tests.api.conftest import Api, agent, apply, assert_fits
from tests.conftest import Clock
from tests.controllers.making import (
    KEEPER,
    controller,
    cycles,
    declare,
    drifted,
    healthy,
    measure,
    while_judging,
    work,
)

pytestmark = pytest.mark.django_db

CYCLES = "controllers/keeper/cycles"
PHASES = {"watch", "diff", "plan", "act", "report"}
REMEDY = {
    "onDrift": [
        {"type": "alert", "severity": "warning", "channels": ["ops"]},
        {"type": "reconcile", "operation": "scale-agents"},
    ]
}
RUNNING = {"preReconcile": [{"name": "up", "action": "check agent.status.state == 'running'"}]}


def ran(clock: Clock, count: int) -> None:
    """Run a controller over nothing so many times."""
    declare(clock, controller())
    for _ in range(count):
        assert len(work(clock)) == 1
        clock.advance(minutes=5)


def test_cycles_come_newest_first_and_pages_join(alice: Api, today: Clock) -> None:
    ran(today, 5)
    seen: list[int] = []
    query = "limit=2"

    while query:
        page = alice.get(CYCLES, query).json()
        assert_fits(page, "CycleList")
        seen += [each["number"] for each in page["items"]]
        query = f"limit=2&cursor={page['nextCursor']}" if "nextCursor" in page else ""

    assert seen == [5, 4, 3, 2, 1]


def test_a_cycle_tells_everything(alice: Api, today: Clock) -> None:
    """I-39 O-54"""
    declare(today, controller(actions=REMEDY, enforcementMode="warn"))
    drifted(today, "harbour", "mill")
    healthy(today, "farm")
    [cycle] = work(today)

    found = alice.get(f"{CYCLES}/1").json()

    assert_fits(found, "Cycle")
    assert found["reasons"] == ["change"]
    assert found["full"] is True
    assert found["outcome"] == "acted"
    assert found["times"].keys() == PHASES
    assert found["holder"] == "worker"
    assert (found["mode"], found["generation"]) == ("warn", 1)
    assert found["correlationId"] == cycle.correlation_id
    assert found["counts"]["judged"] == Resource.objects.filter(kind="Domain").count()
    assert "error" not in found


def test_the_seven_fields_equal_the_rows(alice: Api, today: Clock) -> None:
    """O-54"""
    declare(today, controller(actions=REMEDY))
    drifted(today, "harbour", "mill")
    healthy(today, "farm")
    work(today)

    found = alice.get(f"{CYCLES}/1").json()["result"]

    assert found["timestamp"] == alice.get(CYCLES).json()["items"][0]["startedAt"]
    assert (found["resourcesFound"], found["diffsDetected"]) == (3, 2)
    assert found["decisionsMade"] == len(found["decisions"]) == 4
    assert {each["target"] for each in found["decisions"]} == {"domain/harbour", "domain/mill"}
    assert found["executionErrors"] == []
    assert found["durationMs"] >= 0


def test_an_error_is_told_with_its_phase(
    alice: Api, today: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O-54"""

    def fail(name: str) -> None:
        raise ZeroDivisionError("No ships at all.")

    declare(today, controller())
    healthy(today, "harbour")
    while_judging(monkeypatch, fail)
    work(today)

    found = alice.get(f"{CYCLES}/1").json()

    assert found["outcome"] == "partial"
    assert found["error"]["phase"] == "diff"
    assert found["error"]["message"].startswith("domain/harbour: ZeroDivisionError")
    assert found["result"]["executionErrors"] == [found["error"]["message"]]


def test_a_cycle_that_still_runs_says_so(alice: Api, today: Clock) -> None:
    ran(today, 1)
    Cycle.objects.update(finished_at=None, outcome="", counts={}, times={})

    found = alice.get(f"{CYCLES}/1").json()

    assert_fits(found, "Cycle")
    assert found["outcome"] == "running"
    assert "finishedAt" not in found


@pytest.mark.django_db(transaction=True)
def test_the_events_of_a_cycle_are_one_story(alice: Api, today: Clock) -> None:
    """I-91 D-07"""
    declare(today, controller(actions=REMEDY))
    healthy(today, "harbour", "mill")
    work(today)
    measure(today, "mill", 10)
    today.advance(seconds=5)
    [cycle] = work(today)

    story = alice.get(CYCLES, "limit=1").json()["items"][0]["correlationId"]
    items = alice.get("events", f"correlationId={story}").json()["items"]
    told = {each["type"]: each["data"] for each in items}

    assert story == cycle.correlation_id
    assert items[0]["type"] == "controller.reconciliation-started"
    assert items[-1]["type"] == "controller.reconciliation-completed"
    assert_keys(told, "reconciliation-started", "controllerName targetKind resourceCount")
    assert told["controller.reconciliation-started"]["resourceCount"] == 2
    assert_keys(told, "drift-detected", "targetResource driftScore threshold")
    assert_keys(told, "action-performed", "actionType target result")
    assert_keys(told, "reconciliation-completed", "durationMs driftDetected actionsPerformed")
    assert told["controller.reconciliation-completed"]["durationMs"] >= 0


def assert_keys(told: dict[str, Any], event: str, keys: str) -> None:
    assert told[f"controller.{event}"].keys() >= set(keys.split())


def test_an_agent_sees_only_what_is_about_its_domain(robin: Api, today: Clock) -> None:
    apply(agent("raven", "finance"))
    declare(today, controller(targetKind="Agent", actions=REMEDY, hooks=RUNNING))
    report_unwell("robin", "raven")
    [cycle] = work(today)
    named = {each["target"] for each in cycle.hooks}

    found = robin.get(f"{CYCLES}/1").json()

    assert named == {"agent/robin", "agent/raven"}
    assert {each["target"] for each in found["hooks"]} == {"agent/robin"}
    assert {each["target"] for each in found["actions"]} == {"agent/robin"}
    assert found["result"]["decisions"] == found["actions"]


def test_an_error_elsewhere_is_not_spelled_out_to_an_agent(
    alice: Api, robin: Api, today: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str) -> None:
        if name == "finance":
            raise ZeroDivisionError("A secret.")

    declare(today, controller())
    while_judging(monkeypatch, fail)
    work(today)

    assert "A secret." in alice.get(f"{CYCLES}/1").json()["error"]["message"]
    assert "A secret." not in robin.get(f"{CYCLES}/1").content.decode()


def report_unwell(*names: str) -> None:
    """Let agents say that they run, though not well."""
    status = {"state": "running", "conditions": [{"type": "Ready", "status": "False"}]}
    for name in names:
        told = statuses.Report("Agent", name, status)
        statuses.observe([told], actor=Actor("agent", name), now=timezone.now())


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("controllers/nobody/cycles", "", 404),
        ("controllers/nobody/cycles/1", "", 404),
        (f"{CYCLES}/2", "", 404),
        (f"{CYCLES}/0", "", 400),
        (f"{CYCLES}/first", "", 400),
        (f"{CYCLES}/99999999999999999999", "", 400),
        (CYCLES, "limit=0", 400),
        (CYCLES, "limit=201", 400),
        (CYCLES, "cursor=nonsense", 400),
        (CYCLES, "since=1", 400),
        (f"{CYCLES}/1", "limit=1", 400),
    ],
)
def test_what_is_not_there_and_what_is_not_valid(
    alice: Api, today: Clock, path: str, query: str, status: int
) -> None:
    ran(today, 1)

    assert alice.get(path, query).status_code == status


def test_a_cursor_fits_only_its_own_controller(alice: Api, today: Clock) -> None:
    ran(today, 2)
    declare(today, controller("other"))
    cursor = alice.get(CYCLES, "limit=1").json()["nextCursor"]

    assert alice.get("controllers/other/cycles", f"cursor={cursor}").status_code == 400


def test_nobody_reads_cycles_without_signing_in(stranger: Api, today: Clock) -> None:
    ran(today, 1)

    assert stranger.get(CYCLES).status_code == 401
    assert stranger.get(f"{CYCLES}/1").status_code == 401


def test_a_controller_of_an_earlier_name_keeps_its_cycles_to_itself(
    alice: Api, today: Clock
) -> None:
    ran(today, 2)
    alice.delete(f"resources/controller/{KEEPER}")
    declare(today, controller())

    assert alice.get(CYCLES).json()["items"] == []
    assert len(cycles()) == 2
