"""Short ways to people, resources and proposals, for the tests about decisions."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User

from controllers.decisions.proposals import SeenRevision
from controllers.engine import digests
from controllers.models import Grant, Proposal
from resources.tables.models import Resource
from tests.conftest import Clock
from tests.resources.making import apply, live, made

AGENT = "scribe"


def person(
    clock: Clock, username: str, role: str, domain: str = "", ceiling: str = "high"
) -> User:
    """Add somebody with one role."""
    user = User.objects.create(username=username)
    Grant.objects.create(
        person=user,
        role=role,
        domain=domain,
        ceiling=ceiling,
        granted_by="system/ioa",
        granted_at=clock.now,
    )
    return user


def controller(clock: Clock, name: str = "keeper", **spec: Any) -> Resource:
    """Declare a controller of agents."""
    declared = {"targetKind": "Agent", "reconcileInterval": "5m", "enforcementMode": "warn"} | spec
    assert apply(clock.now, made("Controller", name, declared)).written
    return live("Controller", name)


def agent(clock: Clock, name: str = AGENT, domain: str = "growth", **spec: Any) -> Resource:
    """Declare an agent."""
    declared = {
        "domain": domain,
        "type": "autonomous",
        "purpose": "Writes.",
        "tokenBudget": {"maxDaily": 1_000_000},
    } | spec
    assert apply(clock.now, made("Agent", name, declared)).written
    return live("Agent", name)


def action(name: str = AGENT, operation: str = "throttle", **given: Any) -> dict[str, Any]:
    """Write one action as a proposal keeps it."""
    return {
        "sequence": 1,
        "type": "reconcile",
        "operation": operation,
        "kind": "change",
        "target": f"agent/{name}",
        "parameters": {"agent": name, "factor": 0.5},
        "risk": "low",
        "reversible": True,
        "why": f"{name} is beyond its limits.",
        "otherwise": f"{name} goes on.",
        "touches": ["spec.tokenBudget.maxDaily"],
    } | given


def proposal(
    clock: Clock, resource: Resource, controller: Resource | None = None, **given: Any
) -> Proposal:
    """Make a proposal row; by default a pending one of low risk that one person decides."""
    actions = given.pop("actions", None) or [action(resource.name)]
    basis = given.pop("basis", None) or {
        "controller": controller.generation if controller else None,
        "generation": resource.generation,
        "related": "",
        "policy": {},
        "reads": {},
    }
    row = {
        "controller": controller,
        "resource": resource,
        "proposer": f"controller/{controller.name}" if controller else "agent/robin",
        "state": "pending",
        "actions": actions,
        "action_digest": digests.of_actions(str(resource.uid), actions),
        "basis": basis,
        "basis_digest": digests.of_basis(basis),
        "mode": "warn",
        "lane": "ask",
        "risk": "low",
        "reversible": True,
        "created_at": clock.now,
        "changed_at": clock.now,
        "confirmed_at": clock.now,
        "expires_at": clock.now + timedelta(days=7),
        "correlation_id": "story",
    } | given
    return Proposal.objects.create(**row)


def seen(proposal: Proposal) -> SeenRevision:
    """Return what somebody sees of a proposal now."""
    return SeenRevision(proposal.revision, proposal.action_digest)
