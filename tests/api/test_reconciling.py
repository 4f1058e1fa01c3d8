"""Asking a controller to run: who may, when it runs, what is said when it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Model

from controllers.api.controllers import reconcile
from controllers.models import Alert, Cycle, DriftSample, Judgement, Proposal, Runtime, WorkItem
from controllers.worker import controller_commands
from controllers.worker.worker_loop import Loop
from resources.documents.actor import SYSTEM
from resources.tables import ledger
from resources.tables.models import DirtyMark, Resource
from tests.api.conftest import Api, assert_fits, signed_in
from tests.conftest import Clock
from tests.controllers.making import controller as a_controller
from tests.controllers.making import (
    cycles,
    declare,
    drifted,
    healthy,
    runtime,
    told,
    whole,
    work,
)
from tests.resources.making import everything
from tests.rows import every_row

pytestmark = pytest.mark.django_db

RECONCILE = "controllers/keeper/reconcile"
RESET = "controllers/keeper/reset-breaker"
REASON = {"reason": "Manual trigger"}
KEEPER = "controller/keeper"
LOOP_TABLES: tuple[type[Model], ...] = (
    Alert,
    Cycle,
    DirtyMark,
    DriftSample,
    Judgement,
    Proposal,
    Runtime,
    WorkItem,
)
REMEDY = {"onDrift": [{"type": "alert", "severity": "warning", "channels": ["ops"]}]}
# No domain reports incidents, so nobody can know that this holds.
UNKNOWABLE = {"preReconcile": [{"name": "calm", "action": "check domain.status.incidents < 3"}]}


@pytest.fixture
def keeper(today: Clock, db: None) -> None:
    """One controller that has looked at its one domain once."""
    declare(today, a_controller())
    healthy(today, "harbour")
    assert len(work(today)) == 1


@pytest.fixture
def loop(real_database: None) -> Iterator[Loop]:
    """The loop, as `ioa up` runs it."""
    running = Loop()
    running.start()
    yield running
    assert running.stop()


def stop(name: str = "keeper") -> None:
    """Open the breaker of a controller."""
    stopped = Runtime.objects.filter(controller__name=name)
    stopped.update(breaker="open", failures=5, breaker_reason="The exchange does not answer.")


def rows() -> dict[str, list[Any]]:
    """Return every row, to see that nothing was written."""
    loop = {each.__name__: list(each._default_manager.values()) for each in LOOP_TABLES}
    return everything() | loop


def test_a_request_is_taken_and_the_loop_runs_it(alice: Api, keeper: None, today: Clock) -> None:
    """F-25"""
    answer = alice.post(RECONCILE, REASON)
    today.advance(seconds=5)
    [cycle] = work(today)

    assert answer.status_code == 202
    assert_fits(answer.json(), "Requested")
    assert answer.json()["controller"] == "controller/keeper"
    assert answer.json()["request"]["by"] == "person/alice"
    assert answer.json()["lastCycle"] == 1
    found = alice.get(answer["Location"].removeprefix("/api/v1/")).json()["items"][0]
    assert found["number"] == cycle.number == 2
    assert "manual" in found["reasons"]
    assert (found["requestedBy"], found["message"]) == ("person/alice", "Manual trigger")


def test_a_request_needs_no_body(alice: Api, keeper: None) -> None:
    answer = alice.post(RECONCILE, "")

    assert answer.status_code == 202
    assert "reason" not in answer.json()["request"]


def test_a_request_can_be_held_back(alice: Api, keeper: None, today: Clock) -> None:
    """F-26"""
    answer = alice.post(RECONCILE, REASON, query="after=30s")
    due = datetime.fromisoformat(answer.json()["request"]["runAt"])

    today.now = due - timedelta(seconds=1)
    assert work(today) == []
    today.now = due
    [cycle] = work(today)

    assert cycle.message == "Manual trigger"


def test_waiting_returns_the_cycle(loop: Loop, alice: Api, today: Clock) -> None:
    """F-25 I-39"""
    declare(today, a_controller(actions=REMEDY))
    drifted(today, "harbour")

    answer = alice.post(RECONCILE, REASON, query="wait=true")

    assert answer.status_code == 200
    assert_fits(answer.json(), "Cycle")
    assert answer.json()["requestedBy"] == "person/alice"
    assert answer.json()["counts"]["drifted"] == 1
    newest = alice.get("resources/domain/harbour/revisions").json()["items"]
    read = max(int(each["resourceVersion"]) for each in newest if each["actor"] != KEEPER)
    assert int(answer.json()["revision"]) >= read


def test_waiting_ends_when_the_loop_takes_too_long(
    alice: Api, keeper: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile, "PATIENCE_SECONDS", 0.1)

    answer = alice.post(RECONCILE, REASON, query="wait=true")

    assert answer.status_code == 202
    assert answer["Location"] == "/api/v1/controllers/keeper/cycles"
    assert whole().message == "Manual trigger"


def test_a_dry_run_shows_the_plan_and_changes_nothing(alice: Api, today: Clock) -> None:
    """O-27"""
    declare(today, a_controller(actions=REMEDY))
    drifted(today, "harbour")
    before = rows()

    answer = alice.post(RECONCILE, "", query="dryRun=true")

    assert answer.status_code == 200
    assert_fits(answer.json(), "Preview")
    [found] = answer.json()["resources"]
    assert found["resource"] == "domain/harbour"
    assert found["score"] == pytest.approx(1.0)
    assert [each["type"] for each in found["actions"]] == ["alert"]
    assert "blocked" not in answer.json()
    assert rows() == before


def test_a_dry_run_can_be_read_as_yaml(alice: Api, today: Clock) -> None:
    declare(today, a_controller(actions=REMEDY))
    drifted(today, "harbour")

    answer = alice.send(
        "post", RECONCILE, "", query="dryRun=true", headers={"Accept": "application/yaml"}
    )

    assert "resource: domain/harbour" in answer.content.decode()


def test_what_holds_a_cycle_back_holds_a_dry_run_back(alice: Api, today: Clock) -> None:
    """O-28"""
    declare(today, a_controller(actions=REMEDY, hooks=UNKNOWABLE))
    drifted(today, "harbour")

    dry = alice.post(RECONCILE, "", query="dryRun=true").json()
    [cycle] = work(today)

    assert cycle.counts["held"] == dry["counts"]["held"] == 1
    assert cycle.actions == dry["resources"][0]["actions"] == []
    assert dry["resources"][0]["reason"] == "HookFailed"
    assert [each["passed"] for each in dry["resources"][0]["hooks"]] == [None]


def test_a_stopped_controller_refuses_and_says_what_helps(
    alice: Api, keeper: None, today: Clock
) -> None:
    """O-28"""
    stop()

    real = alice.post(RECONCILE, REASON)
    dry = alice.post(RECONCILE, "", query="dryRun=true")

    assert real.status_code == 409
    assert real.json()["type"] == "/problems/refused"
    assert "The exchange does not answer." in real.json()["detail"]
    assert dry.json()["blocked"] == real.json()["detail"]
    assert work(today) == []


def test_a_controller_of_an_outside_process_is_not_run_here(alice: Api, today: Clock) -> None:
    """I-81"""
    declare(today, a_controller(runner="external"))

    answer = alice.post(RECONCILE, REASON)

    assert answer.status_code == 409
    assert "outside process" in answer.json()["detail"]


def test_a_controller_that_cannot_be_read_says_why(alice: Api, today: Clock) -> None:
    declare(today, a_controller())
    # As an older version may have let it in.
    spec = {"targetKind": "Domain", "reconcileInterval": "often"}
    Resource.objects.filter(name="keeper").update(spec=spec)

    real = alice.post(RECONCILE, REASON)
    dry = alice.post(RECONCILE, "", query="dryRun=true")

    assert real.status_code == dry.status_code == 409
    assert "is not an interval" in real.json()["detail"]


def test_a_controller_that_is_declared_anew_meanwhile_can_be_asked_again(
    alice: Api, keeper: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(row: Resource) -> str:
        raise Resource.DoesNotExist

    monkeypatch.setattr(controller_commands, "hindrance", gone)

    answer = alice.post(RECONCILE, REASON)

    assert answer.status_code == 409
    assert answer["Retry-After"] == "1"


@pytest.mark.parametrize("path", [RECONCILE, RESET])
def test_only_people_with_the_right_run_controllers(
    bob: Api, robin: Api, stranger: Api, keeper: None, path: str
) -> None:
    answers = [each.post(path, REASON) for each in (bob, robin, stranger)]

    assert [each.status_code for each in answers] == [403, 403, 401]
    assert answers[1].json()["detail"] == "Only people run controllers."


def test_an_operator_runs_controllers(keeper: None) -> None:
    operator = signed_in("ines", "operator")

    assert operator.post(RECONCILE, REASON).status_code == 202


@pytest.mark.parametrize("path", [RECONCILE, RESET])
def test_a_controller_that_is_not_there_is_not_found(alice: Api, path: str) -> None:
    answer = alice.post(path, REASON)

    assert answer.status_code == 404
    assert answer.json()["detail"] == "There is no controller/keeper."


@every_row(
    "query",
    [
        "after=soon",
        "after=",
        "after=-5s",
        "after=permanent",
        "after=31d",
        "after=999999999999999y",
        "wait=perhaps",
        "dryRun=2",
        "dryrun=true",
    ],
    rolled_back=True,
)
def test_a_bad_parameter_is_refused(alice: Api, keeper: None, query: str) -> None:
    answer = alice.post(RECONCILE, REASON, query=query)

    assert answer.status_code == 400
    assert not whole().reasons & WorkItem.Reason.MANUAL


@every_row(
    "body",
    [[], "text", {"reason": 1}, {"reason": None}, {"reason": "x" * 501}, {"because": "x"}],
    rolled_back=True,
)
@every_row("path", [RECONCILE, RESET])
def test_a_bad_body_is_refused(alice: Api, keeper: None, path: str, body: Any) -> None:
    stop()

    assert alice.post(path, body).status_code == 400


def test_a_person_starts_a_stopped_controller_again(
    alice: Api, keeper: None, today: Clock
) -> None:
    """D-43"""
    stop()

    answer = alice.post(RESET, {"reason": "The exchange is back."})
    today.advance(seconds=5)
    [cycle] = work(today)

    assert answer.status_code == 202
    assert_fits(answer.json(), "Requested")
    assert cycle.message == "The exchange is back."
    assert runtime().breaker == "closed"
    [entry] = told("controller.breaker-reset")
    assert (entry.actor, entry.payload["reason"]) == ("person/alice", "The exchange is back.")


@pytest.mark.parametrize("body", ["", {}, {"reason": ""}, {"reason": "  \n"}])
def test_a_reset_needs_a_reason(alice: Api, keeper: None, body: Any) -> None:
    """D-43"""
    stop()

    answer = alice.post(RESET, body)

    assert answer.status_code == 400
    assert runtime().breaker == "open"


def test_only_a_stopped_controller_can_be_reset(alice: Api, keeper: None) -> None:
    answer = alice.post(RESET, REASON)

    assert answer.status_code == 409
    assert answer.json()["detail"] == "controller/keeper is not stopped."


def test_a_cycle_leaves_the_controllers_status(alice: Api, today: Clock) -> None:
    """I-58"""
    declare(today, a_controller())
    healthy(today, "harbour")
    drifted(today, "mill")
    [cycle] = work(today)

    status = alice.get("resources/controller/keeper/status").json()

    assert cycles() == [cycle]
    assert status["reconcileCount"] == 1
    assert status["driftDetected"] is True
    assert (status["healthyResources"], status["unhealthyResources"]) == (1, 1)
    assert datetime.fromisoformat(status["lastReconcile"]) == today.now
    assert status["actionsPerformed"] == []


def test_an_event_about_no_resource_brings_no_work(keeper: None, today: Clock) -> None:
    """F-28"""
    before = list(WorkItem.objects.values())
    entry = ledger.Entry(stream="system/clock", event="clock.struck", subject="")
    with transaction.atomic():
        ledger.append([entry], actor=SYSTEM, now=today.now)

    assert work(today) == []
    assert list(WorkItem.objects.values()) == before


def test_everything_but_cycles_works_without_a_loop(alice: Api, today: Clock) -> None:
    """I-99"""
    declare(today, a_controller())
    healthy(today, "harbour")

    ready = alice.client.get("/readyz")
    page = alice.client.get("/resources/domain/harbour")
    edited = alice.patch("resources/domain/harbour", {"spec": {"purpose": "Bring boats in."}})
    asked = alice.post(RECONCILE, REASON)
    drift = alice.get("resources/domain/harbour/drift")

    assert (ready.status_code, ready.json()["loop"]) == (503, "silent")
    assert [page.status_code, edited.status_code, asked.status_code] == [200, 200, 202]
    assert drift.json() == {"items": [], "history": []}
