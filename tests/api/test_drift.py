"""The drift of a resource over HTTP: what is concluded now, how old that is, and the past."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from controllers.models import Runtime
from resources.tables.ledger import instant
from tests.api.conftest import Api, agent, apply, assert_fits
from tests.conftest import Clock
from tests.controllers.making import (
    KEEPER,
    controller,
    declare,
    domain,
    drifted,
    healthy,
    judgement,
    measure,
    work,
)

pytestmark = pytest.mark.django_db

DRIFT = "resources/domain/harbour/drift"
REMEDY = {
    "onDrift": [
        {"type": "alert", "severity": "warning", "channels": ["ops"]},
        {
            "type": "reconcile",
            "operation": "modify-spec",
            "patch": {"purpose": "Waits for more ships."},
        },
    ]
}


def read(api: Api, query: str = "") -> dict[str, Any]:
    """Return the drift of the harbour."""
    answer = api.get(DRIFT, query)
    assert answer.status_code == 200, answer.json()
    found: dict[str, Any] = answer.json()
    return found


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_drift_comes_with_its_evidence_plan_and_alerts(alice: Api, today: Clock) -> None:
    """D-12"""
    declare(today, controller(actions=REMEDY))
    healthy(today, "harbour")
    work(today)
    measure(today, "harbour", 40)
    work(today)

    body = read(alice)
    [found] = body["items"]

    assert_fits(body, "Drift")
    assert found["controller"] == "controller/keeper"
    assert (found["score"], found["threshold"]) == (1.0, 0.15)
    assert (found["drifted"], found["status"], found["stale"]) == (True, "False", False)
    assert [each["subject"] for each in found["evidence"]] == ["kpi/ships"]
    assert found["evidence"][0]["observed"] == 40
    assert found["dimensions"]["kpi"]["score"] == 1.0
    assert found["plan"]["actions"][0]["type"] == "reconcile"
    assert [each["channel"] for each in found["alerts"]] == ["ops"]
    assert found["episode"]["state"] == "drifting"
    newest = alice.get("resources/domain/harbour").json()["metadata"]["resourceVersion"]
    assert found["judgedVersion"] == newest


def test_a_healthy_resource_has_neither_plan_nor_alerts(alice: Api, today: Clock) -> None:
    declare(today, controller(actions=REMEDY))
    healthy(today, "harbour")
    work(today)

    [found] = read(alice)["items"]

    assert (found["score"], found["status"], found["alerts"]) == (0.0, "True", [])
    assert "plan" not in found


def test_every_controller_that_looks_has_its_say(alice: Api, today: Clock) -> None:
    """I-83"""
    declare(today, controller("strict", driftThreshold=0.01), controller("lax", driftThreshold=1))
    drifted(today, "harbour")
    work(today)

    both, one = read(alice), read(alice, "controller=lax")

    said = {each["controller"]: each["threshold"] for each in both["items"]}
    assert said == {"controller/lax": 1, "controller/strict": 0.01}
    assert [each["controller"] for each in one["items"]] == ["controller/lax"]
    assert {each["controller"] for each in one["history"]} == {"controller/lax"}


def test_history_comes_newest_first_and_can_be_cut(alice: Api, today: Clock) -> None:
    declare(today, controller())
    declare(today, domain("harbour"))
    times = []
    for ships in (100, 50, 120):
        measure(today, "harbour", ships)
        work(today)
        times.append(today.now)
        today.advance(seconds=10)

    whole = read(alice)["history"]
    short = read(alice, "limit=1")["history"]
    recent = read(alice, f"since={instant(times[1])}")["history"]

    assert [each["score"] for each in whole] == [0.0, 1.0, 0.0]
    assert [moment(each["at"]) for each in whole] == times[::-1]
    assert [each["dimensions"]["kpi"] for each in whole] == [0.0, 1.0, 0.0]
    assert short == whole[:1]
    assert recent == whole[:2]


def test_a_later_cycle_that_finds_nothing_new_confirms_a_judgement(
    alice: Api, today: Clock
) -> None:
    """I-60"""
    declare(today, controller())
    healthy(today, "harbour")
    today.advance(minutes=-7)
    work(today)
    first = today.now
    work(at(today, minutes=5))

    [found] = read(alice)["items"]

    assert moment(found["lastEvaluated"]) == today.now
    assert moment(found["evaluatedAt"]) == first


def at(clock: Clock, **units: float) -> Clock:
    clock.advance(**units)
    return clock


def test_a_failed_cycle_confirms_nothing(alice: Api, today: Clock) -> None:
    declare(today, controller())
    healthy(today, "harbour")
    work(today)
    Runtime.objects.update(failures=1, last_run_at=at(today, minutes=1).now)

    [found] = read(alice)["items"]

    assert found["lastEvaluated"] == found["evaluatedAt"]


def test_what_changed_since_is_not_confirmed(alice: Api, today: Clock) -> None:
    declare(today, controller())
    healthy(today, "harbour")
    work(today)
    measure(today, "harbour", 20)
    Runtime.objects.update(last_run_at=at(today, minutes=1).now)

    [found] = read(alice)["items"]

    assert found["lastEvaluated"] == found["evaluatedAt"]
    assert found["score"] == 0.0


def test_a_controller_that_went_silent_no_longer_vouches(alice: Api, today: Clock) -> None:
    """D-05"""
    declare(today, controller(reconcileInterval="5m"))
    healthy(today, "harbour")
    today.advance(minutes=-16)
    work(today)

    [found] = read(alice)["items"]

    assert (found["stale"], found["status"]) == (True, "Unknown")
    assert found["reason"] == "ControllerStalled"
    assert found["score"] == 0.0


def test_a_deleted_controller_has_no_say(alice: Api, today: Clock) -> None:
    declare(today, controller())
    healthy(today, "harbour")
    work(today)
    alice.delete(f"resources/controller/{KEEPER}")

    assert judgement("harbour") is not None
    assert read(alice) == {"items": [], "history": []}


def test_an_agent_reads_the_drift_of_its_own_domain_only(robin: Api, today: Clock) -> None:
    declare(today, controller())
    work(today)

    assert len(robin.get("resources/domain/growth/drift").json()["items"]) == 1
    assert robin.get("resources/domain/finance/drift").status_code == 404


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("since=yesterday", 400),
        ("limit=0", 400),
        ("limit=201", 400),
        ("cursor=x", 400),
        ("controller=%00", 400),
        ("controller=nobody", 404),
    ],
)
def test_a_bad_parameter_is_refused(alice: Api, today: Clock, query: str, status: int) -> None:
    healthy(today, "harbour")

    assert alice.get(DRIFT, query).status_code == status


def names(answer: Any) -> list[str]:
    return [item["metadata"]["name"] for item in answer.json()["items"]]


def test_a_list_can_be_narrowed_to_what_is_drifted(alice: Api, today: Clock) -> None:
    declare(today, controller("first"), controller("second"), domain("unseen"))
    healthy(today, "farm")
    drifted(today, "harbour", "mill")
    work(today)
    declare(today, domain("young"))

    assert names(alice.get("resources/domain", "drifted=true")) == ["harbour", "mill"]
    assert names(alice.get("resources/domain", "drifted=false")) == ["farm", "unseen", "young"]
    assert names(alice.get("resources/agent", "drifted=true")) == []


def test_what_one_controller_finds_drifted_is_drifted(alice: Api, today: Clock) -> None:
    declare(today, controller("strict"), controller("lax", driftThreshold=0.9))
    goals = [{"name": name, "target": {"operator": "gte", "value": 10}} for name in "ab"]
    declare(today, domain("harbour", kpis=goals))
    figures = [{"name": "a", "value": 5}, {"name": "b", "value": 15}]
    alice.patch("resources/domain/harbour/status", {"kpis": figures})
    work(today)

    assert [each["drifted"] for each in read(alice)["items"]] == [False, True]
    assert names(alice.get("resources/domain", "drifted=true")) == ["harbour"]
    assert names(alice.get("resources/domain", "drifted=false")) == []


def test_pages_of_what_is_drifted_join(alice: Api, today: Clock) -> None:
    declare(today, controller())
    healthy(today, "b", "d")
    drifted(today, "a", "c", "e")
    work(today)

    first = alice.get("resources/domain", "drifted=true&limit=2")
    cursor = first.json()["nextCursor"]
    second = alice.get("resources/domain", f"drifted=true&limit=2&cursor={cursor}")

    assert [names(first), names(second)] == [["a", "c"], ["e"]]
    assert alice.get("resources/domain", f"limit=2&cursor={cursor}").status_code == 400


def test_an_agent_sees_no_drift_of_others_in_a_list(robin: Api, today: Clock) -> None:
    apply(agent("raven", "growth"))
    declare(today, controller())
    work(today)
    drifted(today, "growth", "finance")
    work(today)

    assert names(robin.get("resources/domain", "drifted=true")) == ["growth"]
