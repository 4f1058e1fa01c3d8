"""Conditions: who keeps which, when their time moves, and what is told about them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.promises.callers import MERGE, Caller, Person, Tokens, until
from tests.promises.organisation import agent, controller, domain

pytestmark = [pytest.mark.product, pytest.mark.full]


def ready(status: str, reason: str = "Told", message: str = "") -> dict[str, Any]:
    """Return what an agent says of itself."""
    said = {"type": "Ready", "status": status, "reason": reason, "message": message}
    return {"conditions": [said]}


@pytest.fixture(scope="module")
def worker(admin: Person, token: Tokens) -> Caller:
    """Return an agent that reports."""
    admin.apply(domain("place"), agent("worker", "place"))
    return token("worker")


@pytest.mark.quick
def test_a_condition_is_true_false_or_unknown(worker: Caller) -> None:
    """I-33"""
    path = "resources/agent/worker/status"
    maybe = worker.call("PATCH", path, ready("Maybe"), Content_Type=MERGE)
    assert (maybe.status_code, maybe.json()["pointer"]) == (400, "/conditions/0/status")

    for status in ("True", "False", "Unknown"):
        worker.report("agent/worker", ready(status))
        assert worker.conditions("agent/worker")["Ready"]["status"] == status


def test_a_transition_time_moves_only_on_flips(worker: Caller) -> None:
    """I-34 F-15"""
    worker.report("agent/worker", ready("False", message="one"))
    worker.report("agent/worker", ready("True", message="two"))
    first = worker.conditions("agent/worker")["Ready"]
    for number in range(5):
        worker.report("agent/worker", ready("True", message=f"again {number}"))
    second = worker.conditions("agent/worker")["Ready"]

    assert second["message"] == "again 4"
    assert second["lastTransitionTime"] == first["lastTransitionTime"]
    worker.report("agent/worker", ready("False"))
    assert (
        worker.conditions("agent/worker")["Ready"]["lastTransitionTime"]
        > first["lastTransitionTime"]
    )


def test_a_controllers_condition_is_its_own(admin: Person, token: Tokens) -> None:
    """I-84 I-85 I-86"""
    admin.apply(domain("own"), agent("kept", "own", labels={"by": "own"}))
    admin.apply(controller("first-eye", "Agent", "own"), controller("second-eye", "Agent", "own"))
    kept = token("kept")
    kept.report("agent/kept", {"errorRate": 0.5})
    for eye in ("first-eye", "second-eye"):
        admin.reconcile(eye)

    # Nobody else writes it, and nobody removes it by leaving it out.
    forged = {"conditions": [{"type": "FirstEyeConverged", "status": "True", "reason": "Fine"}]}
    said = kept.call("PATCH", "resources/agent/kept/status", forged, Content_Type=MERGE)
    kept.call("PUT", "resources/agent/kept/status", {"errorRate": 0.5, "conditions": []})
    found = admin.conditions("agent/kept")
    assert found["FirstEyeConverged"]["status"] == "False", said.text
    assert found["FirstEyeConverged"]["managedBy"] == "controller/first-eye"
    assert found["SecondEyeConverged"]["managedBy"] == "controller/second-eye"


def test_people_read_conditions_on_the_page(admin: Person) -> None:
    """F-46"""
    admin.apply(domain("shown"), agent("seen", "shown", labels={"by": "shown"}))
    admin.apply(controller("shows", "Agent", "shown"))
    admin.report("agent/seen", {"errorRate": 0.5, **ready("False", "Broken", "The belt tore.")})
    until(lambda: admin.drift("agent/seen", "shows").get("drifted"))

    page = admin.page("/resources/agent/seen")
    for word in ("Ready", "Broken", "The belt tore.", "ShowsConverged", "shows"):
        assert word in page, word


def test_what_a_deleted_controller_concluded_goes(admin: Person) -> None:
    """A-07 A-08 X-27"""
    admin.apply(domain("left"), agent("behind", "left", labels={"by": "left"}))
    admin.apply(controller("goer", "Agent", "left"))
    admin.report("agent/behind", {"errorRate": 0.5})
    (asked,) = until(lambda: admin.proposals("agent/behind", "pending"))

    assert admin.call("DELETE", "resources/controller/goer").status_code == 204

    until(lambda: admin.conditions("agent/behind")["GoerConverged"]["status"] == "Unknown")
    until(lambda: admin.read(f"proposals/{asked['id']}")["state"] != "pending")
    assert admin.events(event="controller.drift-detected", subject="agent/behind")
