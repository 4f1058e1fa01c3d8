"""Work that agents pull: claimed by one, kept alive by heartbeats, stopped by holds, told once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import F, QuerySet

from controllers import gating, holds, locks, proposals
from controllers.clocks import current
from controllers.engine import precedence
from controllers.engine.precedence import Reach, Standing
from controllers.executing import authority, settling
from controllers.executing.failpoints import failpoint
from controllers.executing.section import OPEN_TO_PEOPLE
from controllers.executing.settling import Answer
from controllers.models import Proposal, Step
from resources import ledger, store
from resources.actor import Actor
from resources.models import Resource

# How long an agent may be silent.
LEASE = timedelta(seconds=60)


class Refused(Exception):
    """It was not done; the message says why."""


class Missing(Refused):
    """There is no such work for this agent."""


class Taken(Refused):
    """It is not, or no longer, the caller's."""


class Stop(Refused):
    """A person said no: stop at the next safe point; `epoch` is the present one."""

    def __init__(self, message: str, epoch: int) -> None:
        super().__init__(message)
        self.epoch = epoch


class Stale(Stop):
    """Holds have changed: look at them, then go on with the present epoch."""


class Claim(NamedTuple):
    """The right to do one step, until a time; the key is the same for every attempt."""

    fence: int
    epoch: int
    deadline: datetime
    key: str
    operation: str
    parameters: dict[str, Any]
    target: str


def claimable(agent: Resource, now: datetime) -> QuerySet[Step]:
    """Return the work an agent may claim, the oldest first."""
    offered = Step.objects.filter(
        state=Step.State.WAITING, executor="agent", agent=agent.name, proposal__state="executing"
    )
    ready = offered.filter(proposal__execute_before__gt=current(now))
    return ready.select_related("proposal__resource").order_by("started_at", "pk")


def claim(step_id: int, agent: Resource, now: datetime) -> Claim:
    """Claim a step, if it may still be done; of many who try one succeeds."""
    with entered(step_id) as (proposal, step):
        if step.agent != agent.name:
            raise Missing(f"There is no work {step_id} for {agent}.")
        check(proposal, now)
        free = claimable(agent, now).filter(pk=step.pk)
        if not Step.objects.filter(pk__in=free.values("pk"), fence=step.fence).update(
            state=Step.State.CLAIMED,
            fence=F("fence") + 1,
            attempts=F("attempts") + 1,
            epoch=holds.epoch(),
            deadline=now + LEASE,
            claimed_by=str(agent),
            started_at=now,
        ):
            raise Taken("It has been claimed, or is no longer to be done.")
        step.refresh_from_db()
        tell(proposal, "claimed", step, agent, now)
    return granted(proposal, step)


def granted(proposal: Proposal, step: Step) -> Claim:
    """Return what an agent needs to know to do a step."""
    return Claim(
        step.fence,
        step.epoch,
        step.deadline or proposal.changed_at,
        step.key,
        step.operation,
        step.parameters,
        str(proposal.resource),
    )


def check(proposal: Proposal, now: datetime) -> None:
    """Refuse work that a person holds, or that nobody stands behind any more."""
    ruling = gating.examine(proposal, now)
    if ruling.word not in OPEN_TO_PEOPLE:
        raise Stop(ruling.reason, holds.epoch())
    if not authority.given(proposal, ruling, now):
        raise Refused("Nobody who may decide it stands behind it any more.")


def heartbeat(step_id: int, fence: int, epoch: int, now: datetime) -> Claim:
    """Go on with a claim; a hold, or an epoch from before one, ends or interrupts the work."""
    with entered(step_id) as (proposal, step):
        mine = Step.objects.filter(
            pk=step.pk, state=Step.State.CLAIMED, fence=fence, deadline__gt=current(now)
        )
        if not mine.exists():
            raise Taken("The claim is over.")
        present = holds.epoch()
        if proposal.state != "executing":
            raise Stop(f"It is {proposal.state.replace('_', ' ')} by now.", present)
        hold = stopping(proposal, now)
        if hold is not None:
            raise Stop(precedence.sentence(hold), present)
        if epoch != present:
            raise Stale("Holds have changed: go on with the present epoch.", present)
        mine.update(deadline=now + LEASE, epoch=present)
        step.refresh_from_db()
    return granted(proposal, step)


def stopping(proposal: Proposal, now: datetime) -> Standing | None:
    """Return the hold that stops work that has begun; one that lets it finish does not."""
    for action in proposal.actions:
        touches = tuple(action.get("touches", ()))
        target = proposal.resource
        reach = Reach(target.pk, target.domain, proposal.controller_id, touches)
        hold = holds.covering(reach, now)
        if hold is not None and hold.in_flight == "stop":
            return hold
    return None


def report(step_id: int, fence: int, answer: Answer, now: datetime) -> None:
    """Say what became of a claimed step; what comes too late is only kept in the ledger."""
    late = False
    with entered(step_id) as (proposal, step):
        late = (step.state, step.fence) != (Step.State.CLAIMED, fence)
        actor = Actor("agent", step.agent)
        if late:
            told = {"word": answer.word, "detail": answer.detail[:500], "fence": fence}
            proposals.tell(proposal, "late_result", actor=actor, now=now, payload=told)
        else:
            settling.settle(proposal, step, answer, actor, now)
    if late:
        raise Taken("It came too late: the claim was over.")


@contextmanager
def entered(step_id: int) -> Iterator[tuple[Proposal, Step]]:
    """Open the section for a step: the locks, then its proposal, then the step itself."""
    found = Step.objects.select_related("proposal__resource").filter(pk=step_id).first()
    if found is None:
        raise Missing(f"There is no work {step_id}.")
    about = found.proposal
    failpoint("before the work")
    with store.all_or_stale():
        locks.share(about.resource.domain, about.controller_id, about.resource_id)
        Proposal.objects.filter(pk=about.pk).update(lock=F("lock") + 1)
        proposal = Proposal.objects.select_related("controller", "resource").get(pk=about.pk)
        yield proposal, Step.objects.get(pk=step_id)
        failpoint("before the work commits")
    failpoint("after the work commits")


def tell(proposal: Proposal, verb: str, step: Step, agent: Resource, now: datetime) -> None:
    """Tell the ledger that an agent took a step."""
    payload = {
        "operation": step.operation,
        "sequence": step.sequence,
        "key": step.key,
        "fence": step.fence,
        "epoch": step.epoch,
        "attempt": step.attempts,
        "deadline": ledger.instant(step.deadline) if step.deadline else None,
        "authority": step.authority,
    }
    proposals.tell(proposal, verb, actor=Actor("agent", agent.name), now=now, payload=payload)
