"""Who carries an operation out."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.models import Endpoint
from controllers.operations import Executor, executor_of
from tests.conftest import Clock
from tests.decisions.operating import (
    WORKFLOW,
    agent,
    declared,
    known,
)

pytestmark = pytest.mark.django_db


def endpoint(clock: Clock, name: str, *taken: str, domain: str = "", **given: Any) -> Endpoint:
    row = {"url": "https://hooks.example", "secret": "x", "changed_by": "system/ioa"} | given
    return Endpoint.objects.create(
        name=name, operations=[*taken], domain=domain, changed_at=clock.now, **row
    )


def test_an_endpoint_that_takes_an_operation_comes_first(clock: Clock) -> None:
    endpoint(clock, "off", "pause", domain="growth", enabled=False)
    endpoint(clock, "elsewhere", "pause", domain="harbour")
    row = agent(clock)
    assert executor_of(known("pause"), row) == Executor("control-plane")

    everywhere = endpoint(clock, "anywhere", "pause", "restart")
    assert executor_of(known("pause"), row) == Executor("webhook", everywhere)
    here = endpoint(clock, "zealous", "pause", domain="growth")
    assert executor_of(known("pause"), row) == Executor("webhook", here)
    assert executor_of(known("restart"), row) == Executor("webhook", everywhere)


def test_an_agent_does_what_only_it_can_do(clock: Clock) -> None:
    row = agent(clock)

    assert executor_of(known("restart"), row) == Executor("agent", agent="robin")


@pytest.mark.parametrize(("name", "state"), [("pause", "paused"), ("resume", "running")])
def test_what_is_declared_already_is_left_to_the_agent(
    clock: Clock, name: str, state: str
) -> None:
    assert executor_of(known(name), agent(clock)) == Executor("control-plane")
    assert executor_of(known(name), agent(clock, state=state)) == Executor("agent", agent="robin")


@pytest.mark.parametrize(
    ("spec", "status", "leader"),
    [
        ({}, {}, "scorer"),
        ({}, {"currentStep": "offer"}, "offerer"),
        ({}, {"currentStep": "unheard-of"}, "scorer"),
        ({"orchestrator": "conductor"}, {"currentStep": "offer"}, "conductor"),
    ],
)
def test_whoever_leads_a_workflow_runs_it(
    clock: Clock, spec: dict[str, Any], status: dict[str, Any], leader: str
) -> None:
    row = declared(clock, "Workflow", "answer", WORKFLOW | spec, status=status)

    for name in ("start", "retry", "compensate", "abort"):
        assert executor_of(known(name), row) == Executor("agent", agent=leader)
