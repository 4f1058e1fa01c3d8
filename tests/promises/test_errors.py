"""Cycles that go wrong: they are told, they stop a controller, and a person lets it try again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.promises.callers import Person, until
from tests.promises.organisation import agent, controller, domain

pytestmark = [pytest.mark.product, pytest.mark.full]

# No cycle ends in a thousandth of a second.
IN_NO_TIME = {"timeout": "1ms"}
RING = {"type": "alert", "severity": "critical", "channels": ["pagerduty"]}


def hasty(admin: Person, name: str, **spec: Any) -> None:
    """Declare a controller whose cycles run out of time."""
    place = agent(name, f"in-{name}", labels={"by": name})
    admin.apply(domain(f"in-{name}"), place)
    admin.report(f"agent/{name}", {"errorRate": 0.5})
    admin.apply(controller(f"of-{name}", "Agent", name, **IN_NO_TIME, **spec))


def ready(admin: Person, name: str) -> tuple[str, str]:
    said = admin.conditions(f"controller/of-{name}").get("Ready", {})
    return said.get("status", ""), said.get("reason", "")


def cycles(admin: Person, name: str) -> Any:
    return admin.items(f"controllers/of-{name}/cycles")


@pytest.mark.quick
def test_a_cycle_out_of_time_is_cancelled_and_told(admin: Person) -> None:
    """I-21 I-73 I-90 D-40 O-05"""
    hasty(admin, "late", actions={"onError": [RING]})
    (cycle,) = until(lambda: [e for e in cycles(admin, "late") if e["outcome"] == "timed_out"])[
        -1:
    ]

    assert cycle["durationMs"] < 2000
    rung = until(lambda: admin.items("alerts?controller=of-late"))
    assert {(each["channel"], each["severity"]) for each in rung} >= {("pagerduty", "critical")}
    (error,) = admin.events(event="controller.error", subject="controller/of-late")[:1]
    assert error["data"]["phase"] == "watch"
    assert admin.proposals("agent/late") == []
    told = [e["type"] for e in admin.events(correlationId=cycle["correlationId"])]
    assert told[-1] == "controller.reconciliation-completed"


def test_a_declared_pause_stops_it_until_a_person_lets_it_try(admin: Person, bo: Person) -> None:
    """I-18 D-42 D-43 X-04 X-19"""
    hasty(admin, "paused", actions={"onError": [{"type": "pause", "reason": "Not now"}]})
    until(lambda: ready(admin, "paused") == ("False", "CircuitOpen"))
    done = len(cycles(admin, "paused"))
    assert "Not now" in admin.conditions("controller/of-paused")["Ready"]["message"]
    assert "Not now" in admin.page("/controllers/of-paused")

    # Neither a report nor a person's wish starts a cycle.
    admin.report("agent/paused", {"errorRate": 0.6})
    asked = admin.post("controllers/of-paused/reconcile?wait=true")
    assert asked.status_code == 409
    assert len(cycles(admin, "paused")) == done

    # Mended and reset, one trial closes it.
    admin.patch("controller/of-paused", {"spec": {"timeout": "30s"}})
    assert ready(admin, "paused") == ("False", "CircuitOpen")
    without = admin.post("controllers/of-paused/reset-breaker", {})
    assert without.status_code == 400
    reset = admin.post("controllers/of-paused/reset-breaker", {"reason": "More time."})
    assert reset.is_success, reset.text
    until(lambda: ready(admin, "paused") == ("True", "Running"))
    assert admin.drift("agent/paused", "of-paused")["drifted"]


def test_failures_in_a_row_open_the_breaker(admin: Person) -> None:
    """D-41 D-42 D-49"""
    hasty(admin, "worn", convergence={"errorLimit": 3}, reconcileInterval="1s")
    until(lambda: ready(admin, "worn") == ("False", "CircuitOpen"), 30)

    assert [each["outcome"] for each in cycles(admin, "worn")] == ["timed_out"] * 3
    opened = admin.events(event="controller.breaker-opened", subject="controller/of-worn")
    assert len(opened) == 1


def test_errors_have_distinct_kinds(admin: Person) -> None:
    """D-50"""
    missing = admin.get("resources/agent/nobody")
    invalid = admin.call("PUT", "resources/domain/bad", {"kind": "Domain"})
    admin.apply(domain("twice"))
    unseen = admin.call("PUT", "resources/domain/twice", domain("twice", purpose="Else."))
    stale = admin.patch("domain/twice", {"spec": {"purpose": "Else."}}, If_Match='"1"')
    wrong = admin.call("DELETE", "events")

    found = [missing, invalid, unseen, stale, wrong]
    assert [each.status_code for each in found] == [404, 400, 428, 409, 405]
    assert len({each.json()["type"] for each in found}) == 5
    assert {each.headers["Content-Type"] for each in found} == {"application/problem+json"}
