"""What we write is accepted by a validator of the published schemas."""

from __future__ import annotations

from typing import Any

import pytest

from resources.documents import kinds
from resources.documents.kind import Document, Kind
from tests.kinds.published import problems
from tests.kinds.samples import GONE, ORGANISATION, kind, sample
from tests.rows import every_row


def published(name: str, changes: dict[str, Any]) -> Document:
    return kind(name).publish(sample(name, changes))


@every_row("document", ORGANISATION, ids=lambda each: each["metadata"]["name"])
def test_a_full_document_is_published_unchanged(document: Document) -> None:
    result = kind(document["kind"]).publish(document)

    assert result == document
    assert problems(result) == []


@every_row(
    ("name", "changes"),
    [
        ("Domain", {"/spec/dataOwnership": []}),
        ("Agent", {"/spec/capabilities": []}),
        ("Decision", {"/spec/deciders": []}),
        ("Domain", {"/spec/dataOwnership/0": "tides"}),
        ("Agent", {"/spec/capabilities": ["plan", {"name": "a", "type": "analysis"}]}),
        ("Decision", {"/spec/deciders": ["Rosa", {"name": "Ole"}]}),
        ("Domain", {"/status": None}),
        ("Domain", {"/metadata/owner": None}),
        ("Decision", {"/status/closedAt": None}),
        ("Controller", {"/status/lastDriftAt": None}),
        ("Memory", {"/spec/supersedes": None}),
        ("Domain", {"/metadata/createdAt": "2026-02-25T10:00:00"}),
        ("Domain", {"/status/conditions/0/lastTransitionTime": "2026-02-25T10:00:00.5"}),
        ("Controller", {"/spec/hooks/postReconcile/0/action": GONE}),
        ("Controller", {"/spec/actions/onDrift/0/type": "throttle"}),
        ("Controller", {"/status/actionsPerformed": 3}),
        ("Budget", {"/spec/period": {"start": "2026-01-01", "end": "2026-03-31"}}),
        ("SecurityPolicy", {"/status/violations": {"total": 3}}),
        ("Memory", {"/spec/scope": "agent-private"}),
        ("Agent", {"/spec/memory/scope": "agent"}),
        ("Telemetry", {"/spec/event": "harbour.ship-berthed"}),
    ],
)
def test_what_a_strict_validator_refuses_is_put_right(name: str, changes: dict[str, Any]) -> None:
    assert problems(sample(name, changes)) != []
    assert problems(published(name, changes)) == []


@pytest.mark.parametrize("name", ["Domain", "Agent", "Decision"])
def test_empty_lists_of_two_forms_are_left_out(name: str) -> None:
    [path] = kind(name).unions
    field = path.removeprefix("spec.")

    assert field not in published(name, {f"/spec/{field}": []})["spec"]


def test_lists_of_texts_alone_stay_texts() -> None:
    document = published("Decision", {"/spec/deciders": ["Rosa", "Ole"]})

    assert document["spec"]["deciders"] == ["Rosa", "Ole"]


def test_a_controller_always_says_what_it_selects_and_how_it_enforces() -> None:
    """X-01"""
    spec = published("Controller", {"/spec/targetSelector": GONE, "/spec/enforcementMode": GONE})[
        "spec"
    ]

    assert spec["targetSelector"] == {"matchLabels": {}}
    assert spec["enforcementMode"] == "warn"


def test_a_hook_with_an_event_emits_it() -> None:
    hook = {"name": "tell", "event": "harbour.ship-berthed"}

    document = published("Controller", {"/spec/hooks/postReconcile": [hook]})

    assert document["spec"]["hooks"]["postReconcile"] == [
        {**hook, "action": "emit harbour.ship-berthed"}
    ]


def test_an_operation_of_our_own_hides_behind_a_published_type() -> None:
    document = published("Controller", {"/spec/actions/onDrift": [{"type": "restart"}]})

    assert document["spec"]["actions"]["onDrift"] == [
        {"type": "reconcile", "operation": "restart"}
    ]


@every_row("each", kinds.ALL, ids=lambda each: each.name)
def test_extensions_stay(each: Kind) -> None:
    """X-29"""
    changes = {"/spec/ours": {"deep": [1, {"a": "b"}]}, "/status/ours": 1, "/metadata/ours": "x"}

    assert each.publish(sample(each.name, changes)) == sample(each.name, changes)


@pytest.mark.parametrize("name", ["Domain", "Agent", "Decision", "Telemetry", "Governance"])
def test_v01_is_published_as_v02(name: str) -> None:
    document = published(name, {"/apiVersion": "ioa.dev/v0.1", "/metadata/owner": "Rosa Lind"})

    assert document["apiVersion"] == "ioa.dev/v0.2"
    assert problems(document) == []


@pytest.mark.parametrize("value", [None, {}, {"kind": "Boat"}, {"kind": 3}])
def test_the_independent_validator_refuses_what_it_does_not_know(value: Any) -> None:
    assert problems(value) != []


@every_row(
    ("name", "changes"),
    [
        ("Domain", {"/spec/purpose": GONE}),
        ("Domain", {"/extra": 1}),
        ("Domain", {"/spec/extension": None}),
        ("Agent", {"/spec/type": "wild"}),
        ("Budget", {"/apiVersion": "ioa.dev/v0.1"}),
        ("Controller", {"/spec/targetKind": "Controller"}),
        ("Controller", {"/spec/hooks/preReconcile/0/action": GONE}),
        ("Workflow", {"/spec/steps": []}),
        ("Memory", {"/spec/confidence": 2}),
        ("Telemetry", {"/spec/event": "a.b.c"}),
        ("Decision", {"/spec/date": "15 January"}),
        ("Governance", {"/status/conditions": [{"type": "Ready", "status": True}]}),
        ("SecurityPolicy", {"/metadata/updatedAt": "2026-02-25T10:00:00"}),
    ],
)
def test_the_independent_validator_is_strict(name: str, changes: dict[str, Any]) -> None:
    assert problems(sample(name, changes)) != []
