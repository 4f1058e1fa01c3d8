"""An agent is measured by its objectives, its tokens, its state and its schedule."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings

from controllers.engine.targets.agent import TARGET
from controllers.engine.terms import Document, Related, Resource, Snapshot
from tests.engine.targets.judging import (
    NOW,
    any_document,
    drift_of,
    holds_for_any_document,
    observed,
    resource,
    steps_of,
    words,
)
from tests.rows import every_row
from tests.tiers import examples


def agent(spec: Document | None = None, status: Document | None = None) -> Snapshot:
    return Snapshot(resource("Agent", "triage", {"domain": "support", **(spec or {})}, status))


def objective(name: str, value: float, unit: str, operator: str = "lte") -> Document:
    return {"objectives": [{"name": name, "operator": operator, "value": value, "unit": unit}]}


def budget(limits: Document, period: str = "2026-11", share: Any = 0.4) -> Resource:
    agents = [{"name": "other", "allocation": 0.1}, {"name": "triage", "allocation": share}]
    spec = {"domain": "support", "period": period, "limits": limits, "agents": agents}
    return resource("Budget", "support-budget", spec)


def consumed(tokens: float, period: str = "2026-11", **more: Any) -> Document:
    return {"costConsumed": {"tokens": tokens, "period": period, **more}}


@every_row(
    ("status", "verdict"),
    [
        ({"errorRate": 0.05}, "met"),
        ({"errorRate": 0.051}, "missed"),
        ({"overrideRate": 0.2}, "met"),
        ({"overrideRate": 0.21}, "missed"),
        ({"avgLatency": "30s"}, "met"),
        ({"avgLatency": "31s"}, "missed"),
        ({"avgLatency": "PT0.5M"}, "met"),
        ({"healthScore": 0.7}, "met"),
        ({"healthScore": 0.69}, "missed"),
        ({"healthScore": 70}, "met"),
        ({"healthScore": 69}, "missed"),
        ({"errorRate": "many"}, "unknown"),
    ],
)
def test_an_agent_without_objectives_has_the_standard_ones(status: Document, verdict: str) -> None:
    """I-44"""
    [name] = status
    dimension = drift_of(TARGET, agent({}, status)).of("kpi")

    assert dimension is not None
    verdicts = {each.subject: each.verdict for each in dimension.evidence}
    assert verdicts.get(f"kpi/{name}", "met") == verdict
    assert dimension.of == 4


@every_row(
    ("spec", "status", "verdict"),
    [
        (objective("errorRate", 5, "percent"), {"errorRate": 0.049}, "met"),
        (objective("errorRate", 5, "percent"), {"errorRate": 0.051}, "missed"),
        (objective("avgLatency", 500, "ms"), {"avgLatency": "0.4s"}, "met"),
        (objective("avgLatency", 500, "ms"), {"avgLatency": "0.6s"}, "missed"),
        (objective("avgLatency", 2, ""), {"avgLatency": "1m"}, "missed"),
        (objective("healthScore", 70, "points", "gte"), {"healthScore": 0.8}, "met"),
        (objective("answersPerHour", 50, "count", "gte"), {"answersPerHour": 51}, "met"),
        (objective("avgLatency", 2, "percent"), {"avgLatency": "1m"}, "unknown"),
    ],
)
def test_declared_objectives_replace_the_standard_ones(
    spec: Document, status: Document, verdict: str
) -> None:
    """I-44"""
    dimension = drift_of(TARGET, agent(spec, {**status, "overrideRate": 1})).of("kpi")

    assert dimension is not None
    assert [each.verdict for each in dimension.evidence] == [verdict] * (verdict != "met")
    assert dimension.of == 1


def test_a_reading_says_that_the_agent_reported_it_and_when() -> None:
    snapshot = agent({}, {"errorRate": 0.1})
    reported = snapshot._replace(target=snapshot.target._replace(reported_at=NOW))

    reading = TARGET.kpis(reported, NOW)[0]

    assert (reading.by, reading.at) == ("agent/triage", NOW.isoformat())


@pytest.mark.parametrize(
    ("period", "limit"),
    [("2026-11", 300), ("monthly", 300), ("2026-11-15", 10), ("daily", 10), ("2026-Q4", None)],
)
def test_the_period_of_its_tokens_decides_which_limit_holds(
    period: str, limit: int | None
) -> None:
    """I-46"""
    snapshot = agent({"tokenBudget": {"maxDaily": 10, "maxMonthly": 300}}, consumed(5, period))

    limits = [each.allocated for each in TARGET.spending(snapshot, NOW)]

    assert limits == ([] if limit is None else [limit])


def test_tokens_without_a_period_are_set_against_the_only_limit() -> None:
    status = {"costConsumed": {"tokens": 5}}

    one = TARGET.spending(agent({"tokenBudget": {"maxMonthly": 4}}, status), NOW)
    two = TARGET.spending(agent({"tokenBudget": {"maxMonthly": 4, "maxDaily": 1}}, status), NOW)

    assert [(each.name, each.allocated) for each in one] == [("monthly tokens", 4)]
    assert list(two) == []


@pytest.mark.parametrize(
    ("limits", "period", "expected"),
    [
        ({"tokens": {"monthly": 100}}, "2026-11", [(50, 40, "tokens")]),
        ({"tokens": {"monthly": 100}, "cost": {"monthly": 10}}, "2026-11", [(50, 40, "tokens")]),
        ({"cost": {"monthly": 10, "currency": "EUR"}}, "2026-11", [(8, 4, "EUR")]),
        ({"cost": {"monthly": 10, "currency": "USD"}}, "2026-11", []),
        ({"tokens": {"quarterly": 100}}, "2026-Q4", []),
        ({"tokens": {"monthly": 100}}, "2026-10", []),
    ],
)
def test_its_share_of_a_budget_counts_in_the_same_period(
    limits: Document, period: str, expected: list[Any]
) -> None:
    """I-46"""
    snapshot = agent({}, consumed(50, cost=8, currency="EUR"))._replace(
        related=Related({"Budget": (budget(limits, period),)})
    )

    spending = TARGET.spending(snapshot, NOW)

    assert [(each.consumed, each.allocated, each.unit) for each in spending] == expected


@pytest.mark.parametrize("share", [None, "half"])
def test_an_agent_without_a_share_is_not_measured_by_the_budget(share: object) -> None:
    related = Related({"Budget": (budget({"tokens": {"monthly": 100}}, share=share),)})

    assert list(TARGET.spending(agent({}, consumed(5))._replace(related=related), NOW)) == []


def test_its_domains_policies_are_its_own() -> None:
    """I-47"""
    spec = {"domain": "support", "dataScopes": [{}, {}, {}, {}]}
    policy = resource("SecurityPolicy", "data", spec, {"violations": 1})
    snapshot = agent()._replace(related=Related({"SecurityPolicy": (policy,)}))

    dimension = drift_of(TARGET, snapshot).of("security")

    assert dimension is not None
    assert dimension.score == 0.25


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("running", {"Ready": "True"}),
        ("idle", {"Ready": "True"}),
        ("learning", {"Ready": "True"}),
        ("degraded", {"Ready": "False"}),
        ("failed", {"Ready": "False"}),
        ("paused", {}),
        (None, {}),
    ],
)
def test_its_state_says_whether_it_is_ready(state: str | None, expected: dict[str, str]) -> None:
    assert words(TARGET, agent({}, {"state": state})) == expected


@pytest.mark.parametrize(
    ("cron", "last", "expected"),
    [
        ("0 0 * * *", NOW - timedelta(minutes=20), "True"),
        ("0 0 * * *", NOW - timedelta(hours=1), "True"),
        ("0 23 * * *", NOW - timedelta(hours=3), "False"),
        ("*/5 * * * *", NOW - timedelta(minutes=4), "True"),
        ("*/5 * * * *", NOW - timedelta(minutes=10), "False"),
    ],
)
def test_a_run_may_be_late_by_one_interval_and_at_most_an_hour(
    cron: str, last: datetime, expected: str
) -> None:
    schedule = {"schedule": {"type": "cron", "cron": cron}}
    snapshot = agent(schedule, {"lastExecution": last.isoformat()})

    assert words(TARGET, snapshot) == {"ExecutedOnSchedule": expected}
    assert cron in observed(TARGET, snapshot, "ExecutedOnSchedule").message


@pytest.mark.parametrize(
    ("schedule", "last"),
    [
        ({"type": "cron", "cron": "whenever"}, "2020-01-01T00:00:00Z"),
        ({"type": "event-driven", "cron": "* * * * *"}, "2020-01-01T00:00:00Z"),
        ({"type": "cron", "cron": "* * * * *"}, None),
        ("cron", "2020-01-01T00:00:00Z"),
    ],
)
def test_without_a_cron_schedule_or_a_run_there_is_nothing_to_say(
    schedule: object, last: str | None
) -> None:
    snapshot = agent({"schedule": schedule}, {"lastExecution": last})

    assert words(TARGET, snapshot) == {}
    assert TARGET.recheck(snapshot, NOW) is None


def test_the_clock_alone_matters_when_the_next_run_is_late() -> None:
    schedule = {"schedule": {"type": "cron", "cron": "0 4 * * *"}}
    snapshot = agent(schedule, {"lastExecution": "2026-11-15T04:00:09Z"})

    assert TARGET.recheck(snapshot, NOW) == datetime(2026, 11, 16, 5, tzinfo=UTC)


KEYS = [
    *("objectives", "name", "operator", "value", "unit", "state", "model", "version", "period"),
    *("costConsumed", "tokens", "cost", "currency", "tokenBudget", "maxDaily", "maxMonthly"),
    *("schedule", "type", "cron", "lastExecution", "errorRate", "avgLatency", "healthScore"),
    *("governance", "escalatesTo", "limits", "monthly", "agents", "allocation", "violations"),
]
VALUES = [
    *("errorRate", "avgLatency", "healthScore", "lte", "ratio", "s", "running", "paused"),
    *(
        "triage",
        "2026-11",
        "2026-11-15",
        "cron",
        "0 4 * * *",
        "*/5 * * * *",
        "2026-11-15T04:00:09Z",
        "2s",
    ),
]


@given(any_document(KEYS, VALUES), any_document(KEYS, VALUES))
@settings(max_examples=examples(150), deadline=None)
def test_any_agent_can_be_judged(spec: Document, status: Document) -> None:
    related = {
        kind: (resource(kind, "related", spec, status),) for kind in ("Budget", "SecurityPolicy")
    }
    holds_for_any_document(TARGET, agent(spec, status)._replace(related=Related(related)))


def test_an_agent_that_reported_nothing_is_unknown() -> None:
    snapshot = agent()

    drift = drift_of(TARGET, snapshot)

    assert drift.score is None
    assert TARGET.explain(snapshot, drift) == "agent/triage has reported nothing yet."
    assert list(steps_of(TARGET, snapshot)) == []
