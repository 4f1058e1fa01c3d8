"""A proposal as the catalogue and the gate see it: nothing about it rests on anybody's own word.

Risk, what can be undone and how many people decide come from the catalogue and the policy. What
the proposer says is kept as what it is: a claim, shown beside the facts.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from controllers import operations
from controllers.access import roles
from controllers.decisions import gate_facts
from controllers.decisions.creation.proposal_factory import BORN
from controllers.engine import digests
from controllers.engine.proposal_lifecycle import LAPSES, WAITS
from controllers.engine.terms import Document, Ruling
from controllers.models import Proposal
from resources.documents.actor import Actor
from resources.documents.differences import merge
from resources.documents.problems import invalid
from resources.tables import ledger
from resources.tables.models import Resource
from resources.usecases import specs

MOST_ACTIONS = 20
LONGEST_WHY = 2_000
# What the gate is told of a proposer besides the plan.
TERMS = ("autonomy", "approval", "lowers")


class Author(NamedTuple):
    """Who proposes; for an agent the resource that declares how far it may go."""

    actor: Actor
    agent: Resource | None = None


def draft(
    row: Resource, author: Author, actions: Sequence[Document], why: str, now: datetime
) -> Proposal:
    """Make a proposal, if the catalogue knows what it would do and the gate lets it be asked."""
    check_words(actions, why)
    steps = [planned(row, number, each, why) for number, each in enumerate(actions, start=1)]
    drafted = Proposal(
        resource=row,
        proposer=str(author.actor),
        interested=roles.interested_in(author.actor, author.agent),
        explanation=why,
        policy=policy_of(row, author.agent, steps),
        created_at=now,
        changed_at=now,
        confirmed_at=now,
        correlation_id=ledger.correlation.get() or str(uuid.uuid4()),
    )
    describe(drafted, steps)
    rule(drafted, now)
    return drafted


def check_words(actions: Sequence[Document], why: str) -> None:
    """Refuse what says too little or too much."""
    if not why.strip():
        raise invalid("Say why it should be done.")
    if len(why) > LONGEST_WHY or "\x00" in why:
        raise invalid(f"Why it should be done is a text of up to {LONGEST_WHY} characters.")
    if not 0 < len(actions) <= MOST_ACTIONS:
        raise invalid(f"A proposal has from one to {MOST_ACTIONS} actions.")


def planned(row: Resource, number: int, given: Document, why: str) -> dict[str, Any]:
    """Write an action as the catalogue knows it; only its parameters are the proposer's."""
    name, parameters = str(given.get("operation", "")), given.get("parameters", {})
    problems = operations.check(name, parameters, row.kind, row.name)
    operation = operations.find(name)
    if problems or operation is None:
        told = "; ".join(f"{each.pointer} {each.message}" for each in problems)
        raise invalid(f"Action {number} cannot be proposed: {told}.")
    return {
        "sequence": number,
        "type": "block" if operation.kind == "block" else "reconcile",
        "operation": operation.name,
        "kind": operation.kind,
        "target": str(row),
        "parameters": parameters,
        "risk": operation.risk,
        "reversible": operation.reversible,
        "why": why,
        "touches": list(operation.touches(parameters)),
    }


def policy_of(
    row: Resource, agent: Resource | None, actions: Sequence[Document]
) -> dict[str, Any]:
    """Return what the gate asks of it: how far its proposer may go alone, and what it weakens."""
    autonomy = str(agent.spec.get("type", "")) if agent is not None else ""
    # An agent acts by itself only at home.
    alone = autonomy == "autonomous" and agent is not None and row.domain == agent.domain
    return {
        "autonomy": autonomy,
        "approval": "auto" if alone else "required",
        "lowers": any(lowers(row, each) for each in actions),
    }


def lowers(row: Resource, action: Document) -> bool:
    """Tell whether an action declares a weaker guard than there is."""
    if action["operation"] != "modify-spec":
        return False
    before = {"metadata": row.metadata, "spec": row.spec}
    after = {"metadata": row.metadata, "spec": merge(row.spec, action["parameters"]["patch"])}
    return bool(specs.lowered(row.kind, before, after))


def describe(drafted: Proposal, actions: list[dict[str, Any]]) -> None:
    """Write what is to be done, what that risks, and what it rests on, into a proposal."""
    row = drafted.resource
    basis = {
        "controller": None,
        "generation": row.generation,
        "related": "",
        "policy": {name: drafted.policy[name] for name in TERMS},
        "reads": {},
    }
    drafted.actions = actions
    drafted.action_digest = digests.of_actions(str(row.uid), actions)
    drafted.planned_digest = drafted.action_digest
    drafted.basis, drafted.basis_digest = basis, digests.of_basis(basis)
    drafted.risk = operations.risk_of(actions)
    drafted.reversible = all(each["reversible"] for each in actions)
    drafted.cause = digests.cause(drafted.proposer, [each["operation"] for each in actions], ())


def rule(drafted: Proposal, now: datetime) -> None:
    """Let the gate say how it is decided; what a hold stops may still be put before people."""
    ruling = gate_facts.examine(drafted, now, standing=())
    if ruling.word not in BORN:
        raise invalid(f"It cannot be proposed: {ruling.reason}")
    hold = gate_facts.examine(drafted, now)
    held = hold if hold.word == "refuse" else Ruling("ask", "", "")
    # What people stopped does not start by itself when they let go.
    lane = "ask" if held.code and ruling.word == "run" else ruling.word
    drafted.lane, drafted.state = lane, BORN[lane]
    drafted.people = 0 if lane == "run" else max(1, ruling.people)
    drafted.held, drafted.held_reason = held.code, held.reason
    drafted.mode = gate_facts.mode_of(drafted, None)
    drafted.policy |= {"code": ruling.code, "reason": ruling.reason}
    drafted.expires_at = now + WAITS[drafted.risk]
    if lane == "run":
        drafted.decided_at = drafted.run_at = now
        drafted.decided_by, drafted.answer = f"policy/{drafted.policy['autonomy']}", "approve"
        drafted.execute_before = now + LAPSES[drafted.risk]
