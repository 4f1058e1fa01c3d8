"""What each operation does to its kind, and what it refuses to pretend."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from controllers import operations
from controllers.operations import Impossible
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
    domain,
    known,
    policy,
    spec_of,
    states,
    undo,
)
from tests.resources.making import everything, live

pytestmark = pytest.mark.django_db


def test_throttling_again_counts_from_the_full_allowance(clock: Clock) -> None:
    agent(clock, tokenBudget={"maxDaily": 1000})

    do(clock, "throttle", live("Agent", "robin"), factor=0.5)
    do(clock, "throttle", live("Agent", "robin"), factor=0.4)
    assert spec_of("Agent", "robin")["tokenBudget"]["maxDaily"] == 400

    do(clock, "throttle", live("Agent", "robin"), factor=1)
    assert spec_of("Agent", "robin")["tokenBudget"] == {"maxDaily": 1000}


def test_a_limit_that_a_person_set_meanwhile_is_not_given_back_to_what_it_was(
    clock: Clock,
) -> None:
    agent(clock, tokenBudget={"maxDaily": 1000})
    do(clock, "throttle", live("Agent", "robin"), factor=0.5)
    do(clock, "modify-spec", live("Agent", "robin"), patch={"tokenBudget": {"maxDaily": 700}})

    do(clock, "throttle", live("Agent", "robin"), factor=1)

    assert spec_of("Agent", "robin")["tokenBudget"] == {"maxDaily": 700}


def test_an_agent_without_daily_tokens_cannot_be_throttled(clock: Clock) -> None:
    row = agent(clock, tokenBudget={"maxMonthly": 5})

    with pytest.raises(Impossible, match="agent/robin declares no daily tokens"):
        do(clock, "throttle", row, factor=0.5)


def daily(name: str) -> Any:
    return spec_of("Agent", name).get("tokenBudget", {}).get("maxDaily")


def test_the_agents_of_a_budget_are_throttled_together_and_let_go_together(clock: Clock) -> None:
    for name in ("robin", "wren"):
        agent(clock, name, tokenBudget={"maxDaily": 100})
    agent(clock, "finch")
    agent(clock, "heron", "harbour", tokenBudget={"maxDaily": 100})
    row = budget(clock, "robin", "wren", "finch")

    before = do(clock, "throttle-agents", row, factor=0.5, agents=["robin", "wren", "finch"])

    assert [daily(name) for name in ("robin", "wren", "finch", "heron")] == [50, 50, None, 100]
    assert live("Budget", "growth-budget").resource_version == row.resource_version
    undo(clock, before)
    assert [daily(name) for name in ("robin", "wren")] == [100, 100]


def test_without_names_every_agent_of_the_domain_is_throttled(clock: Clock) -> None:
    agent(clock, "robin", tokenBudget={"maxDaily": 100})
    agent(clock, "heron", "harbour", tokenBudget={"maxDaily": 100})

    do(clock, "throttle-agents", budget(clock), factor=0.5, agents=[])

    assert [daily(name) for name in ("robin", "heron")] == [50, 100]


def test_a_budget_does_not_reach_the_agents_of_others(clock: Clock) -> None:
    agent(clock, "robin", tokenBudget={"maxDaily": 100})
    agent(clock, "heron", "harbour", tokenBudget={"maxDaily": 100})
    row = budget(clock, "robin")
    former = everything()

    with pytest.raises(Impossible, match="heron does not spend from budget/growth-budget"):
        do(clock, "throttle-agents", row, factor=0.5, agents=["robin", "heron"])

    assert everything() == former


def test_a_budget_whose_agents_declare_nothing_cannot_throttle_them(clock: Clock) -> None:
    agent(clock, "robin")

    with pytest.raises(Impossible, match="None of these agents"):
        do(clock, "throttle-agents", budget(clock, "robin"), factor=0.5)


def test_spending_is_blocked_with_a_reason_and_a_time_and_only_once(clock: Clock) -> None:
    row = budget(clock)

    before = do(clock, "block-spend", row, reason="Too much.")

    block = spec_of("Budget", "growth-budget")["blocked"]
    assert (block["operations"], block["reason"]) == (["spend"], "Too much.")
    assert block["since"].endswith("Z")
    assert do(clock, "block-spend", live("Budget", "growth-budget")) == []
    undo(clock, before)
    assert "blocked" not in spec_of("Budget", "growth-budget")


def blocked() -> dict[str, Any]:
    """Return the block of the policy; nothing when there is none."""
    block: dict[str, Any] = spec_of("SecurityPolicy", "data").get("blocked", {})
    return block


def test_a_second_block_adds_to_the_first_and_never_takes_from_it(clock: Clock) -> None:
    policy(clock)

    def block(name: str, **given: Any) -> list[dict[str, Any]]:
        return do(clock, name, live("SecurityPolicy", "data"), **given)

    block("block-operations", agents=["robin"], operations=["write"])
    block("block-operations", agents=["wren"], operations=["read"])
    assert blocked()["agents"] == ["robin", "wren"]
    assert blocked()["operations"] == ["write", "read"]

    block("unblock-operations", agents=["robin"])
    assert blocked()["agents"] == ["wren"]
    block("block-operations")
    assert "agents" not in blocked()
    assert block("block-operations", agents=["robin"]) == []
    with pytest.raises(Impossible, match="blocks every agent"):
        block("unblock-operations", agents=["robin"])
    block("unblock-operations")
    assert blocked() == {}


def test_a_scope_that_names_nobody_has_nobody_to_take_off(clock: Clock) -> None:
    row = policy(clock, dataScopes=SCOPES)

    for resource in ("open", "unheard-of"):
        with pytest.raises(Impossible, match=f"names no agents for {resource}"):
            do(clock, "revoke-data-scope", row, agent="robin", resource=resource)
    assert do(clock, "revoke-data-scope", row, agent="heron", resource="crm") == []


def test_the_last_agent_taken_off_leaves_a_scope_that_nobody_may_use(clock: Clock) -> None:
    row = policy(clock, dataScopes=SCOPES[1:2])

    do(clock, "revoke-data-scope", row, agent="robin", resource="ledger")

    assert spec_of("SecurityPolicy", "data")["dataScopes"][0]["allowedAgents"] == []


def test_more_agents_are_declared_to_run_in_the_order_of_the_domain(clock: Clock) -> None:
    names = ("robin", "wren", "finch", "heron")
    for name, state in zip(names, ("running", "failed", "paused", "failed"), strict=True):
        agent(clock, name, status={"state": state})
    row = domain(clock, *names)

    before = do(clock, "scale-agents", row, **{"from": 1, "to": 3})

    assert states(*names) == [None, "running", "running", None]
    undo(clock, before)
    assert states(*names) == [None] * 4


def test_fewer_agents_are_declared_to_run_from_the_end(clock: Clock) -> None:
    for name in ("robin", "wren"):
        agent(clock, name)

    do(clock, "scale-agents", domain(clock, "robin", "wren"), **{"from": 2, "to": 1})

    assert states("robin", "wren") == [None, "paused"]


def test_a_domain_cannot_have_more_agents_run_than_it_has(clock: Clock) -> None:
    agent(clock, "robin", state="running", status={"state": "failed"})
    row = domain(clock, "robin", "nobody")

    with pytest.raises(Impossible, match=r"Only 0 agents of domain/growth.* needs a restart"):
        do(clock, "scale-agents", row, **{"from": 0, "to": 1})


@pytest.mark.parametrize(
    ("spec", "phase"),
    [
        ({}, "deprecated"),
        ({"supersededBy": "later"}, "superseded"),
        ({"status": "superseded"}, "superseded"),
        ({"status": "deprecated"}, "deprecated"),
    ],
)
def test_an_archived_decision_is_declared_closed(
    clock: Clock, spec: dict[str, Any], phase: str
) -> None:
    row = declared(clock, "Decision", "choice", DECISION | spec, status={"state": "active"})

    do(clock, "archive", row, **{"from": "active", "to": "archived"})

    assert (spec_of("Decision", "choice")["status"], live("Decision", "choice").status) == (
        phase,
        {"state": "archived"},
    )


def test_a_reversed_decision_is_not_archived(clock: Clock) -> None:
    row = declared(clock, "Decision", "choice", DECISION | {"status": "reversed"})

    with pytest.raises(Impossible, match="decision/choice is reversed"):
        do(clock, "archive", row)


def test_a_state_that_moved_on_is_left_alone(clock: Clock) -> None:
    row = declared(clock, "Memory", "dawn", MEMORY, status={"state": "superseded"})

    with pytest.raises(Impossible, match="memory/dawn is superseded, not active any more"):
        do(clock, "archive-memory", row, **{"from": "active", "to": "archived"})
    assert do(clock, "supersede-memory", row, **{"from": "active", "to": "superseded"}) == []


def test_a_patch_writes_only_what_it_changes(clock: Clock) -> None:
    """What else somebody declared meanwhile stays when it is undone."""
    agent(clock, tokenBudget={"maxDaily": 5}, model={"name": "m", "version": "1"})
    patch = {"model": {"version": "2"}, "purpose": "Works.", "governance": {"escalatesTo": "bo"}}

    before = do(clock, "modify-spec", live("Agent", "robin"), patch=patch)
    do(clock, "modify-spec", live("Agent", "robin"), patch={"model": {"name": "n"}})
    undo(clock, before)

    assert [entry["path"] for entry in before] == ["spec.model.version", "spec.governance"]
    assert spec_of("Agent", "robin")["model"] == {"name": "n", "version": "1"}
    assert "governance" not in spec_of("Agent", "robin")


def test_names_with_dots_are_written_with_what_holds_them(clock: Clock) -> None:
    row = agent(clock, model={"name": "m"})

    before = do(clock, "modify-spec", row, patch={"model": {"a.b": 1}})

    assert [entry["path"] for entry in before] == ["spec.model"]
    assert known("modify-spec").touches({"patch": {"model": {"a.b": 1}}}) == ("spec.model",)
    assert spec_of("Agent", "robin")["model"] == {"name": "m", "a.b": 1}
    undo(clock, before)
    assert spec_of("Agent", "robin")["model"] == {"name": "m"}


def test_a_patch_that_makes_a_document_wrong_changes_nothing(clock: Clock) -> None:
    row = agent(clock)
    former = everything()

    with pytest.raises(Impossible, match="/spec/type must be one of"):
        do(clock, "modify-spec", row, patch={"type": "free"})

    assert everything() == former


def test_lowering_a_guard_needs_the_authority_of_two(clock: Clock) -> None:
    spec = {"targetKind": "Agent", "reconcileInterval": "5m", "enforcementMode": "enforce"}
    row = declared(clock, "Controller", "guard", spec)
    given = {"patch": {"enforcementMode": "observe"}}
    operation = known("modify-spec")

    with pytest.raises(Impossible, match="second person"), transaction.atomic():
        operations.perform(operation, row, given, actor=KEEPER, now=clock.now, authorised=False)
    do(clock, "modify-spec", row, **given)

    assert spec_of("Controller", "guard")["enforcementMode"] == "observe"
