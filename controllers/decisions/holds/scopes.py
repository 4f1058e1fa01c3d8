"""What lies in the reach of a hold: the proposals it holds, and the steps under way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet

from controllers.common.clocks import current
from controllers.engine import precedence
from controllers.engine.precedence import Reach, Standing
from controllers.engine.proposal_lifecycle import State
from controllers.models import Hold, Judgement, Proposal, Runtime, Step

# What a hold keeps from running: nothing of it has begun.
HELD: tuple[State, ...] = ("approved", "recommended", "pending", "changes_requested")
UNDER_WAY = (Step.State.CLAIMED, Step.State.DISPATCHED)


class Flight(NamedTuple):
    """A step that had begun when a hold was placed."""

    step: int
    proposal: int
    operation: str
    target: str
    state: str
    # No call begins after this, and none outlasts it.
    deadline: datetime | None
    # The agent that took it.
    claimed_by: str = ""


def scope_of(hold: Hold, resource: str, controller: str) -> Q:
    """Say what lies in a hold's scope, by the columns that lead to a resource and a controller."""
    if hold.scope == Hold.Scope.ORGANISATION:
        return Q()
    if hold.scope == Hold.Scope.DOMAIN:
        return Q(**{f"{resource}__domain": hold.domain})
    if hold.scope == Hold.Scope.CONTROLLER:
        return Q(**{controller: hold.controller_id})
    return Q(**{resource: hold.resource_id})


def as_standing(hold: Hold) -> Standing:
    """Return a hold as precedence knows it."""
    return Standing(
        hold.pk,
        hold.kind,  # type: ignore[arg-type]
        hold.scope,  # type: ignore[arg-type]
        hold.reason,
        hold.author,
        hold.domain,
        hold.controller_id,
        hold.resource_id,
        hold.path,
        hold.ends_at,
        hold.in_flight,  # type: ignore[arg-type]
    )


def reaches(proposal: Proposal) -> Iterator[Reach]:
    """Yield what each action of a proposal touches."""
    return (reach(proposal, action) for action in proposal.actions)


def reach(proposal: Proposal, action: Mapping[str, Any]) -> Reach:
    """Return what one action of a proposal touches."""
    touched = tuple(action.get("touches", ()))
    row = proposal.resource
    return Reach(row.pk, row.domain, proposal.controller_id, touched)


def covers(hold: Standing, proposal: Proposal) -> bool:
    """Tell whether a hold stands in the way of any action of a proposal."""
    return any(precedence.covers(hold, each) for each in reaches(proposal))


def held_by(hold: Hold) -> QuerySet[Proposal]:
    """Return the proposals in a hold's scope that have not begun; `covers` sorts a field's."""
    rows = Proposal.objects.filter(scope_of(hold, "resource", "controller"), state__in=HELD)
    return rows.select_related("resource", "controller")


def put_off_by(hold: Hold) -> QuerySet[Proposal]:
    """Return the approved proposals in a hold's scope that were tried in vain, and wait."""
    rows = Proposal.objects.filter(state="approved", run_at__isnull=False).exclude(held="")
    return rows.filter(scope_of(hold, "resource", "controller"))


def under_way(hold: Hold, now: datetime, keys: Iterable[int] | None = None) -> tuple[Flight, ...]:
    """Return the steps in a hold's scope that have begun and may still do something."""
    rows = Step.objects.filter(
        scope_of(hold, "proposal__resource", "proposal__controller"),
        Q(deadline=None) | Q(deadline__gt=current(now)),
        state__in=UNDER_WAY,
    )
    if keys is not None:
        rows = rows.filter(pk__in=list(keys))
    stood = as_standing(hold)
    found = rows.select_related("proposal__resource").order_by("deadline", "pk")
    return tuple(flight(each) for each in found if precedence.covers(stood, touched(each)))


def touched(step: Step) -> Reach:
    """Return what a step touches: what its action says, or anything if it says nothing."""
    actions = (each for each in step.proposal.actions if each.get("sequence") == step.sequence)
    return reach(step.proposal, next(actions, {}))


def flight(step: Step) -> Flight:
    """Describe a step under way."""
    return Flight(
        step.pk,
        step.proposal_id,
        step.operation,
        str(step.proposal.resource),
        step.state,
        step.deadline,
        step.claimed_by,
    )


def controllers_of(hold: Hold) -> QuerySet[Runtime]:
    """Return the controllers that a hold has kept from something."""
    if hold.scope == Hold.Scope.ORGANISATION:
        return Runtime.objects.all()
    if hold.scope == Hold.Scope.CONTROLLER:
        return Runtime.objects.filter(pk=hold.controller_id)
    judged = Judgement.objects.filter(
        scope_of(hold, "resource", "controller"), controller=OuterRef("pk")
    )
    return Runtime.objects.filter(Exists(judged))
