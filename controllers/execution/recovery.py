"""After a worker or an agent was lost: what may be tried again is, the rest is for a person.

What the control plane does by itself is never found here: its transaction either ended or left no
trace.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from controllers.common.clocks import current
from controllers.common.rows import Prepared, Slot, at
from controllers.decisions import locks, proposals
from controllers.execution import moves, results, steps
from controllers.execution.failpoints import failpoint
from controllers.execution.results import StepResult
from controllers.models import Proposal, Step
from resources.documents.actor import SYSTEM
from resources.store import store

AT_ONCE = timedelta(0)
LOST = StepResult("unknown", "Its worker was lost: nobody knows whether it happened.")
SILENT = StepResult("unknown", "The agent fell silent: nobody knows whether it happened.")


def recover(now: datetime) -> int:
    """Take care of every execution that nobody holds any more; return how many there were."""
    done = 0
    if not ABANDONED(now=now):
        return done
    for each in list(abandoned(now).select_related("resource").order_by("pk")):
        # Whoever was in the way is through by the next round.
        with suppress(store.Stale):
            done += take_over(each, now)
    return done


def abandoned(now: datetime | Slot) -> QuerySet[Proposal]:
    """Return executions whose worker, or whose agent, has not been heard of in time."""
    clock = current(now)
    silent = Step.objects.filter(state=Step.State.CLAIMED, deadline__lte=clock)
    pulled = ("agent", "controller")
    ignored = Step.objects.filter(state=Step.State.WAITING, executor__in=pulled)
    return Proposal.objects.filter(state="executing").filter(
        Q(claimed_until__lte=clock)
        | Q(pk__in=silent.values("proposal"))
        | Q(pk__in=ignored.values("proposal"), execute_before__lte=clock)
    )


# Asked in every round, and nearly always in vain.
ABANDONED = Prepared(lambda: abandoned(at("now")).values_list("pk")[:1])


def take_over(found: Proposal, now: datetime) -> int:
    """Take one execution from whoever had it, with a new fence; of many workers one does."""
    failpoint("before the recovery")
    with store.all_or_stale():
        locks.share(found.resource.domain, found.controller_id, found.resource_id)
        proposal = results.mine(found.pk, found.fence)
        if proposal is None or not abandoned(now).filter(pk=found.pk).exists():
            return 0
        moves.change(proposal, fence=proposal.fence + 1)
        go_on(proposal, now)
        failpoint("before the recovery commits")
    failpoint("after the recovery commits")
    return 1


def go_on(proposal: Proposal, now: datetime) -> None:
    """Decide what becomes of an execution from where it was left."""
    step = steps.under_way(proposal)
    if step is None:
        moves.retry(proposal, "Its worker was lost before anything began.", AT_ONCE, now)
    elif step.state == Step.State.WAITING:
        moves.move(proposal, "stop", now, {"reason": "No agent took it."}, **moves.FREE)
        late = {"reason": "No agent took it in time."}
        moves.move(proposal, "lapse", now, late, run_at=None)
    elif step.state == Step.State.CLAIMED and again(step):
        # Whoever had it no longer may: the next claim has a larger fence, and the same key.
        freed = {"state": Step.State.WAITING, "fence": step.fence + 1}
        steps.change(step, **freed, claimed_by="", deadline=None, error=SILENT.detail)
        whom = {"operation": step.operation, "to": f"{step.executor}/{step.agent}"}
        told = {"sequence": step.sequence, "key": step.key, "reason": SILENT.detail, **whom}
        proposals.tell(proposal, "offered", actor=SYSTEM, now=now, payload=told)
    elif step.state == Step.State.CLAIMED:
        results.settle(proposal, step, SILENT, SYSTEM, now)
    else:
        results.settle(proposal, step, LOST, SYSTEM, now)


def again(step: Step) -> bool:
    """Tell whether a step may be done once more."""
    return step.idempotent and step.attempts < moves.MOST_ATTEMPTS
