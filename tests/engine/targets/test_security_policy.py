"""A security policy is measured by its violations, its threat level and its audit."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings

from controllers.engine.targets.security_policy import MOST_REVOKED, TARGET
from controllers.engine.terms import Compliance, Document, Snapshot, Step
from tests.engine.targets.judging import (
    NOW,
    any_document,
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


def policy(status: Document, **spec: Any) -> Snapshot:
    return Snapshot(resource("SecurityPolicy", "ledger", {"domain": "finance", **spec}, status))


def scope(name: str, *agents: str) -> Document:
    return {"resource": name, "classification": "restricted", "allowedAgents": list(agents)}


def violation(agent: str, data: str, rule: str = "dataScopes/0") -> Document:
    return {"rule": rule, "agent": agent, "resource": data}


def proposed(snapshot: Snapshot) -> dict[str, Step]:
    return {each.operation: each for each in steps_of(TARGET, snapshot)}


@every_row(
    ("spec", "rules"),
    [
        ({"agentIdentity": {}}, 1),
        ({"agentIdentity": {"required": False}}, 0),
        ({"dataScopes": [scope("a"), scope("b"), scope("c")]}, 3),
        ({"zeroTrust": {"enabled": True}}, 1),
        ({"zeroTrust": {}}, 0),
        ({"auditTrail": {"immutable": True}}, 1),
        ({"auditTrail": {"immutable": False}}, 0),
        ({"promptInjectionDefense": {}}, 1),
        ({"promptInjectionDefense": {"enabled": False}}, 0),
        ({"agentIdentity": True, "dataScopes": "all"}, 0),
    ],
)
def test_the_rules_of_a_policy_are_what_it_switches_on(spec: Document, rules: int) -> None:
    """I-47"""
    snapshot = policy({"violations": 1}, **spec)

    assert list(TARGET.compliance(snapshot, NOW)) == [Compliance("ledger", 1, rules)]


def test_a_policy_without_rules_counts_the_policies_it_reports() -> None:
    assert TARGET.compliance(policy({"violations": 1, "activePolicies": 4}), NOW)[0].rules == 4


def test_the_restricted_policy_of_the_example_has_nine_rules() -> None:
    snapshot = Snapshot(example("SecurityPolicy", "finance-restricted"))

    assert TARGET.compliance(snapshot, NOW)[0] == Compliance("finance-restricted", 4, 9)


def test_one_violation_of_ten_rules_is_a_tenth() -> None:
    """I-47"""
    snapshot = policy({"violations": 1}, dataScopes=[scope(str(each)) for each in range(10)])

    dimension = drift_of(TARGET, snapshot).of("security")

    assert dimension is not None
    assert dimension.score == 0.1


@every_row(
    ("status", "violations"),
    [
        ({"violations": 3}, [3]),
        ({"violations": {"total": 3}}, [3]),
        ({"violations": -3}, [0]),
        ({"violations": 3, "openViolations": [violation("a", "b")]}, [3]),
        ({"openViolations": [violation("a", "b"), violation("c", "d")]}, [1]),
        ({"openViolations": []}, [0]),
        ({"violations": "some"}, []),
        ({}, []),
    ],
)
def test_violations_are_as_reported_or_the_rules_with_an_open_one(
    status: Document, violations: list[int]
) -> None:
    """I-47"""
    counted = TARGET.compliance(policy(status), NOW)

    assert [each.violations for each in counted] == violations


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("none", {"ThreatLevelAcceptable": "True"}),
        ("medium", {"ThreatLevelAcceptable": "True"}),
        ("high", {"ThreatLevelAcceptable": "False"}),
        ("critical", {"ThreatLevelAcceptable": "False"}),
        (None, {}),
    ],
)
def test_a_high_threat_level_is_not_acceptable(
    level: str | None, expected: dict[str, str]
) -> None:
    assert words(TARGET, policy({"threatLevel": level})) == expected


@pytest.mark.parametrize(
    ("last", "expected"),
    [("2026-11-15T00:31:00Z", "True"), ("2026-11-15T00:30:00Z", "False")],
)
def test_an_audit_is_due_after_its_interval(last: str, expected: str) -> None:
    snapshot = policy({"lastAudit": last}, auditInterval="1d")

    assert words(TARGET, snapshot) == {"AuditCurrent": expected}
    assert last in observed(TARGET, snapshot, "AuditCurrent").message


@pytest.mark.parametrize(
    ("last", "interval"),
    [(None, "1d"), ("2020-01-01T00:00:00Z", None), ("2020-01-01T00:00:00Z", "permanent")],
)
def test_without_an_audit_or_an_interval_nothing_is_known(
    last: str | None, interval: str | None
) -> None:
    snapshot = policy({"lastAudit": last}, auditInterval=interval)

    assert drift_of(TARGET, snapshot).score is None
    assert TARGET.recheck(snapshot, NOW) is None


def test_the_clock_alone_matters_when_an_audit_falls_due() -> None:
    snapshot = policy({"lastAudit": "2026-11-15T23:00:00Z"}, auditInterval="1d")

    assert TARGET.recheck(snapshot, NOW) == datetime(2026, 11, 16, 23, tzinfo=UTC)


def test_a_violation_is_blocked_withdrawn_and_escalated() -> None:
    """I-77"""
    opened = [violation("resolver", "books")] * 2 + [violation("resolver", "books", "zeroTrust")]
    snapshot = policy(
        {"violations": 3, "openViolations": opened}, dataScopes=[scope("books", "resolver")]
    )

    block, revoke, escalate = steps_of(TARGET, snapshot)

    assert (block.operation, block.kind) == ("block-operations", "block")
    assert block.parameters["agents"] == ["resolver"]
    assert (revoke.operation, revoke.kind, revoke.risk) == (
        "revoke-data-scope",
        "change",
        "medium",
    )
    assert revoke.parameters == {"policy": "ledger", "agent": "resolver", "resource": "books"}
    assert revoke.why == "Open violations of its scope of books by resolver: 2."
    assert revoke.touches == ("spec.dataScopes",)
    assert (escalate.operation, escalate.kind) == ("escalate", "notify")
    assert "ledger has 3 violations" in escalate.why


def test_only_access_that_was_granted_can_be_withdrawn() -> None:
    """I-77"""
    opened = [violation("stranger", "books"), violation("resolver", "other")]
    snapshot = policy({"openViolations": opened}, dataScopes=[scope("books", "resolver")])

    assert list(proposed(snapshot)) == ["block-operations", "escalate"]


def test_a_threat_without_a_violation_is_only_escalated() -> None:
    """I-77"""
    assert list(proposed(policy({"threatLevel": "critical"}))) == ["escalate"]


def test_a_flood_of_violations_withdraws_a_bounded_number_of_accesses() -> None:
    agents = [f"agent-{each}" for each in range(2 * MOST_REVOKED)]
    opened = [violation(each, "books") for each in agents]
    snapshot = policy({"openViolations": opened}, dataScopes=[scope("books", *agents)])

    steps = [each.operation for each in steps_of(TARGET, snapshot)]

    assert steps.count("revoke-data-scope") == MOST_REVOKED


def test_a_policy_nobody_broke_asks_for_nothing() -> None:
    assert proposed(policy({"violations": 0, "threatLevel": "low"}, agentIdentity={})) == {}


KEYS = [
    *("dataScopes", "resource", "allowedAgents", "agentIdentity", "required", "zeroTrust"),
    *("enabled", "auditTrail", "immutable", "auditInterval", "violations", "total", "lastAudit"),
    *("openViolations", "rule", "agent", "threatLevel", "activePolicies"),
]
VALUES = ["dataScopes/0", "books", "resolver", "1d", "2026-11-15T23:00:00Z", "high", "low", 0, 2]


@given(any_document(KEYS, VALUES), any_document(KEYS, VALUES))
@settings(max_examples=examples(150), deadline=None)
def test_any_policy_can_be_judged(spec: Document, status: Document) -> None:
    holds_for_any_document(TARGET, Snapshot(resource("SecurityPolicy", "any", spec, status)))
