"""A proposal as a controller's plan makes it, and as a later plan changes it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from controllers.decisions.creation.controller_plan import ProposalDraft
from controllers.decisions.creation.plan_diff import Change
from controllers.decisions.creation.proposal_refresh import CycleContext
from controllers.engine import gate, proposal_lifecycle
from controllers.engine.proposal_lifecycle import LAPSES, WAITS
from controllers.engine.terms import Case
from controllers.models import Proposal
from resources.tables.models import Resource

BORN = {"run": "approved", "ask": "pending", "recommend": "recommended"}
UNDECIDED: dict[str, Any] = {
    "decided_at": None,
    "decided_by": "",
    "answer": "",
    "reason": "",
    "run_at": None,
    "execute_before": None,
}


def born(
    look: CycleContext, wanted: ProposalDraft, former: Proposal | None, now: datetime
) -> Proposal:
    """Make the proposal of a plan, with the thread of the one before it, not its votes."""
    plan, controller = wanted.plan, look.controller
    proposal = Proposal(
        controller_id=controller.key,
        resource=target(wanted.case),
        proposer=str(look.actor),
        interested=list(look.interested),
        state=BORN[plan.lane],
        lane=plan.lane,
        people=plan.people,
        held=wanted.held,
        held_reason=wanted.held_reason,
        created_at=now,
        changed_at=now,
        expires_at=now + WAITS[plan.risk],
        thread_id=(former.thread_id or former.pk) if former is not None else None,
        correlation_id=look.cycle.correlation_id,
        **clocks(wanted, controller.generation, now),
    )
    describe(proposal, wanted)
    see(proposal, wanted.case, now)
    return proposal


def clocks(wanted: ProposalDraft, generation: int, now: datetime) -> dict[str, Any]:
    """Return the answer of the policy, when nobody has to be asked."""
    if wanted.plan.lane != "run":
        return {}
    return {
        "decided_at": now,
        "decided_by": f"policy/{authority(wanted)}@{generation}",
        "answer": "approve",
        "run_at": now,
        "execute_before": now + LAPSES[wanted.plan.risk],
    }


def authority(wanted: ProposalDraft) -> str:
    """Name what lets a plan run: what was earned, or the mode."""
    earned = wanted.policy.get("code") == gate.EARNED
    return "earned" if earned else str(wanted.policy["mode"])


def target(case: Case) -> Resource:
    """Return the resource of a case as far as a proposal names it."""
    kind, name = "", ""
    if case.plan is not None:
        kind, name = case.plan.snapshot.target.kind, case.plan.snapshot.target.name
    return Resource(pk=case.judgement.resource, kind=kind, name=name)


def domain_of(case: Case) -> str:
    """Return the domain of the resource of a case."""
    return case.plan.snapshot.target.domain if case.plan is not None else ""


def renew(proposal: Proposal, wanted: ProposalDraft, change: Change, now: datetime) -> None:
    """Begin a new revision with what is planned now; what people changed of it stays theirs."""
    state: Any = proposal.state
    edited = proposal.planned_digest not in ("", proposal.action_digest)
    actions, digest = proposal.actions, proposal.action_digest
    describe(proposal, wanted)
    see(proposal, wanted.case, now)
    if edited:
        proposal.actions, proposal.action_digest = actions, digest
    proposal.revision, proposal.lock = proposal.revision + 1, proposal.lock + 1
    proposal.held, proposal.held_reason = wanted.held, wanted.held_reason
    proposal.changed_at = now
    if change == "revise" or state == "changes_requested":
        proposal.state = proposal_lifecycle.after(state, "revise")
        proposal.expires_at = now + WAITS[wanted.plan.risk]
        proposal.quiet_until = proposal.quiet_above = None
        for name, value in UNDECIDED.items():
            setattr(proposal, name, value)


def describe(proposal: Proposal, wanted: ProposalDraft) -> None:
    """Write a plan and what it rests on into a proposal."""
    plan = wanted.plan
    proposal.actions = list(plan.actions)
    proposal.action_digest = proposal.planned_digest = plan.digest
    proposal.basis, proposal.basis_digest = dict(wanted.basis), plan.basis
    proposal.cause, proposal.risk, proposal.reversible = wanted.cause, plan.risk, wanted.reversible
    proposal.policy = dict(wanted.policy)
    proposal.mode = proposal.policy["mode"]


def see(proposal: Proposal, case: Case, now: datetime) -> None:
    """Write what a look found into a proposal."""
    judgement = case.judgement
    proposal.score, proposal.urgency = judgement.score, judgement.urgency
    proposal.explanation, proposal.evidence = judgement.message, list(judgement.evidence)
    proposal.confirmed_at = now
