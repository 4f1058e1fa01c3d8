"""Telemetry: events that arrive, fit their contract, and keep the alert rule quiet."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings

from controllers.engine.targets.telemetry import TARGET
from controllers.engine.terms import Document, Snapshot
from tests.engine.targets.judging import (
    A_MOMENT,
    NOW,
    damaged,
    drift_of,
    example,
    holds_for_any_document,
    observed,
    resource,
    steps_of,
    words,
)
from tests.rows import every_row
from tests.tiers import examples

LAST = "2026-11-15T23:30:00Z"
REFRESHED = example("Telemetry", "analytics-dataset-refreshed")
VALUES = [
    *("events.count", "events.errorRate", "cost", "gt", "lt", "eq", "gte", "lte", "1h", "1d"),
    *(LAST, "2026-11-16T00:29:59Z", 0.04, 0.06, 80),
]


def contract(rule: Document | None = None, **status: Any) -> Snapshot:
    spec: dict[str, Any] = {
        "event": "support.ticket_opened",
        "category": "metric",
        "source": {"domain": "support", "agent": "support-triage"},
    }
    if rule:
        alert = {"condition": rule, "severity": "error", "channels": ["slack-ops"]}
        spec["observability"] = {"alertRule": alert}
    return Snapshot(resource("Telemetry", "support-ticket-opened", spec, status))


def rule(metric: str, operator: str, value: float, window: str = "1d") -> Document:
    return {"metric": metric, "operator": operator, "value": value, "window": window}


@every_row(
    ("operator", "value", "word"),
    [
        ("gt", 99, "False"),
        ("gt", 100, "True"),
        ("gte", 100, "False"),
        ("gte", 101, "True"),
        ("lt", 101, "False"),
        ("lt", 100, "True"),
        ("lte", 100, "False"),
        ("lte", 99, "True"),
        ("eq", 100, "False"),
        ("eq", 99, "True"),
    ],
)
def test_an_alert_rule_describes_the_bad_state(operator: str, value: float, word: str) -> None:
    """I-45"""
    snapshot = contract(rule("events.count", operator, value), eventRate=100)
    assert words(TARGET, snapshot)["AlertRuleQuiet"] == word


def test_events_of_a_day_are_counted_for_the_window_of_the_rule() -> None:
    """A rate of 240 a day is 10 an hour."""
    hourly = contract(rule("events.count", "gt", 9.5, "1h"), eventRate=240)
    found = observed(TARGET, hourly, "AlertRuleQuiet")
    assert found.status == "False"
    assert found.message == "events.count is 10, the rule alerts above 9.5."
    assert words(TARGET, contract(rule("events.count", "gt", 10, "1h"), eventRate=240)) == {
        "AlertRuleQuiet": "True"
    }


def test_errors_are_read_from_the_status() -> None:
    noisy = contract(rule("events.errorRate", "gte", 0.02), errorRate=0.03)
    assert words(TARGET, noisy) == {"EmittingNormally": "True", "AlertRuleQuiet": "False"}


@pytest.mark.parametrize(
    "condition",
    [
        rule("minutesToFirstReply", "gt", 30),
        rule("events.count", "above", 30),
        {"metric": "events.count", "operator": "gt", "value": "many"},
    ],
)
def test_a_rule_the_status_cannot_answer_is_not_judged(condition: Document) -> None:
    assert "AlertRuleQuiet" not in words(TARGET, contract(condition, eventRate=100))


@pytest.mark.parametrize(("errors", "word"), [(0.05, "True"), (0.051, "False")])
def test_one_event_in_twenty_may_break_its_contract(errors: float, word: str) -> None:
    found = observed(TARGET, contract(errorRate=errors), "EmittingNormally")
    assert found.status == word
    assert found.message == f"Error rate {errors}, limit 0.05."


def test_silence_is_wrong_only_where_events_are_expected() -> None:
    expected = contract(rule("events.count", "lt", 5, "1h"), eventRate=960, lastEmitted=LAST)
    feared = contract(rule("events.count", "gt", 5, "1h"), eventRate=960, lastEmitted=LAST)
    assert words(TARGET, expected, NOW - A_MOMENT) == {
        "EmittingNormally": "True",
        "AlertRuleQuiet": "True",
    }
    assert words(TARGET, expected) == {"EmittingNormally": "False", "AlertRuleQuiet": "False"}
    assert words(TARGET, feared, NOW - A_MOMENT) == {"AlertRuleQuiet": "False"}
    assert words(TARGET, feared) == {"AlertRuleQuiet": "True"}
    assert TARGET.recheck(expected, NOW - timedelta(minutes=5)) == NOW
    assert TARGET.recheck(expected, NOW) is None


def test_a_contract_nobody_emits_under_has_no_data() -> None:
    assert drift_of(TARGET, contract(rule("events.count", "lt", 5))).score is None


def test_errors_open_an_incident_and_a_firing_rule_alerts_its_channels() -> None:
    snapshot = contract(rule("events.count", "gt", 5), eventRate=9, errorRate=0.4)
    incident, alert = steps_of(TARGET, snapshot)
    assert (incident.operation, incident.kind) == ("open-incident", "notify")
    assert incident.parameters["agent"] == "support-triage"
    assert incident.why == "support-ticket-opened: Error rate 0.4, limit 0.05."
    assert (alert.operation, alert.kind) == ("alert", "notify")
    assert alert.parameters["channels"] == ["slack-ops"]
    assert alert.parameters["severity"] == "error"


def test_a_quiet_contract_needs_nothing() -> None:
    assert steps_of(TARGET, contract(errorRate=0)) == []


def test_the_rules_of_the_example_are_answered() -> None:
    quiet = Snapshot(example("Telemetry", "support-sentiment-dropped"))
    assert words(TARGET, quiet) == {"EmittingNormally": "True", "AlertRuleQuiet": "True"}
    said = TARGET.explain(quiet, drift_of(TARGET, quiet))
    assert said == "telemetry/support-sentiment-dropped is as declared."


@settings(max_examples=examples(150), deadline=None)
@given(damaged(REFRESHED.spec, REFRESHED.status, *VALUES))
def test_any_contract_is_judged(document: Document) -> None:
    target = REFRESHED._replace(spec=document["spec"], status=document["status"])
    holds_for_any_document(TARGET, Snapshot(target))
