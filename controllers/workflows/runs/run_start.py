"""Start a run: with the declaration as it is now, so that no step comes in later."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from controllers.access import people, roles
from controllers.engine import run_lifecycle
from controllers.engine.run_lifecycle import OPEN
from controllers.models import RunStep, WorkflowRun
from controllers.workflows.runs import hold_check, next_steps, run_moves, workflow_status
from controllers.workflows.runs.compensation import key_of
from controllers.workflows.runs.run_plan import pinned, steps_of
from resources.documents.actor import Actor
from resources.documents.canonical import digest
from resources.documents.problems import missing, refused
from resources.tables.models import AgentToken, Resource
from resources.usecases import access

LARGEST_INPUTS = 64 * 1024
MOST_OPEN = 100

Starter = User | AgentToken


@dataclass(frozen=True)
class RunRequest:
    """What somebody wants to be run: of which workflow, for what reason, and with what."""

    workflow: int
    correlation_id: str
    trigger: str = "manual"
    inputs: dict[str, Any] = field(default_factory=dict)
    # What the caller names its request by: repeated, it starts nothing new.
    request_key: str = ""

    @property
    def digest(self) -> str:
        """What names its content."""
        return digest([self.workflow, self.trigger, self.inputs])


class Started(NamedTuple):
    """What came of a wish, and whether that is new."""

    run: WorkflowRun
    new: bool


def start(wish: RunRequest, *, by: Starter, now: datetime) -> Started:
    """Start a run for a person or an agent; a repeated request gets the same one back."""
    return entered(wish, found(wish.workflow, by, now), actor_of(by), now)


def start_by_itself(wish: RunRequest, *, behind: Actor, now: datetime) -> Started:
    """Start a run because its workflow says so; who is behind it does not open its gates."""
    rows = Resource.objects.filter(pk=wish.workflow, kind="Workflow", deleted_at=None)
    workflow = rows.first()
    if workflow is None:
        raise missing("There is no such workflow.")
    return entered(wish, workflow, behind, now)


def entered(wish: RunRequest, workflow: Resource, actor: Actor, now: datetime) -> Started:
    """Write a run that may be started, once for each name of a request."""
    if known := repeated(wish, actor):
        return Started(known, new=False)
    check_size(wish, workflow)
    try:
        with transaction.atomic():
            run = write(wish, workflow, actor, now)
    except IntegrityError:
        # The same caller asked for it at the same moment.
        known = repeated(wish, actor)
        if known is None:
            raise
        return Started(known, new=False)
    workflow_status.publish_of(run.workflow_id, now)
    return Started(run, new=True)


def actor_of(by: Starter) -> Actor:
    """Return who starts it, as the ledger names them."""
    if isinstance(by, AgentToken):
        return Actor("agent", by.agent.name)
    return people.actor_for(by)


def found(key: int, by: Starter, now: datetime) -> Resource:
    """Return the workflow that somebody may run; an agent runs no more than it sees."""
    rows = Resource.objects.filter(pk=key, kind="Workflow", deleted_at=None)
    row = (access.visible(rows, by) if isinstance(by, AgentToken) else rows).first()
    if row is None:
        raise missing("There is no such workflow.")
    if isinstance(by, User):
        roles.check_run(by, row.domain, now)
    return row


def repeated(wish: RunRequest, actor: Actor) -> WorkflowRun | None:
    """Return what the same request came to before; another one under its name is refused."""
    if not wish.request_key:
        return None
    rows = WorkflowRun.objects.select_related("workflow").filter(
        workflow=wish.workflow, started_by=str(actor), request_key=wish.request_key
    )
    run = rows.first()
    if run is not None and run.request_digest != wish.digest:
        raise refused("Another run was started under this name of a request.")
    return run


def check_size(wish: RunRequest, workflow: Resource) -> None:
    """Refuse more than can be kept or looked after."""
    if len(orjson.dumps(wish.inputs)) > LARGEST_INPUTS:
        raise refused(f"The inputs of a run have at most {LARGEST_INPUTS // 1024} kB.")
    if any(len(name) > 253 for name in steps_of(workflow.spec)):
        raise refused("A step whose name has more than 253 characters cannot be run.")
    if WorkflowRun.objects.filter(workflow=workflow, state__in=OPEN).count() >= MOST_OPEN:
        raise refused(f"{MOST_OPEN} runs of it are open: they end first.")


def write(wish: RunRequest, workflow: Resource, actor: Actor, now: datetime) -> WorkflowRun:
    """Write a run with its steps, and let it begin unless a person stands in the way."""
    run = WorkflowRun(
        workflow=workflow,
        state=run_lifecycle.after("idle", "queue"),
        generation=workflow.generation,
        revision=workflow.declared_version,
        plan=pinned(workflow.spec),
        trigger=wish.trigger,
        inputs=wish.inputs,
        started_by=str(actor),
        created_at=now,
        correlation_id=wish.correlation_id,
        request_key=wish.request_key,
        request_digest=wish.digest,
    )
    reached = hold_check.places(run)
    hold_check.share(reached)
    run.save(force_insert=True)
    RunStep.objects.bulk_create(steps(run))
    payload = {"trigger": run.trigger, "revision": run.revision}
    run_moves.tell(run, "queued", actor=actor, now=now, payload=payload)
    if hold_check.in_the_way(reached, now) is None:
        next_steps.begin(run, now)
    return run


def steps(run: WorkflowRun) -> list[RunStep]:
    """Return the steps of a run, as they are declared."""
    return [
        RunStep(
            run=run,
            number=number,
            name=each.name,
            agent=each.agent[:253],
            action=each.action,
            gate=each.gate,
            state="pending",
            key=key_of(run, each.name, undoes=False),
        )
        for number, each in enumerate(steps_of(run.plan).values(), start=1)
    ]
