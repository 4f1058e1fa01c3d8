"""Who carries an operation out: an outside machine, an agent, or the control plane."""

from __future__ import annotations

from typing import Literal, NamedTuple

from controllers.engine.reading import items, text
from controllers.models import Endpoint
from controllers.operations import endpoints
from controllers.operations.operation import Operation
from controllers.operations.performing import subject
from resources.models import Resource


class Executor(NamedTuple):
    """Who does it; an agent's name, or the endpoint that is called."""

    kind: Literal["control-plane", "agent", "webhook"]
    endpoint: Endpoint | None = None
    agent: str = ""


def executor_of(operation: Operation, resource: Resource) -> Executor:
    """Return who carries an operation out on a resource; an endpoint that takes it comes first."""
    endpoint = endpoints.taking(operation.name, resource.domain)
    if endpoint is not None:
        return Executor("webhook", endpoint)
    if operation.executor == "agent" or operation.declared(subject(resource)):
        return Executor("agent", agent=agent_for(resource))
    return Executor("control-plane")


def agent_for(resource: Resource) -> str:
    """Return the agent that answers for a resource: itself, or the one that leads a workflow."""
    if resource.kind == "Agent":
        return resource.name
    steps = items(resource.spec, "steps")
    current = [each for each in steps if each.get("name") == resource.status.get("currentStep")]
    leading = [text(each.get("agent")) for each in (*current, *steps)]
    return text(resource.spec.get("orchestrator")) or next(iter(leading), "")
