"""What agents and outside controllers ask for over the wire: each only about its own work."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple, get_args

from django.db.models import QuerySet

from controllers.execution import agent_tasks
from controllers.execution.agent_tasks import Claim
from controllers.execution.progress import Progress
from controllers.execution.results import StepResult
from controllers.models import Step
from resources.documents.problems import missing
from resources.tables.models import Resource

Listed = Literal["claimable", "claimed", "ended"]
LISTED: tuple[Listed, ...] = get_args(Listed)
PULLED = ("agent", "controller")
ENDED = (
    Step.State.DONE,
    Step.State.FAILED,
    Step.State.UNKNOWN,
    Step.State.SKIPPED,
    Step.State.UNDONE,
)


class Held(NamedTuple):
    """A claim as whoever has it names it: which step, who it is, under which fence."""

    step: int
    worker: Resource
    fence: int


def listed(worker: Resource | None, state: Listed | None, now: datetime) -> QuerySet[Step]:
    """Return somebody's work, by where it stands; without anybody everybody's."""
    rows = agent_tasks.work_of(worker) if worker else Step.objects.filter(executor__in=PULLED)
    if state == "claimable":
        rows = agent_tasks.offered(rows, now)
    elif state == "claimed":
        rows = rows.filter(state=Step.State.CLAIMED)
    elif state == "ended":
        rows = rows.filter(state__in=ENDED)
    return rows.select_related("proposal__resource").order_by("pk")


def find(step_id: int, worker: Resource) -> Step:
    """Return a step that is somebody's to do; others' do not exist for them."""
    rows = agent_tasks.work_of(worker).select_related("proposal__resource")
    found = rows.filter(pk=step_id).first()
    if found is None:
        raise missing(f"There is no work {step_id} for {worker}.")
    return found


def heartbeat(held: Held, epoch: int, now: datetime, progress: Progress | None = None) -> Claim:
    """Go on with one's own claim, and perhaps say how far it is."""
    find(held.step, held.worker)
    return agent_tasks.heartbeat(held.step, held.fence, epoch, now, progress)


def report(held: Held, answer: StepResult, key: str, now: datetime) -> Step:
    """Say what became of one's own claim; return the step as it then stands."""
    find(held.step, held.worker)
    agent_tasks.report(held.step, held.fence, answer, now, key)
    return Step.objects.select_related("proposal__resource").get(pk=held.step)
