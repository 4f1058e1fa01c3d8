"""Specification, section 3.3: what becomes of errors, and what of it can be configured."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.engine.errors import TimedOut
from controllers.engine.terms import Action, Result, Snapshot
from controllers.models import Proposal, WorkItem
from controllers.workqueue.cycle_effects import Effects
from resources.tables.models import Resource
from resources.usecases import deletion
from tests.conftest import Clock
from tests.controllers.making import (
    alerts,
    cycles,
    declare,
    item,
    judgement,
    own,
    told,
    while_judging,
    work,
)
from tests.resources.making import ALICE, shown
from tests.spec.organisation import CONVERGED, NAME, controller, miss, observe, understaff

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("three_domains"), pytest.mark.sqlite]

THREE = [
    {"type": "alert", "channels": ["first"]},
    {"type": "alert", "channels": ["second"]},
    {"type": "log"},
]


class Faulty(Effects):
    """Means that cannot reach the second channel."""

    def perform(self, action: Action, snapshot: Snapshot) -> Result:
        if "second" in action.channels:
            raise ConnectionError("Nobody answers.")
        return super().perform(action, snapshot)


class Late(Effects):
    """Means whose time is over as soon as they have acted."""

    def check(self) -> None:
        if self.notices:
            raise TimedOut("The cycle took longer than 2 seconds.")


def hooks(**settings: Any) -> dict[str, Any]:
    """Make a hook that fails while the budget is nearly spent."""
    hook = {"name": "budget", "action": "check budget.status.utilizationRate < 0.9"}
    return {"preReconcile": [hook | settings]}


@pytest.mark.parametrize(
    ("policy", "plans"),
    [({}, 0), ({"failurePolicy": "failClosed"}, 0), ({"failurePolicy": "failOpen"}, 1)],
    ids=["default", "failClosed", "failOpen"],
)
def test_a_failing_hook_skips_reconciliation_unless_it_fails_open(
    clock: Clock, policy: dict[str, str], plans: int
) -> None:
    """I-70 X-03"""
    declare(clock, controller(hooks=hooks(**policy)))
    observe(clock, "Budget", "shared-budget", {"utilizationRate": 0.95})
    understaff(clock)

    [cycle] = work(clock)

    assert Proposal.objects.count() == plans
    assert [each["passed"] for each in cycle.hooks] == [False]


def test_a_hook_that_cannot_be_answered_fails(clock: Clock) -> None:
    """I-25 I-90"""
    hook = {"name": "governed", "action": "check governance.status.escalationRate < 1"}
    declare(clock, controller(hooks={"preReconcile": [hook]}))
    understaff(clock)

    [cycle] = work(clock)

    assert [(each["passed"], each["reason"]) for each in cycle.hooks] == [(None, "RefNotFound")]
    [error] = told("controller.error")
    assert (error.subject, error.payload["phase"]) == ("domain/product", "plan")
    assert not Proposal.objects.exists()


@pytest.mark.parametrize(
    ("stop", "results"),
    [(False, ["success", "failure", "success"]), (True, ["success", "failure", "skipped"])],
)
def test_a_failing_action_is_logged_and_the_loop_goes_on_unless_told_to_stop(
    clock: Clock, stop: bool, results: list[str]
) -> None:
    """I-71 I-89 O-46"""
    declare(clock, controller(actions={"onDrift": THREE}, stopOnError=stop))
    work(clock)
    miss(clock, "product")

    [cycle] = work(clock, effects=Faulty)

    assert (cycle.outcome, [each["result"] for each in cycle.actions]) == ("partial", results)
    performed = told("controller.action-performed")
    assert [each.payload["result"] for each in performed] == results
    assert performed[1].payload["reason"] == "ConnectionError: Nobody answers."
    listed = shown("Controller", NAME)["status"]["actionsPerformed"][-3:]
    assert [each["result"] for each in listed] == results


def test_a_resource_not_found_is_removed_from_the_watch_list(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I-72 It goes between WATCH and REPORT; that is no error."""
    work(clock)
    product = Resource.objects.get(name="product")

    def disappear(name: str) -> None:
        if name == "product":
            gone.append(deletion.delete("Domain", name, actor=ALICE, now=clock.now))

    gone: list[Any] = []
    miss(clock, "product")
    while_judging(monkeypatch, disappear)
    [cycle] = work(clock)
    work(clock)

    assert gone
    assert cycle.outcome != "failed"
    assert told("controller.error") == []
    assert not product.judged.exists()
    assert not WorkItem.objects.filter(resource=product).exists()
    assert alerts(NAME) == []
    assert shown("Controller", NAME)["status"]["healthyResources"] == 2


def test_a_timeout_cancels_the_cycle_and_alerts(clock: Clock) -> None:
    """I-73 D-40"""
    declare(
        clock, controller(timeout="2s", actions={"onError": controller_alert(), "onDrift": THREE})
    )
    work(clock)
    miss(clock, "product")

    [cycle] = work(clock, effects=Late)

    assert (cycle.outcome, cycle.phase) == ("timed_out", "act")
    assert "2 seconds" in cycle.error
    assert "pagerduty" in [each.channel for each in alerts(NAME)]
    assert told("controller.action-performed") == []
    assert told("controller.error")[0].payload["error"] == cycle.error


def controller_alert() -> list[dict[str, Any]]:
    return [{"type": "alert", "severity": "critical", "channels": ["pagerduty"]}]


def test_what_a_timed_out_cycle_left_is_done_by_the_next(clock: Clock) -> None:
    """I-73 D-49"""
    declare(clock, controller(timeout="2s", actions={"onDrift": THREE}))
    work(clock)
    miss(clock, "product")
    work(clock, effects=Late)
    left = item("product", NAME)
    clock.advance(minutes=5)
    work(clock)

    assert left is not None
    found = judgement("product", NAME)
    assert found is not None
    assert found.drifted
    assert own("product", CONVERGED).status == "False"  # type: ignore[union-attr]
    assert cycles(NAME)[-1].outcome == "acted"
