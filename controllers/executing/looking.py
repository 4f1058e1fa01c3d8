"""The fresh look: WATCH, DIFF and PLAN again for one resource, just before anything is done."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import datetime
from typing import Literal, NamedTuple

from controllers import compiled, gating, holds
from controllers.effects import Looking
from controllers.engine import cycle as engine
from controllers.engine.types import Case, Controller, Renewed, Ruling
from controllers.executing import steps
from controllers.models import Proposal, Step
from controllers.proposing.refreshing import plan_digest
from controllers.proposing.wanting import Wanted, wants
from controllers.sights import one_view
from controllers.store import Reader
from resources.models import Resource

# What a look finds: the very plan; the same for another reason; another one or none; nothing left
# to do; something to wait for; that its target is not there to be looked at.
Finding = Literal["same", "moved", "other", "well", "waits", "gone"]
UNSURE = "CannotJudge"


class Look(NamedTuple):
    """What a look at a proposal's target found, and of which version that is true."""

    finding: Finding
    version: int = 0
    # Of the controller that looked.
    generation: int | None = None
    # Why it has to wait.
    ruling: Ruling | None = None


def look(proposal: Proposal, now: datetime) -> Look:
    """Look at the target of a proposal as things are now."""
    row = Resource.objects.filter(pk=proposal.resource_id, deleted_at=None).first()
    if row is None:
        return Look("gone")
    if proposal.undoing:
        return Look("same", row.resource_version)
    begun = steps.done_of(proposal)
    if begun or not is_planned(proposal):
        same = row.generation == left_at(proposal, begun)
        return Look("same" if same else "moved", row.resource_version)
    try:
        found = planned_anew(proposal, compiled.load(proposal.controller_id or 0), now)
    except (Resource.DoesNotExist, compiled.Invalid):
        found = None
    return found or Look("gone", row.resource_version)


def is_planned(proposal: Proposal) -> bool:
    """Tell whether a proposal is the plan of a controller that we run ourselves."""
    if proposal.controller is None or proposal.proposer != str(proposal.controller):
        return False
    declared = compiled.attempt((proposal.controller.pk, proposal.controller.generation))
    return declared is None or declared.runner == "internal"


def left_at(proposal: Proposal, done: Iterable[Step]) -> int | None:
    """Return the generation in which the last step, or whoever proposed, left the target."""
    told = [each.result["generation"] for each in done if "generation" in each.result]
    generation: int | None = told[-1] if told else proposal.basis.get("generation")
    return generation


def look_at(resource: int, controller: Controller, now: datetime) -> Case | Renewed | None:
    """Take one resource through the phases up to its plan; nothing if nobody looks after it."""
    reader = Reader(controller, compiled.reads(controller))
    with one_view():
        seen = list(reader.snapshots(reader.among([resource])))
    means = Looking(controller, now=now, catalogue=gating.traits)
    means.earned = gating.earned_by(controller)
    means.only_propose = holds.only_proposes(controller.key, now)
    given = engine.Pass(controller, seen, means, now)
    return next(engine.reconcile(given, engine.Stopwatch(time.perf_counter)), None)


def planned_anew(proposal: Proposal, controller: Controller, now: datetime) -> Look | None:
    """Hold a proposal against what its controller plans now; nothing if it looks elsewhere."""
    found = look_at(proposal.resource_id, controller, now)
    if isinstance(found, Renewed):
        return Look("well", found.version, controller.generation)
    return compared(proposal, controller, found) if found else None


def compared(proposal: Proposal, controller: Controller, case: Case) -> Look:
    """Say what a look means for a proposal."""
    judgement = case.judgement
    at = judgement.version, controller.generation
    if case.failure is not None:
        return Look("waits", *at, Ruling("refuse", UNSURE, judgement.message))
    if not judgement.drifted:
        unknown = Ruling("refuse", UNSURE, judgement.message)
        return Look("well", *at) if judgement.score is not None else Look("waits", *at, unknown)
    wanted = wants(controller, case)
    plan = wanted_as(proposal, wanted.plans)
    if plan is not None:
        return Look("same" if plan.plan.basis == proposal.basis_digest else "moved", *at)
    return Look("waits", *at, wanted.waits) if wanted.waits else Look("other", *at)


def wanted_as(proposal: Proposal, plans: Iterable[Wanted]) -> Wanted | None:
    """Return the plan that a proposal is, if it is still wanted."""
    return next((each for each in plans if each.plan.digest == plan_digest(proposal)), None)
