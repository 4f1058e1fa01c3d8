"""A harbour without enough agents and its keeper, for the tests about what looks propose."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from controllers.engine.proposal_lifecycle import OPEN
from controllers.models import Decision, Proposal
from resources.tables.models import LedgerEvent, Resource
from tests.conftest import Clock
from tests.controllers.faults import acting, staffed, understaffed
from tests.controllers.making import declare, domain, work
from tests.resources.making import live

HARBOUR = "harbour"
REPAIR = {"onDrift": [{"type": "reconcile", "strategy": "immediate"}]}


def keeper(clock: Clock, mode: str = "warn", **spec: Any) -> Resource:
    """Declare the controller of harbours, or declare it anew."""
    declare(clock, acting(enforcementMode=mode, actions=REPAIR, **spec))
    return live("Controller", "keeper")


def lacking(clock: Clock, bound: int = 3, active: int = 1) -> Resource:
    """Declare a harbour with fewer agents at work than it should have."""
    understaffed(clock, HARBOUR, bound=bound, active=active)
    return live("Domain", HARBOUR)


def proposed(clock: Clock, mode: str = "warn", **spec: Any) -> Proposal:
    """Let the keeper see a harbour that lacks agents; return what it proposes."""
    lacking(clock)
    keeper(clock, mode, **spec)
    work(clock)
    return only()


def look(clock: Clock, **later: float) -> None:
    """Let the keeper look again."""
    clock.advance(**later or {"minutes": 5})
    work(clock)


def only() -> Proposal:
    """Return the one open proposal."""
    return Proposal.objects.select_related("resource").get(state__in=OPEN)


def again(proposal: Proposal) -> Proposal:
    """Return a proposal as it stands now."""
    return Proposal.objects.select_related("resource", "superseded_by").get(pk=proposal.pk)


def staff(clock: Clock, active: int) -> None:
    """Report how many agents are at work."""
    staffed(clock, HARBOUR, active)


def edit_harbour(clock: Clock, purpose: str) -> None:
    """Declare the harbour anew in a way that leaves what is to be done as it was."""
    spec = live("Domain", HARBOUR).spec | {"purpose": purpose}
    declare(clock, domain(HARBOUR) | {"spec": spec})


def vote(clock: Clock, proposal: Proposal, person: User) -> Decision:
    """Write down a vote for a proposal as it stands."""
    return Decision.objects.create(
        proposal=proposal,
        revision=proposal.revision,
        person=person,
        actor=f"person/{person.username}",
        answer="approve",
        shown=proposal.action_digest,
        at=clock.now,
    )


def approve(clock: Clock, proposal: Proposal, person: User) -> None:
    """Write down that a proposal is approved, to be carried out only much later."""
    vote(clock, proposal, person)
    later = clock.now.replace(year=clock.now.year + 1)
    Proposal.objects.filter(pk=proposal.pk).update(
        state="approved",
        decided_by=f"person/{person.username}",
        decided_at=clock.now,
        answer="approve",
        run_at=later,
        execute_before=later,
    )


def story(proposal: Proposal) -> list[str]:
    """Return what the ledger tells of a proposal, in its order."""
    told = LedgerEvent.objects.filter(stream=proposal.stream).order_by("seq")
    return [each.removeprefix("proposal.") for each in told.values_list("event", flat=True)]
