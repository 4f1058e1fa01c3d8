"""What is wrong with an agent decides what is proposed about it."""

from __future__ import annotations

import pytest

from controllers.engine.targets.agent import TARGET
from controllers.engine.terms import Document, Snapshot, Step
from tests.engine.targets.judging import NOW, drift_of, resource, steps_of


def agent(spec: Document | None = None, status: Document | None = None) -> Snapshot:
    return Snapshot(resource("Agent", "triage", {"domain": "support", **(spec or {})}, status))


def proposed(spec: Document, status: Document) -> dict[str, Step]:
    return {each.operation: each for each in steps_of(TARGET, agent(spec, status))}


def test_a_state_other_than_declared_is_a_field_drift() -> None:
    """I-03 O-14"""
    snapshot = agent({"state": "running"}, {"state": "paused"})

    [difference] = drift_of(TARGET, snapshot).differences

    assert difference[:4] == ("spec.state", "running", "paused", "drifted")


def test_the_declared_state_is_no_drift() -> None:
    """I-03"""
    drift = drift_of(TARGET, agent({"state": "running"}, {"state": "running"}))

    assert drift.differences == ()
    assert drift.score == 0


def test_another_model_than_declared_is_a_field_drift() -> None:
    """O-14 O-16"""
    spec = {"model": {"provider": "harbor", "name": "small", "version": "4.1"}}
    snapshot = agent(spec, {"model": {"name": "small", "version": "4.0"}})

    [difference] = drift_of(TARGET, snapshot).differences

    assert difference[:3] == ("spec.model.version", "4.1", "4.0")


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        ({}, {"state": "paused", "model": {"version": "4"}}),
        ({"state": "running", "model": {"version": "4"}}, {}),
        ({"model": {"name": "small"}}, {"model": {"name": "small", "version": "4"}}),
        ({"type": "advisory"}, {"type": "autonomous"}),
    ],
)
def test_only_what_is_declared_and_reported_is_compared(spec: Document, status: Document) -> None:
    """O-18 O-19"""
    assert TARGET.fields(agent(spec, status), NOW) == []


@pytest.mark.parametrize(
    ("declared", "reported", "operation", "back"),
    [("running", "paused", "resume", "pause"), ("paused", "running", "pause", "resume")],
)
def test_a_pause_is_made_or_ended_as_declared(
    declared: str, reported: str, operation: str, back: str
) -> None:
    """I-03"""
    step = steps_of(TARGET, agent({"state": declared}, {"state": reported}))[0]

    assert (step.operation, step.kind, step.risk) == (operation, "change", "low")
    assert step.why == f"triage is declared {declared} and is {reported}."
    assert step.rollback == {"operation": back, "parameters": {"agent": "triage"}}


def test_too_many_errors_call_for_a_restart() -> None:
    """I-75"""
    steps = proposed({}, {"errorRate": 0.2})

    assert list(steps) == ["restart", "escalate"]
    assert steps["restart"].parameters == {"agent": "triage"}
    assert steps["restart"].why == "triage has errorRate 0.2 (wanted <= 0.05 ratio)."


@pytest.mark.parametrize("state", ["degraded", "failed"])
def test_an_unfit_agent_is_restarted(state: str) -> None:
    """I-75"""
    assert proposed({}, {"state": state})["restart"].why == f"triage is {state}."


def test_another_model_calls_for_a_restart() -> None:
    """I-75"""
    steps = proposed({"model": {"version": "4.1"}}, {"model": {"version": "4.0"}})

    assert steps["restart"].why == "triage runs with model.version 4.0 (declared 4.1)."


def test_too_many_tokens_call_for_less_speed() -> None:
    """I-75"""
    status = {"costConsumed": {"tokens": 160, "period": "2026-11"}}
    steps = proposed({"tokenBudget": {"maxMonthly": 100}}, status)

    assert list(steps) == ["throttle", "escalate"]
    assert steps["throttle"].parameters == {"agent": "triage", "factor": 0.62}
    assert "monthly tokens 160 of 100 tokens" in steps["throttle"].why
    assert steps["throttle"].reversible
    assert steps["throttle"].rollback["parameters"] == {"agent": "triage", "factor": 1}


def test_slowness_calls_for_less_work() -> None:
    """I-75"""
    steps = proposed({}, {"avgLatency": "1m"})

    assert steps["throttle"].parameters["factor"] == 0.5
    assert "avgLatency 60 of 30 s" in steps["throttle"].why


@pytest.mark.parametrize(("tokens", "factor"), [(100_000, 0.1), (101, 0.9)])
def test_a_throttled_agent_still_works_and_notices(tokens: int, factor: float) -> None:
    status = {"costConsumed": {"tokens": tokens, "period": "2026-11"}}

    step = proposed({"tokenBudget": {"maxMonthly": 100}}, status)["throttle"]

    assert step.parameters["factor"] == factor


def test_people_who_override_an_agent_are_asked() -> None:
    """I-75"""
    spec = {"governance": {"escalatesTo": "support-lead"}}

    steps = proposed(spec, {"overrideRate": 0.5})

    assert list(steps) == ["escalate"]
    assert steps["escalate"].kind == "notify"
    assert steps["escalate"].parameters == {"agent": "triage", "to": "support-lead"}
    assert "overrideRate is 0.5 (wanted <= 0.2 ratio)" in steps["escalate"].why


def test_without_a_name_to_escalate_to_it_is_the_domain() -> None:
    assert proposed({}, {"overrideRate": 0.5})["escalate"].parameters["to"] == "domain/support"


def test_an_agent_on_target_is_left_alone() -> None:
    assert proposed({"state": "running"}, {"state": "running", "errorRate": 0.01}) == {}
