"""The one critical section: whether it may happen, and that it happens, in one transaction.

First the locks that keep holds out, then the proposal itself, then everything is asked again from
fresh rows: the clock, the plan, the holds, the mode, the votes and the rights of those who cast
them. What the control plane does by itself is done here, once; what others do is only handed out.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db.models import F

from controllers import operations
from controllers.common.clocks import current
from controllers.decisions import gate_facts, locks, proposals
from controllers.decisions.proposals import SeenRevision
from controllers.engine.terms import Ruling
from controllers.execution import authority, local_steps, moves, permits, preconditions, steps
from controllers.execution.failpoints import failpoint
from controllers.execution.local_steps import EffectTarget
from controllers.execution.permits import Order
from controllers.execution.recheck import RecheckResult
from controllers.models import Proposal
from resources.store import store
from resources.tables.models import Resource

# Answers of the gate that people or a policy can satisfy.
OPEN_TO_PEOPLE = ("run", "ask", "recommend")


def enter(found: Proposal, look: RecheckResult, holder: str, now: datetime) -> Order | None:
    """Carry a proposal out as far as it may go now; return the call that is to be made, if any.

    Somebody who was faster, or a target that moved on, raises; then nothing was written.
    """
    places = local_steps.places(found, now)
    failpoint("before the claim")
    with store.all_or_stale():
        for place in places:
            locks.share(place.domain, found.controller_id, place.resource)
        proposal = take(found, now)
        order = None if lapsed(proposal, now) else go_on(proposal, look, places, holder, now)
        failpoint("before the claim commits")
    failpoint("after the claim commits")
    return order


def take(found: Proposal, now: datetime) -> Proposal:
    """Take a proposal as it was read, or say who was faster; what has begun goes on by itself."""
    going_on = found.state == "executing"
    seen = SeenRevision(found.revision, found.action_digest)
    rows = (
        Proposal.objects.filter(pk=found.pk, state="executing", holder="")
        if going_on
        else proposals.fitting(found.pk, "claim", now, seen)
    )
    mine = rows.filter(fence=found.fence, undoing=found.undoing)
    if not mine.update(lock=F("lock") + 1):
        raise proposals.explanation(found.pk, "finish" if going_on else "claim", now, seen)
    return Proposal.objects.select_related("controller", "resource").get(pk=found.pk)


def lapsed(proposal: Proposal, now: datetime) -> bool:
    """End a proposal whose time to begin is over, by the database's clock too."""
    late = Proposal.objects.filter(pk=proposal.pk, state="approved").exclude(
        execute_before__gt=current(now)
    )
    if not late.exists():
        return False
    if begun(proposal):
        break_off(proposal, "Its time was over before all of it was done.", now)
    else:
        moves.move(proposal, "lapse", now, {"reason": "It was not begun in time."}, run_at=None)
    return True


def begun(proposal: Proposal) -> bool:
    """Tell whether anything of a proposal was done, or may have been."""
    return steps.on_the_wire(proposal) or bool(steps.done_of(proposal))


def break_off(proposal: Proposal, reason: str, now: datetime) -> None:
    """End what has begun and cannot go on; what may have happened is for a person to say."""
    unknown = steps.on_the_wire(proposal)
    if proposal.state != "executing":
        moves.claim(proposal, "", [], now)
    if unknown:
        moves.lose(proposal, reason, now)
    else:
        moves.fail(proposal, reason, now)


def go_on(
    proposal: Proposal,
    look: RecheckResult,
    places: Iterable[EffectTarget],
    holder: str,
    now: datetime,
) -> Order | None:
    """Ask everything again, and do what may be done."""
    lock_rows(proposal, look)
    if not stands(proposal, look, now):
        return None
    ruling = gate_facts.examine(proposal, now)
    if ruling.word not in OPEN_TO_PEOPLE:
        moves.hold_back(proposal, ruling, now)
        return None
    given = authority.given(proposal, ruling, now)
    if not given:
        disown(proposal, ruling, now)
        return None
    if (unmet := preconditions.unmet(proposal)) and not steps.done_of(proposal):
        moves.move(proposal, "skip", now, {"reason": unmet}, error=unmet, run_at=None)
        return None
    if hold := local_steps.in_the_way(proposal, places, now):
        moves.hold_back(proposal, hold, now)
        return None
    moves.claim(proposal, holder, given, now)
    return carry_out(proposal, given, now)


def lock_rows(proposal: Proposal, look: RecheckResult) -> None:
    """Lock target and controller until the end, if they are still what was looked at."""
    keys = [each for each in (proposal.resource_id, proposal.controller_id) if each is not None]
    rows = Resource.objects.select_for_update(no_key=True).filter(pk__in=keys, deleted_at=None)
    found = {row.pk: row for row in rows.order_by("pk")}
    target = found.get(proposal.resource_id)
    if (target.resource_version if target else 0) != look.version:
        raise store.Stale("The target has changed since it was looked at.")
    controller = found.get(proposal.controller_id or 0)
    if look.generation is not None and (
        controller is None or controller.generation != look.generation
    ):
        raise store.Stale("The controller has changed since it looked.")
    if target is not None:
        proposal.resource = target
    if controller is not None:
        proposal.controller = controller


def stands(proposal: Proposal, look: RecheckResult, now: datetime) -> bool:
    """Tell whether the plan is what it was; if not, it goes back to where it came from."""
    if look.finding == "same":
        return True
    if proposal.state == "executing" or begun(proposal):
        break_off(proposal, "Its target was changed by others before all of it was done.", now)
    elif look.finding == "gone":
        gone = {"reason": "Its target, or its controller, is gone."}
        moves.move(proposal, "skip", now, gone, run_at=None)
    elif look.finding == "well":
        moves.move(proposal, "converge", now, {"reason": "Nothing is left to do."}, run_at=None)
    elif look.finding == "waits" and look.ruling is not None:
        moves.hold_back(proposal, look.ruling, now)
    elif look.finding == "moved" and proposal.controller_id is not None:
        # The next cycle says whether the approval outlives what has changed.
        moves.change(proposal, run_at=now + moves.PATIENCE)
        moves.look_again(proposal, now)
    else:
        ask_again(proposal, now)
    return False


def ask_again(proposal: Proposal, now: datetime) -> None:
    """Give a proposal back to people: what they approved is not what would be done now."""
    if proposal.controller_id is None:
        reason = "Its target was declared anew since it was approved."
        moves.ask_again(
            proposal, reason, now, **moves.rest_on(proposal, proposal.resource.generation)
        )
    else:
        moves.ask_again(proposal, "Its controller plans something else by now.", now)
        moves.look_again(proposal, now)


def disown(proposal: Proposal, ruling: Ruling, now: datetime) -> None:
    """Do nothing without authority: people are asked, again or for the first time."""
    reason = authority.shortfall(proposal, ruling, now)
    if proposal.undoing or begun(proposal):
        break_off(proposal, reason, now)
        return
    lane = "ask" if ruling.word == "run" else ruling.word
    needed = max(proposal.people, ruling.people, 1)
    moves.ask_again(proposal, reason, now, lane=lane, people=needed)


def carry_out(proposal: Proposal, given: authority.Authority, now: datetime) -> Order | None:
    """Do the steps of a claimed proposal one after the other, until one is in other hands."""
    try:
        for task in steps.remaining(proposal):
            if task.hand.executor == "control-plane":
                local_steps.perform(proposal, task, given, now)
            else:
                return permits.hand_out(proposal, task, given, now)
    except operations.Impossible as error:
        moves.fail(proposal, str(error), now)
    else:
        moves.finish(proposal, now)
    return None
