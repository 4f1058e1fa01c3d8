"""Documents of v0.1, of drafts and of other tools become documents of v0.2."""

from __future__ import annotations

from typing import Any

import pytest

from resources.documents import kinds
from resources.documents.kind import Document, Kind
from resources.documents.kinds.domain import parse_target
from resources.documents.validation import check
from tests.kinds.samples import GONE, kind, sample
from tests.rows import every_row

V01 = {"/apiVersion": "ioa.dev/v0.1"}


def upgraded(name: str, changes: dict[str, Any]) -> Document:
    return kind(name).upgrade(sample(name, changes))


@every_row("each", kinds.ALL, ids=lambda each: each.name)
def test_a_v02_document_stays_as_it_is(each: Kind) -> None:
    document = sample(each.name)

    assert each.upgrade(document) == document


@every_row("each", kinds.ALL, ids=lambda each: each.name)
def test_the_argument_is_not_touched(each: Kind) -> None:
    changes = {**V01, "/metadata/owner": "Rosa Lind", "/status": None}
    document = sample(each.name, changes)

    each.publish(each.upgrade(document))

    assert document == sample(each.name, changes)


@pytest.mark.parametrize("name", ["Domain", "Agent", "Decision", "Telemetry", "Governance"])
def test_a_v01_document_becomes_v02(name: str) -> None:
    document = upgraded(name, {**V01, "/metadata/owner": "Rosa Lind"})

    assert document["apiVersion"] == "ioa.dev/v0.2"
    assert document["metadata"]["owner"] == {"name": "Rosa Lind", "role": "owner"}
    assert check(document) == []


def test_a_kind_born_in_v02_has_no_older_version() -> None:
    document = upgraded("Budget", V01)

    assert [problem.pointer for problem in check(document)] == ["/apiVersion"]


def test_an_owner_of_v02_may_stay_a_text() -> None:
    document = upgraded("Domain", {"/metadata/owner": "Rosa Lind"})

    assert document["metadata"]["owner"] == "Rosa Lind"


@every_row(
    ("text", "operator", "value", "unit"),
    [
        ("12 features/quarter", "gte", 12, "features/quarter"),
        (">4.5", "gt", 4.5, ""),
        ("<2 weeks", "lt", 2, "weeks"),
        (">= 95 percent", "gte", 95, "percent"),
        ("<= 0.5", "lte", 0.5, ""),
        ("= 3", "eq", 3, ""),
        ("10000", "gte", 10000, ""),
        ("<5%", "lt", 5, "%"),
        ("50,000 users", "gte", 50000, "users"),
        ("> 1,234,567.5", "gt", 1234567.5, ""),
        ("== 5", "eq", 5, ""),
        ("≥ 99.9 %", "gte", 99.9, "%"),
        ("≤3d", "lte", 3, "d"),
        (">$50,000", "gt", 50000, "USD"),
        ("€20 /user", "gte", 20, "EUR /user"),
    ],
)
def test_a_target_is_read(text: str, operator: str, value: float, unit: str) -> None:
    assert parse_target(text) == {"operator": operator, "value": value, "unit": unit}


@every_row(
    "text", ["", "1.2.3", "+20%", "-30%", "as fast as we can", "5,5", "1,00", "> ", "9" * 16]
)
def test_other_targets_stay_texts(text: str) -> None:
    assert parse_target(text) is None


def test_the_kpis_of_v01_become_structured() -> None:
    kpis = [
        {"name": "berth-time", "target": "<12", "unit": "hours", "window": "30d"},
        {"name": "churn", "target": "<5%", "unit": "percent"},
        {"name": "mood", "target": "better", "unit": "points"},
    ]

    document = upgraded("Domain", {**V01, "/spec/kpis": kpis})

    assert document["spec"]["kpis"] == [
        {
            "name": "berth-time",
            "target": {"operator": "lt", "value": 12, "unit": "hours"},
            "window": "30d",
        },
        {"name": "churn", "target": {"operator": "lt", "value": 5, "unit": "%"}},
        {"name": "mood", "target": "better", "unit": "points"},
    ]


def test_the_data_of_v01_is_internal() -> None:
    document = upgraded("Domain", {**V01, "/spec/dataOwnership": ["tides"]})

    assert document["spec"]["dataOwnership"] == [{"name": "tides", "classification": "internal"}]


@pytest.mark.parametrize(
    ("autonomy", "role"),
    [
        ("autonomous", "tactical"),
        ("supervised", "tactical"),
        ("advisory", "analytical"),
        ("reactive", "observer"),
        ("unheard-of", "tactical"),
    ],
)
def test_an_agent_of_v01_gets_a_role(autonomy: str, role: str) -> None:
    document = upgraded("Agent", {**V01, "/spec/type": autonomy, "/spec/role": GONE})

    assert document["spec"]["role"] == role


def test_the_capabilities_of_v01_get_names() -> None:
    text = "Sentiment  analysis of every single letter we receive"

    document = upgraded("Agent", {**V01, "/spec/capabilities": [text]})

    assert document["spec"]["capabilities"] == [
        {
            "name": "sentiment-analysis-of-every-single-lette",
            "type": "analysis",
            "description": text,
        }
    ]


def test_the_memory_of_v01_belongs_to_the_domain() -> None:
    document = upgraded("Agent", {**V01, "/spec/memory/scope": GONE})

    assert document["spec"]["memory"]["scope"] == "domain"


def test_a_decision_of_v01_gets_what_v02_expects() -> None:
    changes = {**V01, "/spec/deciders": ["Rosa"], "/spec/assumptions": GONE}

    spec = upgraded("Decision", {**changes, "/spec/initiatedBy": GONE})["spec"]

    assert spec["deciders"] == [{"name": "Rosa", "role": "decider"}]
    assert spec["assumptions"] == []
    assert spec["initiatedBy"] == {"type": "human", "name": "unknown"}


def test_telemetry_and_governance_of_v01_get_defaults() -> None:
    telemetry = upgraded("Telemetry", {**V01, "/spec/severity": GONE, "/spec/correlationId": GONE})
    governance = upgraded("Governance", {**V01, "/spec/compliance": GONE})

    assert telemetry["spec"]["severity"] == "info"
    assert telemetry["spec"]["correlationId"] == {"required": False, "format": "uuid"}
    assert governance["spec"]["compliance"] == {"standards": [], "requirements": []}


@pytest.mark.parametrize(
    ("name", "pointer"),
    [
        ("Domain", "/status"),
        ("Domain", "/metadata/owner"),
        ("Decision", "/status/closedAt"),
        ("Controller", "/status/lastDriftAt"),
        ("Memory", "/spec/supersedes"),
        ("Domain", "/spec/kpis/0/window"),
    ],
)
def test_nulls_are_dropped(name: str, pointer: str) -> None:
    assert upgraded(name, {pointer: None}) == sample(name, {pointer: GONE})


def test_the_two_legal_nulls_and_those_of_payloads_stay() -> None:
    assert upgraded("Decision", {})["spec"]["supersededBy"] is None
    assert upgraded("Workflow", {})["status"]["completedAt"] is None
    properties = upgraded("Telemetry", {})["spec"]["payload"]["properties"]
    assert properties["ship"]["default"] is None


@every_row(
    ("name", "changes", "expected"),
    [
        (
            "Budget",
            {"/spec/period": {"start": "2026-01-01", "end": "2026-03-31"}},
            {"/spec/period": "2026-Q1"},
        ),
        (
            "Budget",
            {"/spec/period": {"start": "2026-01-15", "end": "2026-02-15"}},
            {"/spec/period": "2026-01-15/2026-02-15"},
        ),
        (
            "Budget",
            {"/status": {"utilizationPercent": 50, "tokensConsumed": 7}},
            {"/status": {"utilizationRate": 0.5, "consumed": {"tokens": 7}}},
        ),
        (
            "Budget",
            {"/status/consumed": {"tokens": 7, "value": 2}},
            {"/status/consumed": {"tokens": 7, "cost": 2}},
        ),
        (
            "SecurityPolicy",
            {"/status/violations": {"total": 3, "critical": 1}},
            {"/status/violations": 3, "/status/violationsDetail": {"total": 3, "critical": 1}},
        ),
        (
            "Domain",
            {"/status/decisionVelocity": {"avgTimeToDecision": "2.5d"}},
            {"/status/decisionVelocity": {"avgLeadTimeDays": 2.5}},
        ),
        (
            "Domain",
            {"/status/decisionVelocity": {"avgTimeToDecision": "fast"}},
            {"/status/decisionVelocity": {"avgTimeToDecision": "fast"}},
        ),
        ("Domain", {"/status/costToDate": {"cost": 5}}, {"/status/costToDate": {"value": 5}}),
        ("Agent", {"/status/costConsumed": {"value": 5}}, {"/status/costConsumed": {"cost": 5}}),
        ("Agent", {"/spec/memory/scope": "agent"}, {"/spec/memory/scope": "agent-private"}),
        ("Memory", {"/spec/scope": "agent-private"}, {"/spec/scope": "agent"}),
        (
            "Telemetry",
            {"/spec/event": "controller.drift-detected"},
            {"/spec/event": "controller.drift_detected"},
        ),
        ("Controller", {"/status/actionsPerformed": 3}, {"/status/actionsPerformed": GONE}),
        (
            "Controller",
            {"/status": {"lastReconciliation": "2026-02-25T10:00:00Z"}},
            {"/status": {"lastReconcile": "2026-02-25T10:00:00Z"}},
        ),
        (
            "Controller",
            {"/spec/actions/onDrift": [{"type": "throttle"}, {"type": "flag-for-review"}]},
            {
                "/spec/actions/onDrift": [
                    {"type": "reconcile", "operation": "throttle"},
                    {"type": "reconcile", "operation": "flag-for-review"},
                ]
            },
        ),
        (
            "Controller",
            {"/spec/actions/onHealthy": [{"type": "log", "level": "warning"}]},
            {
                "/spec/actions/onHealthy": [
                    {"type": "log", "level": "warning", "severity": "warning"}
                ]
            },
        ),
    ],
)
def test_other_spellings_become_ours(
    name: str, changes: dict[str, Any], expected: dict[str, Any]
) -> None:
    document = upgraded(name, changes)

    assert document == sample(name, {**changes, **expected})
    assert check(document) == []
    assert kind(name).upgrade(document) == document


def test_percentages_and_fractions_are_left_as_written() -> None:
    changes = {"/spec/tokenBudget/alertAt": 80, "/status/healthScore": 94}

    assert upgraded("Agent", changes) == sample("Agent", changes)
