"""Short ways to resources and to what is done to them, for the tests about operations."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from controllers import operations
from controllers.operations.operation import Operation
from resources.documents.actor import Actor
from resources.tables.models import Resource
from tests.conftest import Clock
from tests.resources.making import apply, live

KEEPER = Actor("controller", "keeper")
DECISION = {"id": "DEC-7", "status": "active", "domain": "growth", "context": "Why."}
MEMORY = {"scope": "domain", "entryType": "learning", "content": "Ships come at dawn."}
WORKFLOW = {
    "description": "Answers.",
    "domainsInvolved": ["growth"],
    "steps": [
        {"name": "score", "agent": "scorer", "action": "score"},
        {"name": "offer", "agent": "offerer", "action": "offer"},
    ],
}
SCOPES: list[dict[str, Any]] = [
    {"resource": "crm", "classification": "internal", "allowedAgents": ["robin", "wren"]},
    {"resource": "ledger", "classification": "restricted", "allowedAgents": ["robin"]},
    {"resource": "open", "classification": "public"},
]


def known(name: str) -> Operation:
    found = operations.find(name)
    assert found is not None
    return found


def document(kind: str, name: str, spec: dict[str, Any], **parts: Any) -> dict[str, Any]:
    head = {"apiVersion": "ioa.dev/v0.2", "kind": kind, "metadata": {"name": name}}
    return head | {"spec": spec} | parts


def declared(clock: Clock, kind: str, name: str, spec: dict[str, Any], **parts: Any) -> Resource:
    assert apply(clock.now, document(kind, name, spec, **parts)).written
    return live(kind, name)


def agent(clock: Clock, name: str = "robin", domain: str = "growth", **spec: Any) -> Resource:
    smallest = {"domain": domain, "type": "autonomous", "purpose": "Works."}
    status = spec.pop("status", {"state": "running"})
    return declared(clock, "Agent", name, smallest | spec, status=status)


def do(clock: Clock, name: str, row: Resource, **given: Any) -> list[dict[str, Any]]:
    with transaction.atomic():
        return operations.perform(known(name), row, given, actor=KEEPER, now=clock.now)


def undo(clock: Clock, before: list[dict[str, Any]]) -> list[dict[str, Any]]:
    with transaction.atomic():
        return operations.undo(before, actor=KEEPER, now=clock.now)


def spec_of(kind: str, name: str) -> dict[str, Any]:
    spec: dict[str, Any] = live(kind, name).spec
    return spec


def budget(clock: Clock, *names: str, **spec: Any) -> Resource:
    shares = [{"name": name, "allocation": 0.1} for name in names]
    smallest = {"domain": "growth", "period": "2026-Q4", "agents": shares}
    return declared(clock, "Budget", "growth-budget", smallest | spec)


def policy(clock: Clock, **spec: Any) -> Resource:
    return declared(clock, "SecurityPolicy", "data", {"domain": "growth"} | spec)


def domain(clock: Clock, *names: str) -> Resource:
    return declared(clock, "Domain", "growth", {"purpose": "Grow.", "agents": [*names]})


def states(*names: str) -> list[Any]:
    return [spec_of("Agent", name).get("state") for name in names]
