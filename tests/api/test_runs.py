"""Runs over the API: started by people and agents, reported by the step's agent alone."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from controllers.models import RunStep, WorkflowRun
from resources.tables.models import LedgerEvent
from tests.api.conftest import Api, agent, apply, issue, queries
from tests.api.deciding import as_person, good, problem
from tests.conftest import Clock
from tests.rows import every_row

pytestmark = pytest.mark.django_db

RUNS = "workflows/release/runs"
HOSTILE = '<script>alert("x")</script>'


def workflow(count: int = 2, **spec: Any) -> dict[str, Any]:
    steps = [
        {"name": f"s{number}", "agent": "robin", "action": "Work."} for number in range(count)
    ]
    return {
        "apiVersion": "ioa.dev/v0.2",
        "kind": "Workflow",
        "metadata": {"name": "release"},
        "spec": {
            "description": "Releases.",
            "domainsInvolved": ["growth", "finance"],
            "steps": steps,
            **spec,
        },
    }


@pytest.fixture
def declared(organisation: None) -> None:
    apply(workflow())


@pytest.fixture
def ines(today: Clock) -> Api:
    """Return an operator."""
    return as_person(today, "ines", "operator")


@pytest.fixture
def wren(organisation: None) -> Api:
    """Return the agent of another domain."""
    return Api(Client(), issue("wren"))


def started(who: Api, **body: Any) -> dict[str, Any]:
    found: dict[str, Any] = good(who.post(RUNS, body), "Run", 201)
    return found


def test_a_person_starts_a_run_and_its_agent_works_through_it(
    ines: Api, robin: Api, declared: None
) -> None:
    run = started(ines, inputs={"version": 3}, correlationId="story-7", trigger="release day")
    assert (run["state"], run["startedBy"], run["trigger"]) == (
        "executing",
        "person/ines",
        "release day",
    )

    for _ in range(2):
        (work, *_) = good(robin.get("workflows/steps", "state=ready"), "StepList")["items"]
        where = f"{RUNS}/{work['run']}/steps/{work['step']['name']}"
        claim = good(robin.post(where, {"verb": "start"}), "StepClaim")
        assert (claim["inputs"], claim["correlationId"]) == ({"version": 3}, "story-7")
        fence = {"fence": claim["fence"]}
        good(robin.post(where, {"verb": "progress", "message": "Half.", **fence}), "StepClaim")
        cost = {"tokens": 10, "cost": 0.1, "currency": "EUR"}
        body = {"verb": "complete", "result": {"ok": True}, "cost": cost, **fence}
        good(robin.post(where, body), "StepClaim")

    ended = good(ines.get(f"{RUNS}/{run['id']}"), "Run")
    assert (ended["state"], ended["outcome"]) == ("completed", "completed")
    assert ended["costAccumulated"] == {"tokens": 20, "cost": 0.2, "currency": "EUR"}
    assert [each["state"] for each in ended["steps"]] == ["completed", "completed"]
    told = LedgerEvent.objects.filter(stream__startswith="run/")
    assert {each.correlation_id for each in told} == {"story-7"}


def test_a_repeated_request_starts_one_run(ines: Api, declared: None) -> None:
    first = ines.post(RUNS, {}, idempotency_key="k")
    again = ines.post(RUNS, {}, idempotency_key="k")

    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    problem(ines.post(RUNS, {"trigger": "x"}, idempotency_key="k"), 409, "refused")
    assert WorkflowRun.objects.count() == 1


def test_an_agent_starts_what_it_sees_with_the_scope(
    robin: Api, wren: Api, stranger: Api, bob: Api, declared: None
) -> None:
    reader = Api(Client(), issue("robin", "resources:read"))

    assert started(robin)["startedBy"] == "agent/robin"
    problem(stranger.post(RUNS, {}), 401, "not-signed-in")
    problem(bob.post(RUNS, {}), 403, "forbidden")
    problem(reader.post(RUNS, {}), 403, "forbidden")
    problem(wren.post(RUNS, {}), 404, "not-found")
    problem(robin.post("workflows/nothing/runs", {}), 404, "not-found")


def test_only_the_steps_agent_reports_it(ines: Api, robin: Api, wren: Api, declared: None) -> None:
    apply(agent("finch", "growth"))
    finch = Api(Client(), issue("finch"))
    where = f"{RUNS}/{started(ines)['id']}/steps/s0"

    problem(ines.post(where, {"verb": "start"}), 403, "forbidden")
    problem(finch.post(where, {"verb": "start"}), 403, "forbidden")
    problem(wren.post(where, {"verb": "start"}), 404, "not-found")

    assert RunStep.objects.filter(state="running").count() == 0


def test_an_agent_of_another_domain_sees_the_run_it_has_a_step_in(
    ines: Api, wren: Api, organisation: None
) -> None:
    steps = [{"name": "pay", "agent": "wren", "action": "Pay."}]
    apply(workflow(steps=steps))
    run = started(ines)

    assert good(wren.get(f"{RUNS}/{run['id']}"), "Run")["id"] == run["id"]
    good(wren.post(f"{RUNS}/{run['id']}/steps/pay", {"verb": "start"}), "StepClaim")


def test_what_does_not_fit_is_refused_with_what_would(
    ines: Api, robin: Api, declared: None
) -> None:
    where = f"{RUNS}/{started(ines)['id']}/steps/s0"

    early = problem(robin.post(where, {"verb": "complete", "fence": 0}), 409, "refused")
    fence = robin.post(where, {"verb": "start"}).json()["fence"]
    twice = problem(robin.post(where, {"verb": "start"}), 409, "refused")
    late = problem(robin.post(where, {"verb": "complete", "fence": fence + 1}), 409, "taken")

    assert early["allowed"] == ["start"]
    assert twice["allowed"] == ["progress", "complete", "fail"]
    assert late["detail"].startswith("It came too late")


def test_a_hold_refuses_a_step_with_its_reason_and_epoch(
    ines: Api, robin: Api, declared: None
) -> None:
    where = f"{RUNS}/{started(ines)['id']}/steps/s0"
    hold = {"kind": "pause", "scope": "domain", "domain": "finance", "reason": "We count."}
    assert ines.post("holds", hold).status_code == 201

    told = problem(robin.post(where, {"verb": "start"}), 423, "stopped")

    assert "We count." in told["detail"]
    assert told["epoch"] == "1"


def test_a_cancelled_run_ends(ines: Api, robin: Api, bob: Api, declared: None) -> None:
    where = f"{RUNS}/{started(ines)['id']}"

    problem(bob.post(f"{where}/cancel", {"reason": "No."}), 403, "forbidden")
    problem(robin.post(f"{where}/cancel", {"reason": "No."}), 403, "forbidden")
    problem(ines.post(f"{where}/cancel", {}), 400, "invalid")
    ended = good(ines.post(f"{where}/cancel", {"reason": "No."}), "Run")

    assert (ended["state"], ended["outcome"], ended["reason"]) == ("failed", "cancelled", "No.")
    told = problem(ines.post(f"{where}/cancel", {"reason": "No."}), 409, "refused")
    assert told["allowed"] == []


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"colour": "red"}, "/colour"),
        ({"inputs": []}, "/inputs"),
        ({"inputs": {"a": "x" * 40_000, "b": "x" * 40_000}}, "/inputs"),
        ({"trigger": 7}, "/trigger"),
        ({"trigger": "x" * 201}, "/trigger"),
        ({"correlationId": "no story"}, "/correlationId"),
    ],
)
def test_what_is_no_start_is_refused(ines: Api, declared: None, body: Any, pointer: str) -> None:
    assert problem(ines.post(RUNS, body), 400, "invalid")["pointer"] == pointer
    assert not WorkflowRun.objects.exists()


@every_row(
    ("body", "pointer"),
    [
        ({}, "/verb"),
        ({"verb": "fly"}, "/verb"),
        ({"verb": []}, "/verb"),
        ({"verb": "complete"}, "/fence"),
        ({"verb": "complete", "fence": "1"}, "/fence"),
        ({"verb": "complete", "fence": -1}, "/fence"),
        ({"verb": "fail", "fence": 1, "errorClass": "odd"}, "/errorClass"),
        ({"verb": "fail", "fence": 1, "error": "x" * 2001}, "/error"),
        ({"verb": "complete", "fence": 1, "result": 7}, "/result"),
        ({"verb": "complete", "fence": 1, "cost": 7}, "/cost"),
        ({"verb": "complete", "fence": 1, "cost": {"tokens": -1}}, "/cost/tokens"),
        ({"verb": "complete", "fence": 1, "cost": {"cost": 1}}, "/cost/currency"),
        ({"verb": "complete", "fence": 1, "cost": {"cost": "1"}}, "/cost/cost"),
        ({"verb": "start", "colour": "red"}, "/colour"),
    ],
    rolled_back=True,
)
def test_what_is_no_report_is_refused(
    ines: Api, robin: Api, declared: None, body: Any, pointer: str
) -> None:
    where = f"{RUNS}/{started(ines)['id']}/steps/1"

    assert problem(robin.post(where, body), 400, "invalid")["pointer"] == pointer


def test_addresses_that_lead_nowhere_are_not_found(ines: Api, robin: Api, declared: None) -> None:
    run = started(ines)["id"]

    problem(ines.get(f"{RUNS}/x"), 404, "not-found")
    problem(ines.get(f"{RUNS}/999999"), 404, "not-found")
    problem(ines.get(f"workflows/other/runs/{run}"), 404, "not-found")
    for step in ("99", "99999", "nothing", "9" * 30):
        problem(robin.post(f"{RUNS}/{run}/steps/{step}", {"verb": "start"}), 404, "not-found")
    problem(robin.get("workflows/steps", "state=odd"), 400, "invalid")
    problem(ines.get("workflows/steps"), 403, "forbidden")
    problem(ines.get(RUNS, "state=odd"), 400, "invalid")


def test_runs_are_listed_newest_first_in_pages(ines: Api, bob: Api, declared: None) -> None:
    numbers = [started(ines)["id"] for _ in range(3)]
    ines.post(f"{RUNS}/{numbers[0]}/cancel", {"reason": "No."})

    first = good(bob.get(RUNS, "limit=2"), "RunList")
    second = good(bob.get(RUNS, f"limit=2&cursor={first['nextCursor']}"), "RunList")

    assert [each["id"] for each in (*first["items"], *second["items"])] == numbers[::-1]
    failed = good(bob.get(RUNS, "state=failed"), "RunList")["items"]
    assert [each["id"] for each in failed] == numbers[:1]
    assert len(good(bob.get(RUNS, "state=open"), "RunList")["items"]) == 2


def test_what_an_agent_writes_comes_back_as_the_text_it_is(
    ines: Api, robin: Api, declared: None
) -> None:
    run = started(ines)["id"]
    where = f"{RUNS}/{run}/steps/s0"
    fence = robin.post(where, {"verb": "start"}).json()["fence"]
    robin.post(where, {"verb": "fail", "fence": fence, "error": HOSTILE})

    answer = ines.get(f"{RUNS}/{run}")

    assert answer["Content-Type"].startswith("application/json")
    assert answer.json()["steps"][0]["error"] == HOSTILE


@pytest.mark.parametrize("count", [5, 50])
def test_reading_costs_the_same_for_5_and_50(
    ines: Api, bob: Api, robin: Api, organisation: None, count: int
) -> None:
    apply(workflow(count))
    runs = [started(ines)["id"] for _ in range(3)]
    bob.get(RUNS)

    with queries("GET workflows/release/runs"):
        bob.get(RUNS)
    with queries("GET workflows/release/runs/{id}"):
        answer = bob.get(f"{RUNS}/{runs[0]}")
    with queries("GET workflows/steps"):
        work = robin.get("workflows/steps", "limit=200")

    assert len(answer.json()["steps"]) == count
    assert len(work.json()["items"]) == min(3 * count, 200)


def test_writing_costs_little(ines: Api, robin: Api, organisation: None) -> None:
    apply(workflow())
    run = started(ines)["id"]
    where = f"{RUNS}/{run}/steps/s0"

    with queries("POST workflows/release/runs"):
        ines.post(RUNS, {})
    with queries("POST workflows/release/runs/{id}/steps/{step} start"):
        fence = robin.post(where, {"verb": "start"}).json()["fence"]
    with queries("POST workflows/release/runs/{id}/steps/{step} complete"):
        done = robin.post(where, {"verb": "complete", "fence": fence})
    with queries("POST workflows/release/runs/{id}/cancel"):
        ines.post(f"{RUNS}/{run}/cancel", {"reason": "No."})

    assert done.status_code == 200
