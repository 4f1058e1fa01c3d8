"""The fresh look: WATCH, DIFF and PLAN again for one resource, just before anything is done."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import datetime
from typing import Literal, NamedTuple

from controllers.decisions import gate_facts, holds
from controllers.decisions.creation.controller_plan import ProposalDraft, wants
from controllers.decisions.creation.proposal_refresh import plan_digest
from controllers.engine import configuration
from controllers.engine import cycle as engine
from controllers.engine.terms import Case, Controller, Renewed, Ruling
from controllers.execution import steps
from controllers.models import Proposal, Step
from controllers.workqueue import compiled_controllers
from controllers.workqueue.chunk_snapshot import one_view
from controllers.workqueue.cycle_effects import Looking
from controllers.workqueue.target_store import Reader
from resources.tables.models import Resource

# What a look finds: the very plan; the same for another reason; another one or none; nothing left
# to do; something to wait for; that its target is not there to be looked at.
Finding = Literal["same", "moved", "other", "well", "waits", "gone"]
UNSURE = "CannotJudge"


class RecheckResult(NamedTuple):
    """What a look at a proposal's target found, and of which version that is true."""

    finding: Finding
    version: int = 0
    # Of the controller that looked.
    generation: int | None = None
    # Why it has to wait.
    ruling: Ruling | None = None


def look(proposal: Proposal, now: datetime) -> RecheckResult:
    """Look at the target of a proposal as things are now."""
    row = Resource.objects.filter(pk=proposal.resource_id, deleted_at=None).first()
    if row is None:
        return RecheckResult("gone")
    if proposal.undoing:
        return RecheckResult("same", row.resource_version)
    begun = steps.done_of(proposal)
    if begun or not is_planned(proposal):
        same = row.generation == left_at(proposal, begun)
        return RecheckResult("same" if same else "moved", row.resource_version)
    try:
        found = planned_anew(proposal, compiled_controllers.load(proposal.controller_id or 0), now)
    except (Resource.DoesNotExist, compiled_controllers.Invalid):
        found = None
    return found or RecheckResult("gone", row.resource_version)


def is_planned(proposal: Proposal) -> bool:
    """Tell whether a proposal is the plan of a controller that we run ourselves."""
    if proposal.controller is None or proposal.proposer != str(proposal.controller):
        return False
    declared = compiled_controllers.attempt(
        (proposal.controller.pk, proposal.controller.generation)
    )
    return declared is None or declared.runner == "internal"


def left_at(proposal: Proposal, done: Iterable[Step]) -> int | None:
    """Return the generation in which the last step, or whoever proposed, left the target."""
    told = [each.result["generation"] for each in done if "generation" in each.result]
    generation: int | None = told[-1] if told else proposal.basis.get("generation")
    return generation


def look_at(resource: int, controller: Controller, now: datetime) -> Case | Renewed | None:
    """Take one resource through the phases up to its plan; nothing if nobody looks after it."""
    reader = Reader(controller, configuration.reads(controller))
    with one_view():
        seen = list(reader.snapshots(reader.among([resource])))
    means = Looking(controller, now=now, catalogue=gate_facts.traits)
    means.earned = gate_facts.earned_by(controller)
    means.only_propose = holds.only_proposes(controller.key, now)
    given = engine.Pass(controller, seen, means, now)
    return next(engine.reconcile(given, engine.Stopwatch(time.perf_counter)), None)


def planned_anew(
    proposal: Proposal, controller: Controller, now: datetime
) -> RecheckResult | None:
    """Hold a proposal against what its controller plans now; nothing if it looks elsewhere."""
    found = look_at(proposal.resource_id, controller, now)
    if isinstance(found, Renewed):
        return RecheckResult("well", found.version, controller.generation)
    return compared(proposal, controller, found) if found else None


def compared(proposal: Proposal, controller: Controller, case: Case) -> RecheckResult:
    """Say what a look means for a proposal."""
    judgement = case.judgement
    at = judgement.version, controller.generation
    if case.failure is not None:
        return RecheckResult("waits", *at, Ruling("refuse", UNSURE, judgement.message))
    if not judgement.drifted:
        unknown = Ruling("refuse", UNSURE, judgement.message)
        return (
            RecheckResult("well", *at)
            if judgement.score is not None
            else RecheckResult("waits", *at, unknown)
        )
    wanted = wants(controller, case)
    plan = wanted_as(proposal, wanted.plans)
    if plan is not None:
        return RecheckResult("same" if plan.plan.basis == proposal.basis_digest else "moved", *at)
    return (
        RecheckResult("waits", *at, wanted.waits) if wanted.waits else RecheckResult("other", *at)
    )


def wanted_as(proposal: Proposal, plans: Iterable[ProposalDraft]) -> ProposalDraft | None:
    """Return the plan that a proposal is, if it is still wanted."""
    return next((each for each in plans if each.plan.digest == plan_digest(proposal)), None)
