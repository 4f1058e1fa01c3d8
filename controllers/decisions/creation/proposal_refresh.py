"""Hold what is proposed against what a look found: a chunk at a time, nothing if nothing moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from controllers.decisions.creation import controller_plan, plan_diff
from controllers.decisions.creation.controller_plan import ProposalDraft, Stopped, Wants
from controllers.decisions.creation.open_proposals import NOTHING, Standing, read
from controllers.decisions.creation.plan_diff import Change, Plan
from controllers.decisions.creation.suppression import admitted, unshadowed
from controllers.decisions.creation.verification import Effect, effect
from controllers.engine.terms import Case, Controller, Renewed, Ruling
from controllers.models import Cycle, Proposal
from resources.documents.actor import Actor

# A plan that stands is confirmed no more often than this.
CONFIRMED_EVERY = timedelta(minutes=15)
URGENCIES = ("none", "low", "medium", "high", "critical")


class CycleContext(Protocol):
    """A cycle under way, as far as proposals ask for it."""

    @property
    def controller(self) -> Controller:
        """Whose cycle it is."""

    @property
    def cycle(self) -> Cycle:
        """Its record."""

    @property
    def actor(self) -> Actor:
        """The controller as the one who acts."""

    @property
    def interested(self) -> tuple[str, ...]:
        """The people behind it, who may not approve what it proposes."""


@dataclass
class Changes:
    """What is to be written about the proposals of a chunk."""

    # With what each new one takes the place of.
    created: list[tuple[ProposalDraft, Proposal | None]] = field(default_factory=list)
    revised: list[tuple[Proposal, ProposalDraft, Change]] = field(default_factory=list)
    # With the reason; its successor, if there is one, is among those created.
    superseded: list[tuple[Proposal, str]] = field(default_factory=list)
    converged: list[Proposal] = field(default_factory=list)
    confirmed: list[tuple[Proposal, Case]] = field(default_factory=list)
    held: list[tuple[Proposal, str, str]] = field(default_factory=list)
    woken: list[Proposal] = field(default_factory=list)
    verified: list[tuple[Proposal, Effect]] = field(default_factory=list)
    stopped: list[Stopped] = field(default_factory=list)
    # How many plans are beyond what a controller may propose at once.
    surplus: int = 0

    def __bool__(self) -> bool:
        return any(vars(self).values())

    @property
    def touched(self) -> list[Proposal]:
        """The proposals that are there already."""
        changed = (self.revised, self.superseded, self.converged, self.held, self.woken)
        return [subject(each) for some in (*changed, self.verified) for each in some]

    def leave(self, keys: set[int]) -> None:
        """Leave some proposals as they are, and what was to take their place with them."""
        gone = [name for name in vars(self) if name not in ("created", "stopped", "surplus")]
        for name in gone:
            kept = [each for each in getattr(self, name) if subject(each).pk not in keys]
            setattr(self, name, kept)
        self.created = [each for each in self.created if each[1] is None or each[1].pk not in keys]


def subject(change: Proposal | tuple[Any, ...]) -> Proposal:
    """Return the proposal that a change is about."""
    return change if isinstance(change, Proposal) else change[0]


def weigh(
    look: CycleContext, cases: Sequence[Case], renewed: Sequence[Renewed], now: datetime
) -> Changes:
    """Find out what is to be written about the proposals of some resources."""
    changes, controller = Changes(), look.controller
    keys = {each.judgement.resource for each in cases}
    standing = read(controller.key, keys.union([each.resource for each in renewed]))
    for case in cases:
        found, judgement = standing.pop(case.judgement.resource, NOTHING), case.judgement
        verify(look, found, judgement.drifted, judgement.score, changes)
        if judgement.drifted:
            weigh_drifted(found, case, controller_plan.wants(controller, case), changes, now)
        elif judgement.score is not None:
            converge(found, changes)
    for found in standing.values():
        verify(look, found, False, 0.0, changes)
        converge(found, changes)
    if changes.created:
        changes.created, changes.surplus = admitted(controller, changes.created, now)
    if changes.stopped:
        changes.stopped = unshadowed(controller, changes.stopped, now - CONFIRMED_EVERY)
    return changes


def verify(
    look: CycleContext, found: Standing, drifted: bool, score: float | None, changes: Changes
) -> None:
    """Judge what was carried out before the cycle began by what it found."""
    for each in found.begun:
        if each.undoing or each.state not in ("verifying", "unknown"):
            continue
        if look.cycle.started_at <= (each.executed_at or each.changed_at):
            continue
        shown = effect(each.score, drifted, score)
        # Of what nobody heard again only the end of the drift tells that it happened.
        if shown is not None and (each.state == "verifying" or not drifted):
            changes.verified.append((each, shown))


def converge(found: Standing, changes: Changes) -> None:
    """Close what has nothing left to do."""
    for each in found.waiting:
        if compared(each, None) == "converge":
            changes.converged.append(each)


def weigh_drifted(
    found: Standing, case: Case, wants: Wants, changes: Changes, now: datetime
) -> None:
    """Hold the open proposals about a resource against what its controller wants now."""
    changes.stopped.extend(wants.stopped)
    taken = {plan_digest(each) for each in found.begun}
    plans = [each for each in wants.plans if each.plan.digest not in taken]
    pairs = paired(found.waiting, plans)
    for standing, wanted in pairs:
        weigh_pair(standing, wanted, case, changes, now)
    met = {id(wanted) for _, wanted in pairs}
    changes.created.extend((each, None) for each in plans if id(each) not in met)
    seen = {standing.pk for standing, _ in pairs}
    for standing in found.waiting:
        if standing.pk not in seen:
            leave(standing, wants.waits, changes)


def paired(
    standing: Sequence[Proposal], plans: Sequence[ProposalDraft]
) -> list[tuple[Proposal, ProposalDraft]]:
    """Find for each open proposal the plan it has become: the same, then one that goes its way."""
    pairs: list[tuple[Proposal, ProposalDraft]] = []
    rest, left = list(standing), list(plans)
    for same in (is_same, goes_its_way, is_any):
        for each in list(rest):
            wanted = next((plan for plan in left if same(each, plan)), None)
            if wanted is not None:
                pairs.append((each, wanted))
                rest.remove(each)
                left.remove(wanted)
    return pairs


def is_same(standing: Proposal, wanted: ProposalDraft) -> bool:
    """Tell whether a proposal and a plan would do the same."""
    return plan_digest(standing) == wanted.plan.digest


def goes_its_way(standing: Proposal, wanted: ProposalDraft) -> bool:
    """Tell whether a proposal and a plan are decided in the same way."""
    return standing.lane == wanted.plan.lane


def is_any(_: Proposal, __: ProposalDraft) -> bool:
    """Take what is left: about one resource a new plan takes the place of an old one."""
    return True


def weigh_pair(
    standing: Proposal, wanted: ProposalDraft, case: Case, changes: Changes, now: datetime
) -> None:
    """Decide what becomes of an open proposal for which there is a plan."""
    change = compared(standing, wanted)
    if change == "supersede":
        changes.superseded.append((standing, "Another plan takes its place."))
        changes.created.append((wanted, standing))
    elif change != "confirm":
        changes.revised.append((standing, wanted, change))
    else:
        if (standing.held, standing.held_reason) != (wanted.held, wanted.held_reason):
            changes.held.append((standing, wanted.held, wanted.held_reason))
        confirm(standing, case, changes, now)


def confirm(standing: Proposal, case: Case, changes: Changes, now: datetime) -> None:
    """Note that a plan stands, now and then; one that people put aside may come back."""
    score, urgency = case.judgement.score, case.judgement.urgency
    above = standing.quiet_above
    if above is not None and score is not None and score > above:
        changes.woken.append(standing)
    risen = URGENCIES.index(urgency) > URGENCIES.index(standing.urgency)
    if risen or now - standing.confirmed_at >= CONFIRMED_EVERY:
        changes.confirmed.append((standing, case))


def leave(standing: Proposal, waits: Ruling | None, changes: Changes) -> None:
    """Keep a proposal whose plan only waits; close one that is no longer wanted."""
    if waits is None:
        changes.superseded.append((standing, "Its controller no longer plans it."))
    elif (standing.held, standing.held_reason) != (waits.code, waits.reason):
        changes.held.append((standing, waits.code, waits.reason))


def compared(standing: Proposal, wanted: ProposalDraft | None) -> Change:
    """Hold a proposal against the plan of now."""
    state: Any = standing.state
    return plan_diff.compare(state, as_plan(standing), wanted.plan if wanted else None)


def as_plan(proposal: Proposal) -> Plan:
    """Return what a proposal comes to, as its proposer planned it."""
    digest = plan_digest(proposal)
    return Plan(
        digest,
        proposal.basis_digest,
        proposal.lane,  # type: ignore[arg-type]
        proposal.risk,  # type: ignore[arg-type]
        proposal.people,
        tuple(proposal.actions),
        edited=digest != proposal.action_digest,
    )


def plan_digest(proposal: Proposal) -> str:
    """Name what was planned, whatever people made of it since."""
    return proposal.planned_digest or proposal.action_digest
