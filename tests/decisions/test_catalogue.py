"""The catalogue knows every operation that the target kinds can propose, and is written down."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from controllers import operations
from controllers.engine import targets
from controllers.engine.terms import Document, Related, Resource, Snapshot, Step
from controllers.operations.operation import Operation
from resources.documents import kinds
from tests import catalogue
from tests.engine.targets.judging import NOW, resource, steps_of
from tests.rows import every_row

STARTED = "2026-11-15T22:30:00Z"
CHANGING = [each for each in operations.ALL if not each.tells]


def snapshot(kind: str, spec: Document, status: Document, *related: Resource) -> Snapshot:
    """Read one resource, with those of its kind that it is measured against."""
    old = NOW.replace(year=2020)
    return Snapshot(resource(kind, "subject", spec, status, created=old), Related({kind: related}))


def workflow(policy: str, state: str) -> Snapshot:
    spec = {
        "domainsInvolved": ["growth"],
        "failurePolicy": policy,
        "timeout": "1h",
        "steps": [{"name": "score", "agent": "robin", "action": "score"}],
        "compensation": [{"step": "score", "agent": "robin", "action": "undo"}],
    }
    status = {"state": state, "startedAt": STARTED, "completedSteps": ["score"], "runId": "r-1"}
    return snapshot("Workflow", spec, {**status, "failedSteps": ["score"]})


def scenes() -> Iterator[Snapshot]:
    """Yield resources in such a state that, together, everything is advised."""
    agent = {"domain": "growth", "tokenBudget": {"maxDaily": 100}}
    spent = {"costConsumed": {"tokens": 900, "period": "daily"}, "errorRate": 0.9}
    yield snapshot("Agent", {**agent, "state": "paused"}, {"state": "failed", **spent})
    yield snapshot("Agent", {**agent, "state": "running"}, {"state": "paused", **spent})
    budget = {
        "domain": "growth",
        "period": "2026-Q4",
        "limits": {"tokens": {"quarterly": 100}},
        "agents": [{"name": "robin", "allocation": 0.5}],
        "alerts": [{"threshold": 0.8, "severity": "critical", "channels": ["slack-ops"]}],
    }
    yield snapshot("Budget", budget, {"consumed": {"tokens": 500}})
    policy = {
        "domain": "growth",
        "dataScopes": [
            {"resource": "crm", "classification": "internal", "allowedAgents": ["robin"]}
        ],
    }
    violation = {"agent": "robin", "resource": "crm", "rule": "dataScopes[0]"}
    yield snapshot("SecurityPolicy", policy, {"violations": 1, "openViolations": [violation]})
    yield snapshot("Domain", {"agents": ["robin", "wren"]}, {"activeAgents": 1})
    decision = {"status": "active", "domain": "growth", "reviewDate": "2020-01-01"}
    yield snapshot("Decision", {**decision, "supersededBy": "later"}, {"state": "active"})
    yield snapshot("Decision", {**decision, "supersededBy": "later"}, {})
    for retention in ({"archiveAfter": "1d"}, {"duration": "1d", "autoExpire": True}):
        yield snapshot("Memory", {"retention": retention}, {"state": "active"})
    newer = resource("Memory", "newer", {"supersedes": "subject"})
    yield snapshot("Memory", {}, {"state": "active"}, newer)
    rule = {"condition": {"metric": "events.count", "operator": "lt", "value": 5, "window": "1h"}}
    telemetry = {"event": "growth.signup", "observability": {"alertRule": rule}}
    yield snapshot("Telemetry", telemetry, {"lastEmitted": "2020-01-01T00:00:00Z", "eventRate": 1})
    governance = {"domain": "growth", "humanOverride": {"enabled": True, "channels": ["web"]}}
    last = {"lastOverrideTest": "2020-01-01T00:00:00Z", "complianceStatus": "non-compliant"}
    yield snapshot("Governance", governance, last)
    yield workflow("compensate", "executing")
    yield workflow("retry", "executing")
    yield workflow("abort", "executing")
    yield workflow("abort", "failed")


def advised() -> list[tuple[str, Step]]:
    """Return every step of every scene, with the kind it is for."""
    return [
        (each.target.kind, step)
        for each in scenes()
        for step in steps_of(targets.by_kind(each.target.kind), each)
    ]


ADVISED = advised()


def named_in_modules() -> set[str]:
    """Return the operations that the modules of targets spell out."""
    folder = Path(targets.__file__).parent
    return {
        name
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in spelled(node)
    }


def spelled(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.keyword) and node.arg == "operation":
        yield from constants(node.value)
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "operation":
                yield from constants(value)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "_Change"
    ):
        yield from constants(node.args[0])


def constants(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def test_every_operation_that_a_target_advises_or_falls_back_to_is_in_the_catalogue() -> None:
    shown = {step.operation for _, step in ADVISED}
    back = {step.rollback["operation"] for _, step in ADVISED if step.rollback}

    assert named_in_modules() - shown - back == set(), "a scene is missing for these"
    assert {name for name in shown | back if operations.find(name) is None} == set()


@every_row(("kind", "step"), ADVISED, ids=lambda each: getattr(each, "operation", each))
def test_what_a_target_advises_is_what_the_catalogue_says(kind: str, step: Step) -> None:
    operation = operations.find(step.operation)

    assert operation is not None
    assert kind in operation.targets
    assert (operation.kind, operation.risk, operation.reversible) == (
        step.kind,
        step.risk,
        step.reversible,
    )
    assert [*operation.validator.iter_errors(dict(step.parameters))] == []
    assert set(step.touches) <= set(operation.touches(step.parameters))


@every_row(
    ("kind", "back"),
    [(kind, step.rollback) for kind, step in ADVISED if step.rollback],
    ids=lambda each: each if isinstance(each, str) else each["operation"],
)
def test_every_way_back_that_a_target_names_can_be_gone(kind: str, back: Document) -> None:
    assert operations.check(back["operation"], back["parameters"], kind) == []


def test_names_are_unique_and_found() -> None:
    names = [each.name for each in operations.ALL]

    assert len(names) == len(set(names))
    assert [operations.find(name) for name in names] == [*operations.ALL]
    assert operations.find("do-as-i-say") is None


@every_row("operation", operations.ALL, ids=lambda each: each.name)
def test_what_is_said_of_an_operation_holds_together(operation: Operation) -> None:
    assert operation.sentence.endswith(".")
    assert operation.seen.endswith(".")
    assert set(operation.targets) <= {kind.name for kind in kinds.ALL}
    # Whatever changes something is declared by the control plane, done to a run, or by an agent.
    declares = operation.changes is not None or operation.name == "pass-gate"
    assert declares == (operation.executor == "control-plane" and not operation.tells)
    # What cannot be undone names no way back; what an agent did is undone by an operation.
    assert operation.reversible or not operation.opposite
    opposite = operations.find(operation.opposite)
    if operation.opposite:
        assert opposite is not None
        assert opposite.targets == operation.targets
        assert opposite.executor == operation.executor


def test_what_redeclares_needs_two_people() -> None:
    assert {each.name for each in operations.ALL if each.redeclares} == {
        "modify-spec",
        "take-over",
        "release",
        "grant-autonomy",
    }


def test_what_destroys_cannot_be_undone() -> None:
    destroying = [each for each in operations.ALL if each.destructive]

    assert {each.name for each in destroying} == {"abort", "expire-memory"}
    assert not any(each.reversible for each in destroying)


def test_only_a_block_denies() -> None:
    blocks = {each.name for each in operations.ALL if each.kind == "block"}

    assert blocks == {"block-spend", "block-operations"}


def problem(found: Sequence[Any]) -> tuple[str, str]:
    (only,) = found
    return only.pointer, only.message


@every_row(
    ("name", "parameters", "kind", "pointer", "words"),
    [
        ("fly", {}, "Agent", "/operation", "must be one of abort,"),
        ("escalate", {}, "Agent", "/operation", "only tells people"),
        ("throttle", {"factor": 0.5}, "Budget", "/operation", "is for Agent, not for Budget"),
        ("throttle", {}, "Agent", "/parameters/factor", "is required"),
        ("throttle", {"factor": 0}, "Agent", "/parameters/factor", "does not fit"),
        ("throttle", {"factor": 1.1}, "Agent", "/parameters/factor", "does not fit"),
        ("throttle", {"factor": "0.5"}, "Agent", "/parameters/factor", "does not fit"),
        ("throttle", {"factor": 0.5, "a/b": 1}, "Agent", "/parameters/a~1b", "not a known"),
        ("throttle", [], "Agent", "/parameters", "does not fit"),
        ("throttle", None, "Agent", "/parameters", "does not fit"),
        ("throttle", {"factor": 0.5, "agent": "wren"}, "Agent", "/parameters/agent", "robin"),
        ("modify-spec", {"patch": {}}, "Agent", "/parameters/patch", "does not fit"),
        ("modify-spec", {"patch": {"a.b": 1}}, "Agent", "/parameters/patch", "does not fit"),
        ("modify-spec", {"patch": [1]}, "Controller", "/parameters/patch", "does not fit"),
    ],
)
def test_what_is_wrong_with_a_proposed_operation_is_said_where_it_is(
    name: str, parameters: Any, kind: str, pointer: str, words: str
) -> None:
    at, message = problem(operations.check(name, parameters, kind, "robin"))

    assert at == pointer
    assert words in message


def test_parameters_that_name_their_own_target_or_none_are_fine() -> None:
    assert operations.check("throttle", {"factor": 0.5, "agent": "robin"}, "Agent", "robin") == []
    assert operations.check("throttle", {"factor": 0.5}, "Agent", "robin") == []
    assert operations.check("pause", {}, "Agent") == []


@pytest.mark.parametrize(
    ("actions", "risk"),
    [
        ([], "low"),
        ([{"operation": "throttle"}], "low"),
        ([{"operation": "throttle", "risk": "high"}], "high"),
        ([{"operation": "abort", "risk": "low"}], "high"),
        ([{"operation": "throttle"}, {"operation": "block-spend", "risk": "low"}], "medium"),
        ([{"operation": "fly", "risk": "low"}], "high"),
        ([{"operation": "throttle", "risk": "tiny"}], "high"),
    ],
)
def test_the_risk_of_actions_is_never_below_what_the_catalogue_says(
    actions: list[dict[str, Any]], risk: str
) -> None:
    assert operations.risk_of(actions) == risk


def test_the_table_of_operations_is_current() -> None:
    written = catalogue.TABLE.read_text(encoding="utf-8")

    assert written == catalogue.table(operations.ALL), "run `python -m tests.catalogue`"
