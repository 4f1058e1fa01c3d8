"""Work that others pull: claimed by one, kept alive by heartbeats, stopped by holds, told once.

An agent is offered what it answers for; an outside controller is offered its own plans.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import F, QuerySet

from controllers.common import quotation
from controllers.common.clocks import current
from controllers.decisions import gate_facts, holds, locks, proposals
from controllers.engine import precedence
from controllers.engine.precedence import Reach, Standing
from controllers.execution import authority, results, steps
from controllers.execution.critical_section import OPEN_TO_PEOPLE
from controllers.execution.failpoints import failpoint
from controllers.execution.progress import Progress, note
from controllers.execution.results import StepResult
from controllers.loop import restore_watch
from controllers.models import Proposal, Step
from resources.documents.canonical import digest
from resources.documents.problems import STALE_EPOCH, TAKEN, Problem, held, missing, refused
from resources.store import store
from resources.tables import ledger
from resources.tables.models import Resource

# How long an agent may be silent.
LEASE = timedelta(seconds=60)
UNTOLD: dict[str, Any] = {"percent": None, "note": "", "noted_at": None}


class Claim(NamedTuple):
    """The right to do one step, until a time; the key is the same for every attempt."""

    fence: int
    epoch: int
    deadline: datetime
    key: str
    operation: str
    parameters: dict[str, Any]
    target: str


def work_of(agent: Resource) -> QuerySet[Step]:
    """Return the steps that are, or were, an agent's or an outside controller's to do."""
    return Step.objects.filter(executor=agent.kind.lower(), agent=agent.name)


def claimable(agent: Resource, now: datetime) -> QuerySet[Step]:
    """Return the work an agent may claim, the oldest first."""
    ready = offered(work_of(agent), now)
    return ready.select_related("proposal__resource").order_by("started_at", "pk")


def offered(steps: QuerySet[Step], now: datetime) -> QuerySet[Step]:
    """Keep the steps that wait to be claimed, and still may be."""
    waiting = steps.filter(state=Step.State.WAITING, proposal__state="executing")
    return waiting.filter(proposal__execute_before__gt=current(now))


def claim(step_id: int, agent: Resource, now: datetime, key: str = "") -> Claim:
    """Claim a step, if it may still be done; of many who try one succeeds.

    Whoever repeats a request that succeeded, named by the same key, gets the same claim.
    """
    # What is another's and what is not there look the same.
    if not work_of(agent).filter(pk=step_id).exists():
        raise missing(f"There is no work {step_id} for {agent}.")
    with entered(step_id) as (proposal, step):
        if is_repeated(step, key, now):
            return granted(proposal, step)
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
            requests={"claim": key} if key else {},
            **UNTOLD,
        ):
            raise Problem(TAKEN, "It has been claimed, or is no longer to be done.")
        step.refresh_from_db()
        tell(proposal, "claimed", step, now)
    # The permit is remembered outside before the work; in a restored database there is none.
    if (frozen := restore_watch.look(now)) is not None:
        raise held(frozen.reason, holds.epoch())
    return granted(proposal, step)


def is_repeated(step: Step, key: str, now: datetime) -> bool:
    """Tell whether a claim was granted to this very request, and still stands."""
    if not key or step.requests.get("claim") != key or step.state != Step.State.CLAIMED:
        return False
    return Step.objects.filter(pk=step.pk, deadline__gt=current(now)).exists()


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
    ruling = gate_facts.examine(proposal, now)
    if ruling.word not in OPEN_TO_PEOPLE:
        raise held(ruling.reason, holds.epoch())
    if not authority.given(proposal, ruling, now):
        raise refused("Nobody who may decide it stands behind it any more.")


def heartbeat(
    step_id: int, fence: int, epoch: int, now: datetime, progress: Progress | None = None
) -> Claim:
    """Go on with a claim; a hold, or an epoch from before one, ends or interrupts the work."""
    with entered(step_id) as (proposal, step):
        mine = Step.objects.filter(
            pk=step.pk, state=Step.State.CLAIMED, fence=fence, deadline__gt=current(now)
        )
        if not mine.exists():
            raise Problem(TAKEN, "The claim is over.")
        present = holds.epoch()
        if proposal.state != "executing":
            raise held(f"It is {proposal.state.replace('_', ' ')} by now.", present)
        hold = stopping(proposal, now)
        if hold is not None:
            raise held(precedence.sentence(hold), present)
        if epoch != present:
            told = "Holds have changed: go on with the present epoch."
            raise Problem(STALE_EPOCH, told, epoch=str(present))
        mine.update(deadline=now + LEASE, epoch=present)
        step.refresh_from_db()
        if progress is not None:
            note(proposal, step, progress, now)
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


def report(step_id: int, fence: int, answer: StepResult, now: datetime, key: str = "") -> None:
    """Say what became of a claimed step; what comes too late is only kept in the ledger.

    Whoever repeats a report, named by the same key, was heard the first time.
    """
    late = False
    with entered(step_id) as (proposal, step):
        if was_told(step, fence, answer, key):
            return
        late = (step.state, step.fence) != (Step.State.CLAIMED, fence)
        actor, said = steps.doer(step), as_said(answer, step)
        if late:
            told = {"word": answer.word, "detail": said.detail, "fence": fence}
            proposals.tell(proposal, "late_result", actor=actor, now=now, payload=told)
        else:
            steps.change(step, requests=step.requests | named(fence, answer, key))
            results.settle(proposal, step, said, actor, now)
    if late:
        raise Problem(TAKEN, "It came too late: the claim was over.")


def as_said(answer: StepResult, step: Step) -> StepResult:
    """Mark what somebody says of their work as theirs: people read it beside what we say."""
    if answer.word == "done" and not answer.detail:
        return answer
    if not answer.detail:
        return answer._replace(detail=f"{step.agent} gave no reason.")
    return answer._replace(detail=quotation.quoted(step.agent, answer.detail))


def was_told(step: Step, fence: int, answer: StepResult, key: str) -> bool:
    """Tell whether this very report was heard before; another one under its name is refused."""
    if not key or step.requests.get("result") != key:
        return False
    if step.requests != step.requests | named(fence, answer, key):
        raise refused("Another result was reported under this name of a request.")
    return True


def named(fence: int, answer: StepResult, key: str) -> dict[str, Any]:
    """Return what a report is known by, if it is named."""
    if not key:
        return {}
    return {"result": key, "said": digest([fence, answer.word, answer.detail, answer.result])}


@contextmanager
def entered(step_id: int) -> Iterator[tuple[Proposal, Step]]:
    """Open the section for a step: the locks, then its proposal, then the step itself."""
    found = Step.objects.select_related("proposal__resource").filter(pk=step_id).first()
    if found is None:
        raise missing(f"There is no work {step_id}.")
    about = found.proposal
    failpoint("before the work")
    with store.all_or_stale():
        locks.share(about.resource.domain, about.controller_id, about.resource_id)
        Proposal.objects.filter(pk=about.pk).update(lock=F("lock") + 1)
        proposal = Proposal.objects.select_related("controller", "resource").get(pk=about.pk)
        yield proposal, Step.objects.get(pk=step_id)
        failpoint("before the work commits")
    failpoint("after the work commits")


def tell(proposal: Proposal, verb: str, step: Step, now: datetime) -> None:
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
    proposals.tell(proposal, verb, actor=steps.doer(step), now=now, payload=payload)
