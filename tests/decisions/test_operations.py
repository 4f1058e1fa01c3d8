"""Operations are carried out for real: what they declare is declared, and can be taken back."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from django.db import transaction

from controllers import operations
from controllers.operations import Impossible, Stale
from resources.documents.actor import Actor
from resources.tables.models import LedgerEvent, Resource
from resources.usecases import statuses
from tests.conftest import Clock
from tests.decisions.operating import (
    DECISION,
    KEEPER,
    MEMORY,
    SCOPES,
    agent,
    budget,
    declared,
    do,
    known,
    policy,
    states,
    undo,
)
from tests.kinds.published import problems
from tests.resources.making import everything, live, report, shown

pytestmark = pytest.mark.django_db


class Case(NamedTuple):
    """An operation on a resource that it can be done to, and what is said there afterwards."""

    name: str
    kind: str
    spec: dict[str, Any]
    status: dict[str, Any]
    given: dict[str, Any]
    path: str
    expected: Any


ACTIVE, ARCHIVED = {"state": "active"}, {"state": "archived"}
BLOCK = {"blocked": {"operations": ["read"]}}
CRM, LEDGER, OPEN = SCOPES
CASES = [
    Case("pause", "Agent", {}, {}, {}, "spec.state", "paused"),
    Case("resume", "Agent", {"state": "paused"}, {}, {}, "spec.state", "running"),
    Case(
        "throttle",
        "Agent",
        {"tokenBudget": {"maxDaily": 1000}},
        {},
        {"factor": 0.25},
        "spec.tokenBudget",
        {"maxDaily": 250, "throttled": {"full": 1000, "factor": 0.25}},
    ),
    Case("take-over", "Agent", {}, {}, {}, "spec.type", "supervised"),
    Case("release", "Agent", {}, {}, {"type": "advisory"}, "spec.type", "advisory"),
    Case("unblock-spend", "Budget", BLOCK, {}, {}, "spec.blocked", None),
    Case("unblock-operations", "SecurityPolicy", BLOCK, {}, {}, "spec.blocked", None),
    Case(
        "revoke-data-scope",
        "SecurityPolicy",
        {"dataScopes": SCOPES},
        {},
        {"agent": "robin", "resource": "crm"},
        "spec.dataScopes",
        [CRM | {"allowedAgents": ["wren"]}, LEDGER, OPEN],
    ),
    Case(
        "grant-data-scope",
        "SecurityPolicy",
        {"dataScopes": SCOPES},
        {},
        {"agent": "wren", "resource": "ledger"},
        "spec.dataScopes",
        [CRM, LEDGER | {"allowedAgents": ["robin", "wren"]}, OPEN],
    ),
    Case("archive", "Decision", {}, ACTIVE, {}, "status.state", "archived"),
    Case("restore", "Decision", {}, ARCHIVED, {"to": "active"}, "status.state", "active"),
    Case("restore", "Decision", {}, ARCHIVED, {"to": ""}, "status.state", None),
    Case("archive-memory", "Memory", {}, ACTIVE, {}, "status.state", "archived"),
    Case("supersede-memory", "Memory", {}, ACTIVE, {}, "status.state", "superseded"),
    Case("expire-memory", "Memory", {}, ARCHIVED, {}, "status.state", "expired"),
    Case("restore-memory", "Memory", {}, ARCHIVED, {"to": "active"}, "status.state", "active"),
    Case(
        "modify-spec",
        "Agent",
        {"tokenBudget": {"maxDaily": 5, "alertAt": 0.8}},
        {},
        {"patch": {"tokenBudget": {"maxDaily": 9, "alertAt": None}, "role": "observer"}},
        "spec.tokenBudget",
        {"maxDaily": 9},
    ),
]
SMALLEST: dict[str, dict[str, Any]] = {
    "Agent": {"domain": "growth", "type": "autonomous", "purpose": "Works."},
    "Budget": {"domain": "growth", "period": "2026-Q4"},
    "SecurityPolicy": {"domain": "growth"},
    "Decision": DECISION,
    "Memory": MEMORY,
}


def value_at(document: dict[str, Any], path: str) -> Any:
    """Look a field up; nothing where there is none."""
    value: Any = document
    for step in path.split("."):
        value = (value or {}).get(step)
    return value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_operation_says_so_in_what_is_declared_and_can_be_undone(
    clock: Clock, case: Case
) -> None:
    spec = SMALLEST[case.kind] | case.spec
    row = declared(clock, case.kind, "subject", spec, status=case.status)
    former = shown(case.kind, "subject")

    before = do(clock, case.name, row, **case.given)

    assert value_at(shown(case.kind, "subject"), case.path) == case.expected
    touched = known(case.name).touches(case.given)
    assert all(entry["path"].startswith(touched) for entry in before)
    undo(clock, before)
    assert told(shown(case.kind, "subject")) == told(former)


def told(document: dict[str, Any]) -> tuple[Any, Any]:
    """Return what is declared and what is observed."""
    return document["spec"], document.get("status")


def test_every_operation_of_the_control_plane_is_carried_out_in_some_test() -> None:
    elsewhere = {"scale-agents", "throttle-agents", "block-spend", "block-operations"}
    # It declares nothing: whoever asked gets a permit.
    elsewhere |= {"permit-operation"}
    # Nor does this: what was earned is kept beside the declaration.
    elsewhere |= {"grant-autonomy"}

    assert {each.name for each in operations.ALL if each.changes} == elsewhere | {
        case.name for case in CASES
    }


def test_what_is_done_is_a_revision_of_whoever_did_it(clock: Clock) -> None:
    row = agent(clock)

    do(clock, "pause", row)

    event = LedgerEvent.objects.get(event="resource.spec-changed")
    assert event.actor == "controller/keeper"
    assert event.payload["changed"] == ["/spec/state"]
    assert live("Agent", "robin").generation == row.generation + 1


def test_what_was_changed_since_it_was_read_is_not_written(clock: Clock) -> None:
    row = agent(clock)
    agent(clock, purpose="Rests.")
    former = everything()

    with pytest.raises(Stale):
        do(clock, "pause", row)

    assert everything() == former


def test_half_an_operation_is_never_written(clock: Clock) -> None:
    """O-38"""
    row = declared(clock, "Decision", "choice", DECISION, status={"state": "active"})
    former = everything()

    # An agent may not report about a decision, so the second half is refused.
    robin = Actor("agent", "robin")
    with transaction.atomic(), pytest.raises(Impossible, match="reports only for itself"):
        operations.perform(known("archive"), row, {}, actor=robin, now=clock.now)

    assert everything() == former


def test_a_field_that_somebody_changed_since_is_not_undone(clock: Clock) -> None:
    before = do(clock, "pause", agent(clock))
    do(clock, "resume", live("Agent", "robin"))

    with pytest.raises(Impossible, match=r"spec\.state of agent/robin has been changed since"):
        undo(clock, before)

    assert states("robin") == ["running"]


def test_a_status_that_somebody_reported_since_is_not_undone(clock: Clock) -> None:
    row = declared(clock, "Memory", "dawn", MEMORY, status={"state": "active"})
    before = do(clock, "archive-memory", row)
    told = statuses.Report("Memory", "dawn", {"state": "expired"})
    statuses.observe([told], actor=KEEPER, now=clock.now)

    with pytest.raises(Impossible, match=r"status\.state of memory/dawn has been changed"):
        undo(clock, before)


def test_what_is_gone_is_not_undone(clock: Clock) -> None:
    before = do(clock, "pause", agent(clock))
    Resource.objects.filter(name="robin").update(deleted_at=clock.now)

    with pytest.raises(Impossible, match="agent/robin is gone"):
        undo(clock, before)


def test_an_undo_can_itself_be_undone(clock: Clock) -> None:
    back = undo(clock, do(clock, "pause", agent(clock)))

    undo(clock, back)

    assert states("robin") == ["paused"]


def test_reports_between_reading_and_undoing_do_no_harm(clock: Clock) -> None:
    before = do(clock, "pause", agent(clock))
    report(clock.now, "robin", {"state": "paused"})

    undo(clock, before)

    assert states("robin") == [None]


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("restart", {}, "is for the agent to do"),
        ("escalate", {}, "only tells people"),
        ("throttle", {"factor": "fast"}, "/parameters/factor does not fit"),
        ("pause", {"agent": "wren"}, "/parameters/agent must be robin"),
        ("block-spend", {}, "is for Budget, not for Agent"),
    ],
)
def test_what_cannot_be_carried_out_here_is_refused(
    clock: Clock, name: str, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(Impossible, match=words):
        do(clock, name, agent(clock), **given)


def test_what_would_change_can_be_known_beforehand(clock: Clock) -> None:
    agent(clock, tokenBudget={"maxDaily": 100})
    row = budget(clock, "robin")
    former = everything()

    planned = operations.plan(known("throttle-agents"), row, {"factor": 0.5}, now=clock.now)

    assert {(each.kind, each.name) for each in planned} == {("Agent", "robin")}
    assert everything() == former


def test_what_operations_declare_is_published(clock: Clock) -> None:
    """The fields that operations write pass a validator of the published schemas."""
    row = agent(clock, tokenBudget={"maxDaily": 10})
    do(clock, "throttle", row, factor=0.5)
    do(clock, "pause", live("Agent", "robin"))
    do(clock, "block-spend", budget(clock))
    do(clock, "block-operations", policy(clock), agents=["robin"])

    for kind, name in (
        ("Agent", "robin"),
        ("Budget", "growth-budget"),
        ("SecurityPolicy", "data"),
    ):
        assert problems(shown(kind, name)) == []
