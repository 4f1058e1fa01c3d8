"""No step begins against a person's word: the question and the beginning share one transaction."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from controllers.decisions import holds, locks
from controllers.engine import precedence
from controllers.engine.precedence import Reach, Standing
from controllers.models import WorkflowRun
from resources.tables.models import Resource

# What a step of a run changes of its workflow.
TOUCHES = ("status.state",)


class StepTarget(NamedTuple):
    """What a step reaches, in the order in which everybody locks."""

    domain: str
    resource: int


def places(run: WorkflowRun, agent: Resource | None = None) -> list[StepTarget]:
    """Return what a step reaches: its workflow in every domain involved, and its agent."""
    involved = {run.workflow.domain, *run.plan.get("domainsInvolved", ())}
    found = {StepTarget(domain, run.workflow_id) for domain in involved}
    return sorted(found | ({StepTarget(agent.domain, agent.pk)} if agent is not None else set()))


def share(found: Iterable[StepTarget]) -> None:
    """Keep holds out until the transaction ends."""
    for place in found:
        locks.share(place.domain, None, place.resource)


def in_the_way(found: Iterable[StepTarget], now: datetime) -> Standing | None:
    """Return the hold that stands in the way, if any."""
    standing = holds.standing(now)
    reaches = (Reach(place.resource, place.domain, None, TOUCHES) for place in found)
    held = (precedence.strongest(standing, each) for each in reaches)
    return next((each for each in held if each is not None), None)
