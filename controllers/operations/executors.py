"""Who carries an operation out: a machine, an agent, an outside controller, or we ourselves."""

from __future__ import annotations

from typing import Literal, NamedTuple

from controllers.engine.document_values import items, text
from controllers.models import Endpoint, Proposal, WorkflowRun
from controllers.operations import endpoints
from controllers.operations.local_executor import subject
from controllers.operations.operation import Operation
from controllers.workqueue import compiled_controllers
from resources.tables.models import Resource


class Executor(NamedTuple):
    """Who does it; the name of an agent or controller, or the endpoint that is called."""

    kind: Literal["control-plane", "agent", "controller", "webhook"]
    endpoint: Endpoint | None = None
    agent: str = ""


def executor_of(operation: Operation, resource: Resource) -> Executor:
    """Return who carries an operation out on a resource; an endpoint that takes it comes first.

    What is done to a run that is kept here is done where it is kept.
    """
    if operation.here or (operation.on_runs and runs_are_kept(resource)):
        return Executor("control-plane")
    endpoint = endpoints.taking(operation.name, resource.domain)
    if endpoint is not None:
        return Executor("webhook", endpoint)
    if operation.executor == "agent" or operation.declared(subject(resource)):
        return Executor("agent", agent=agent_for(resource))
    return Executor("control-plane")


def runs_are_kept(workflow: Resource) -> bool:
    """Tell whether the runs of a workflow are kept here."""
    return WorkflowRun.objects.filter(workflow=workflow.pk).exists()


def carrier_of(operation: Operation, proposal: Proposal) -> Executor:
    """Return who carries a proposal out; an outside controller does what an agent would."""
    found = executor_of(operation, proposal.resource)
    outside = outside_of(proposal) if found.kind == "agent" else ""
    return Executor("controller", agent=outside) if outside else found


def outside_of(proposal: Proposal) -> str:
    """Return the outside controller whose own plan it is, if it is the plan of one."""
    owner = proposal.controller
    if owner is None or proposal.proposer != str(owner):
        return ""
    declared = compiled_controllers.attempt((owner.pk, owner.generation))
    return owner.name if declared is not None and declared.runner == "external" else ""


def agent_for(resource: Resource) -> str:
    """Return the agent that answers for a resource: itself, or the one that leads a workflow."""
    if resource.kind == "Agent":
        return resource.name
    steps = items(resource.spec, "steps")
    current = [each for each in steps if each.get("name") == resource.status.get("currentStep")]
    leading = [text(each.get("agent")) for each in (*current, *steps)]
    return text(resource.spec.get("orchestrator")) or next(iter(leading), "")
