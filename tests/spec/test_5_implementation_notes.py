"""Specification, section 5: who may be a controller, and how several get along."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.loop import registration, watchdog
from resources.documents.actor import Actor
from resources.tables.models import Condition
from resources.usecases import deletion, statuses
from tests.conftest import Clock
from tests.controllers.making import cycles, declare, judgement, told, work
from tests.resources.making import ALICE, live, made, shown
from tests.spec.organisation import (
    CONVERGED,
    DOMAINS,
    NAME,
    controller,
    domain,
    found,
    miss,
    observe,
)

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]


# 5.1 Controller is NOT an AI agent


@pytest.mark.usefixtures("three_domains")
def test_the_resource_describes_what_and_not_how(clock: Clock) -> None:
    """I-81 An outside process runs this one; we only notice when it stops."""
    declare(clock, controller(runner="external"))
    registration.sync(clock.now)

    assert work(clock) == []
    assert cycles(NAME) == []

    clock.advance(minutes=16)
    watchdog.look(clock.now)

    stalled = Condition.objects.get(resource=live("Controller", NAME), type="Stalled")
    assert stalled.status == "True"


# 5.2 Controller versus agent


@pytest.mark.usefixtures("three_domains")
def test_a_controller_operates_across_domains_and_an_agent_within_its_own(clock: Clock) -> None:
    """I-82"""
    declare(clock, made("Agent", "robin", {"domain": "product"}))
    work(clock)

    assert all(judgement(name, NAME) for name in DOMAINS)
    told = statuses.Report("Domain", "product", {"health": "critical"})
    [answer] = statuses.observe([told], actor=Actor("agent", "robin"), now=clock.now)
    assert answer.verdict == "forbidden"


@pytest.mark.usefixtures("three_domains")
def test_the_output_of_a_controller_are_status_updates(clock: Clock) -> None:
    """I-05"""
    before = {name: live("Domain", name).generation for name in DOMAINS}
    miss(clock, "product")
    work(clock)

    by = {each.managed_by for each in Condition.objects.filter(type=CONVERGED)}
    assert by == {f"controller/{NAME}"}
    assert {name: live("Domain", name).generation for name in DOMAINS} == before


# 5.3 Multiple controllers per resource


def watcher(name: str, condition_type: str, **spec: Any) -> dict[str, Any]:
    return made(
        "Controller", name, {"targetKind": "Agent", "conditionType": condition_type} | spec
    )


@pytest.fixture
def two_watchers(clock: Clock) -> None:
    """A budget controller and a security controller, both watching one agent."""
    agent = made("Agent", "robin", {"domain": "product"}, status={"errorRate": 0.01})
    found(clock)
    declare(
        clock, agent, watcher("money", "BudgetHealthy"), watcher("safety", "SecurityCompliant")
    )
    work(clock)


def said(type_: str) -> tuple[str, str] | None:
    """Return the status and the reason of a condition of the agent."""
    row = Condition.objects.filter(resource=live("Agent", "robin"), type=type_)
    return row.values_list("status", "reason").first()


@pytest.mark.usefixtures("two_watchers")
def test_multiple_controllers_watch_the_same_resource() -> None:
    """I-83 F-07 X-13"""
    judges = live("Agent", "robin").judged.values_list("controller__name", flat=True)

    assert sorted(judges) == ["money", "safety"]


@pytest.mark.usefixtures("two_watchers")
def test_each_controller_updates_its_own_conditions(clock: Clock) -> None:
    """I-84"""
    stricter = watcher("safety", "SecurityCompliant", drift={"weights": {"kpi": 1}})
    declare(clock, stricter | {"spec": stricter["spec"] | {"driftThreshold": 0.9}})
    observe(clock, "Agent", "robin", {"errorRate": 0.5})
    work(clock)

    assert said("BudgetHealthy") == ("False", "DriftDetected")
    owners = Condition.objects.filter(resource=live("Agent", "robin")).exclude(managed_by="")
    by = {each.type: each.managed_by for each in owners}
    assert (
        by.items()
        >= {
            "BudgetHealthy": "controller/money",
            "SecurityCompliant": "controller/safety",
        }.items()
    )


def test_condition_types_are_namespaced_by_their_controller(clock: Clock) -> None:
    """I-85"""
    found(clock)
    declare(clock, made("Controller", "second-look", {"targetKind": "Domain"}))
    work(clock)

    types = set(Condition.objects.filter(resource__name="product").values_list("type", flat=True))
    assert {CONVERGED, "SecondLookConverged"} <= types


@pytest.mark.usefixtures("two_watchers")
def test_a_type_that_another_controller_writes_is_refused_visibly(clock: Clock) -> None:
    """I-84 I-85"""
    declare(clock, watcher("intruder", "BudgetHealthy"))
    work(clock)

    row = Condition.objects.get(resource=live("Agent", "robin"), type="BudgetHealthy")
    assert row.managed_by == "controller/money"
    [error] = told("controller.error")
    assert "conditionType" in error.payload["error"]
    assert error.payload["controllerName"] == "intruder"
    judged = judgement("robin", "intruder", "Agent")
    assert judged is not None
    assert judged.status == "Unknown"


@pytest.mark.usefixtures("two_watchers")
def test_no_controller_deletes_conditions_set_by_another(clock: Clock) -> None:
    """I-86 X-27 Not even by going away, nor by no longer watching."""
    elsewhere = {"targetSelector": {"matchLabels": {"tier": "elsewhere"}}}
    declare(clock, watcher("safety", "SecurityCompliant", **elsewhere))
    deletion.delete("Controller", "money", actor=ALICE, now=clock.now)
    work(clock)
    clock.advance(minutes=5)
    work(clock)

    assert said("BudgetHealthy") == ("Unknown", "ControllerDeleted")
    assert said("ReferencesResolved") == ("True", "AllFound")


@pytest.mark.usefixtures("two_watchers")
def test_what_a_resource_reports_leaves_the_controllers_conditions_alone(clock: Clock) -> None:
    """I-86"""
    own = {"conditions": [{"type": "Awake", "status": "True"}]}
    report = statuses.Report("Agent", "robin", own, replace=True)
    statuses.observe([report], actor=Actor("agent", "robin"), now=clock.now)

    types = {each["type"] for each in shown("Agent", "robin")["status"]["conditions"]}
    assert {"Awake", "BudgetHealthy", "SecurityCompliant"} <= types


@pytest.mark.usefixtures("three_domains")
def test_a_resource_that_leaves_the_selector_is_let_go(clock: Clock) -> None:
    """I-09 I-86 Its own condition goes, and nobody else's."""
    work(clock)
    declare(clock, domain("product", tier="staging"))
    work(clock)

    types = set(Condition.objects.filter(resource__name="product").values_list("type", flat=True))
    assert types == {"ReferencesResolved"}
    assert judgement("product", NAME) is None
