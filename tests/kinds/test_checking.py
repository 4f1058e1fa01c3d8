"""What `check` says of one document."""

from __future__ import annotations

from typing import Any

import pytest

from resources.documents import kinds
from resources.documents.kind import Document, Fault, Kind
from resources.documents.validation import check
from tests.kinds.samples import GONE, ORGANISATION, sample
from tests.rows import every_row

KINDS = "Domain, Agent, Budget, SecurityPolicy, Governance, Workflow, Decision, Telemetry, Memory"
ZONED = "must be a date and time with a zone, such as 2026-02-25T10:00:00Z"
DURATION = "must be a duration such as 30s, 5m, 1h30m, 7d or PT5M"
NAME = "must start with a to z and hold only a to z, 0 to 9 and hyphens"


@every_row("document", ORGANISATION, ids=lambda each: each["metadata"]["name"])
def test_a_full_document_has_no_problem(document: Document) -> None:
    assert check(document) == []


@every_row("each", kinds.ALL, ids=lambda each: each.name)
@every_row("field", ["apiVersion", "metadata", "spec"])
def test_the_envelope_is_required(each: Kind, field: str) -> None:
    document = sample(each.name, {f"/{field}": GONE})

    assert Fault(f"/{field}", "is required") in check(document)


@every_row(
    ("kind", "pointer", "value", "message"),
    [
        ("Domain", "/metadata/name", "Harbour", NAME),
        ("Domain", "/metadata/name", "9harbour", NAME),
        ("Domain", "/metadata/name", "harbour\n", NAME),
        ("Domain", "/metadata/name", "a" * 254, "must have at most 253 characters"),
        ("Domain", "/metadata/name", GONE, "is required"),
        ("Domain", "/metadata/version", 7, "must be text"),
        ("Domain", "/metadata/labels/tier", 1, "must be text"),
        ("Domain", "/metadata/owner", 5, "must be an object or text"),
        ("Domain", "/metadata/owner/name", GONE, "is required"),
        ("Domain", "/metadata/createdAt", "2026-02-25T10:00:00", ZONED),
        ("Domain", "/metadata/createdAt", "2026-02-30T10:00:00Z", ZONED),
        ("Domain", "/metadata/createdAt", "yesterday", ZONED),
        ("Domain", "/metadata/ownerReferences/0/name", GONE, "is required"),
        (
            "Domain",
            "/metadata/ownerReferences/0/deletePolicy",
            "explode",
            "must be one of cascade, orphan, block",
        ),
        ("Domain", "/apiVersion", "v1", "must be one of ioa.dev/v0.1, ioa.dev/v0.2"),
        ("Budget", "/apiVersion", "ioa.dev/v0.1", "must be ioa.dev/v0.2"),
        ("Domain", "/spec", "text", "must be an object"),
        ("Domain", "/status", [], "must be an object"),
        ("Domain", "/secrets", 1, "is not a known field"),
        ("Domain", "/spec/purpose", GONE, "is required"),
        ("Domain", "/spec/kpis/1/target", GONE, "is required"),
        ("Domain", "/spec/kpis/0/target", 12, "must be an object or text"),
        ("Domain", "/spec/kpis/0/target/operator", "near", "must be one of gt, lt, eq, gte, lte"),
        ("Domain", "/spec/kpis/0/target/value", "12", "must be a number"),
        (
            "Domain",
            "/spec/dataOwnership/0/classification",
            "secret",
            "must be one of public, internal, confidential, restricted",
        ),
        ("Domain", "/status/kpis/0/met", "yes", "must be true or false"),
        ("Domain", "/status/conditions/0/status", True, "must be one of True, False, Unknown"),
        ("Domain", "/status/conditions/0/type", GONE, "is required"),
        ("Domain", "/status/conditions/0/lastTransitionTime", "2026", ZONED),
        (
            "Agent",
            "/spec/type",
            "wild",
            "must be one of autonomous, supervised, advisory, reactive",
        ),
        ("Agent", "/spec/objectives/0/value", "low", "must be a number"),
        (
            "Agent",
            "/spec/memory/scope",
            "world",
            "must be one of agent-private, domain, organization",
        ),
        ("Agent", "/spec/constraints", "none", "must be a list"),
        (
            "Decision",
            "/spec/id",
            "DEC-2026-02-27-001",
            "must be DEC- and a number, such as DEC-12",
        ),
        ("Decision", "/spec/reviewDate", "2026-4-15", "must be a date such as 2026-02-25"),
        ("Decision", "/spec/supersededBy", 4, "must be text"),
        (
            "Telemetry",
            "/spec/event",
            "growth-eu.started",
            "must be an event name such as product.feature_released",
        ),
        ("Governance", "/spec/escalation/paths/0/level", "one", "must be a number"),
        ("Workflow", "/spec/domainsInvolved", [], "must have at least 1 item"),
        ("Workflow", "/spec/steps/0/retryPolicy/maxRetries", 1.5, "must be a whole number"),
        (
            "SecurityPolicy",
            "/spec/dataScopes/0/allowedOperations/0",
            "peek",
            "must be one of read, write, delete, execute",
        ),
        (
            "SecurityPolicy",
            "/spec/enforcementMode",
            "strict",
            "must be one of enforce, warn, advise, observe",
        ),
        ("Budget", "/spec/enforcement", "advise", "must be one of enforce, warn, observe"),
        ("Budget", "/spec/alerts/0/threshold", 80, "must be at most 1"),
        ("Budget", "/spec/agents/0/allocation", -0.1, "must be at least 0"),
        ("Budget", "/spec/period", 2026, "must be text or an object"),
        ("Controller", "/spec/driftThreshold", 1.1, "must be at most 1"),
        ("Controller", "/spec/driftThreshold", -1, "must be at least 0"),
        ("Controller", "/spec/targetSelector/matchLabels/tier", 1, "must be text"),
        ("Controller", "/spec/maxActionsPerCycle", 0, "must be at least 1"),
        ("Controller", "/spec/drift/weights/kpi", "much", "must be a number"),
        ("Controller", "/spec/drift/aggregation", "mean", "must be one of weighted, max"),
        ("Controller", "/spec/failurePolicy", "open", "must be one of failOpen, failClosed"),
        ("Controller", "/spec/runner", "cloud", "must be one of internal, external"),
        (
            "Controller",
            "/status/actionsPerformed/0/result",
            "pending",
            "must be one of success, failure, skipped",
        ),
        ("Memory", "/spec/confidence", 2, "must be at most 1"),
        ("Memory", "/spec/scope", "world", "must be one of agent, domain, organization"),
    ],
)
def test_a_wrong_value_gets_one_sentence(
    kind: str, pointer: str, value: Any, message: str
) -> None:
    """I-07 I-08 I-12 I-28 I-33 I-102"""
    document = sample(kind, {pointer: value})

    assert check(document) == [Fault(pointer, message)]


@pytest.mark.parametrize("interval", ["banana", "0s", "continuous", "permanent", "-5m", "5"])
def test_a_reconcile_interval_must_be_a_positive_duration(interval: str) -> None:
    """I-11"""
    document = sample("Controller", {"/spec/reconcileInterval": interval})

    message = f"{DURATION}, and longer than nothing"
    assert check(document) == [Fault("/spec/reconcileInterval", message)]


@pytest.mark.parametrize("target", ["Controller", "Config", "domain"])
def test_a_controller_targets_one_of_the_nine_other_kinds(target: str) -> None:
    """I-36"""
    document = sample("Controller", {"/spec/targetKind": target})

    expected = Fault("/spec/targetKind", f"must be one of {KINDS}", rule="22")
    assert check(document) == [expected]


def test_a_hook_needs_an_action_or_an_event() -> None:
    """X-10"""
    document = sample("Controller", {"/spec/hooks/preReconcile": [{"name": "look"}]})

    message = "is required, unless the hook has an event"
    assert check(document) == [Fault("/spec/hooks/preReconcile/0/action", message)]


@every_row(
    ("kind", "pointer"),
    [
        ("Domain", "/spec/kpis/0/window"),
        ("Agent", "/spec/memory/retention"),
        ("Agent", "/status/avgLatency"),
        ("Telemetry", "/spec/observability/alertRule/condition/window"),
        ("Governance", "/spec/escalation/paths/0/timeout"),
        ("Workflow", "/spec/steps/0/timeout"),
        ("SecurityPolicy", "/spec/zeroTrust/maxSessionDuration"),
        ("Controller", "/spec/timeout"),
        ("Memory", "/spec/retention/duration"),
    ],
)
def test_a_strange_duration_is_a_warning(kind: str, pointer: str) -> None:
    document = sample(kind, {pointer: "a while"})

    assert check(document) == [Fault(pointer, DURATION, "warning")]


def test_a_strange_budget_period_is_a_warning() -> None:
    [problem] = check(sample("Budget", {"/spec/period": "the good days"}))

    assert (problem.pointer, problem.severity) == ("/spec/period", "warning")


def test_a_choice_outside_the_options_is_a_warning() -> None:
    [problem] = check(sample("Decision", {"/spec/chosen": "Three"}))

    assert problem == Fault("/spec/chosen", "must be one of the options: Two, One", "warning")


@every_row(
    ("kind", "changes"),
    [
        ("Domain", {"/metadata/owner": "Rosa Lind"}),
        ("Domain", {"/apiVersion": "ioa.dev/v0.1"}),
        ("Domain", {"/status": None}),
        ("Domain", {"/metadata/owner": None, "/spec/budgetRef": None}),
        ("Domain", {"/spec/dataOwnership": []}),
        ("Domain", {"/spec/dataOwnership/0": "tide-tables"}),
        ("Domain", {"/spec/anything": {"goes": [1, None]}, "/metadata/extra": 1}),
        ("Agent", {"/spec/capabilities": []}),
        ("Agent", {"/spec/memory/scope": "agent"}),
        ("Decision", {"/spec/deciders": ["Rosa", {"name": "Ole"}]}),
        ("Decision", {"/status/closedAt": None}),
        ("Controller", {"/spec/targetSelector": GONE, "/spec/enforcementMode": GONE}),
        ("Controller", {"/spec/hooks/postReconcile/0/action": GONE}),
        ("Controller", {"/spec/actions/onDrift/0": {"type": "throttle"}}),
        ("Controller", {"/status/actionsPerformed": 3}),
        ("Budget", {"/spec/period": {"start": "2026-01-01", "end": "2026-03-31"}}),
        ("SecurityPolicy", {"/status/violations": {"total": 3, "critical": 0}}),
        ("Memory", {"/spec/scope": "agent-private"}),
        ("Agent", {"/spec/tokenBudget/alertAt": 0.8, "/status/healthScore": 0.94}),
    ],
)
def test_what_other_tools_write_is_accepted(kind: str, changes: dict[str, Any]) -> None:
    """X-12"""
    assert check(sample(kind, changes)) == []


@every_row("value", [None, [], [{}], 1, 1.5, True, "text", ""])
def test_a_document_that_is_no_object_is_one_problem(value: Any) -> None:
    message = "must be an object with apiVersion, kind, metadata and spec"

    assert check(value) == [Fault("", message)]


@pytest.mark.parametrize("name", [1, [], {}, True, "Spaceship", "", "domain"])
def test_an_unknown_kind_lists_the_known_ones(name: Any) -> None:
    expected = Fault("/kind", f"must be one of {KINDS}, Controller")

    assert check({"kind": name}) == [expected]


@pytest.mark.parametrize("document", [{}, {"kind": None}])
def test_a_document_without_a_kind_says_so(document: Document) -> None:
    assert check(document) == [Fault("/kind", "is required")]


def nested(levels: int) -> list[Any]:
    deep: list[Any] = []
    for _ in range(levels):
        deep = [deep]
    return deep


@every_row("value", [nested(300), nested(9000), {1: 2}, object(), "\ud800", 2**64])
@every_row("pointer", ["/spec", "/spec/extra", "/spec/agents", "/metadata"])
def test_what_is_no_plain_json_is_a_problem_and_not_a_crash(pointer: str, value: Any) -> None:
    [problem] = check(sample("Domain", {pointer: value}))

    assert problem.message.startswith("must be plain JSON")


@every_row("levels", range(240, 256))
@every_row("pointer", ["/spec", "/spec/extra", "/spec/agents", "/metadata/labels"])
def test_no_depth_is_a_crash(pointer: str, levels: int) -> None:
    assert isinstance(check(sample("Domain", {pointer: nested(levels)})), list)


def test_pointers_are_escaped() -> None:
    document = sample("Domain", {"/metadata/labels": {"a/b~c": 1}})

    assert check(document) == [Fault("/metadata/labels/a~1b~0c", "must be text")]


def test_problems_come_in_reading_order() -> None:
    kpis = [{"name": f"kpi-{number}"} for number in range(12)]
    document = sample("Domain", {"/spec/kpis": kpis, "/metadata/name": "No", "/zzz": 1})

    pointers = [problem.pointer for problem in check(document)]

    targets = [f"/spec/kpis/{number}/target" for number in range(12)]
    assert pointers == ["/metadata/name", *targets, "/zzz"]


def test_checking_changes_nothing() -> None:
    document = sample("Decision", {"/status/closedAt": None})
    before = sample("Decision", {"/status/closedAt": None})

    check(document)

    assert document == before
