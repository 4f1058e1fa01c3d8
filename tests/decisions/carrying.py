"""Short ways to approved proposals and to the worker that carries them out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User

from controllers import execution
from controllers.decisions import answers
from controllers.decisions.creation.controller_plan import wants
from controllers.engine.proposal_lifecycle import LAPSES
from controllers.engine.terms import Case
from controllers.execution import recheck
from controllers.loop.cycle_run import Means
from controllers.models import Decision, Proposal, Step
from controllers.workqueue import compiled_controllers
from resources.documents.actor import Actor
from resources.tables.models import LedgerEvent, Resource
from resources.usecases import statuses
from tests.conftest import Clock
from tests.decisions.making import AGENT, action, agent, controller, proposal, seen
from tests.resources.making import apply, live

LIMIT = 1_000_000
DAY = timedelta(days=1)
THROTTLING = {"onDrift": [{"type": "reconcile", "operation": "throttle", "strategy": "immediate"}]}


def overspending(clock: Clock, name: str = AGENT, **spec: Any) -> Resource:
    """Declare an agent that uses twice what it may in a day."""
    agent(clock, name, **spec)
    consume(clock, name, 2 * LIMIT)
    return live("Agent", name)


def consume(clock: Clock, name: str, tokens: int) -> None:
    """Let an agent report how many tokens it used."""
    told = {"state": "running", "costConsumed": {"tokens": tokens, "period": "daily"}}
    report = statuses.Report("Agent", name, told)
    assert not statuses.observe([report], actor=Actor("agent", name), now=clock.now)[0].failed


def keeper(clock: Clock, **spec: Any) -> Resource:
    """Declare a controller that throttles agents beyond their limits."""
    weights = {"budget": 1, "kpi": 0, "health": 0, "security": 0}
    usual: dict[str, Any] = {"actions": THROTTLING, "drift": {"weights": weights}}
    return controller(clock, **(usual | spec))


def planned(clock: Clock, owner: Resource, resource: Resource, **given: Any) -> Proposal:
    """Make the proposal that a controller's own look at a resource leads to."""
    declared = compiled_controllers.load(owner.pk)
    case = recheck.look_at(resource.pk, declared, clock.now)
    assert isinstance(case, Case)
    (wanted,) = wants(declared, case).plans
    row = {
        "actions": [dict(each) for each in wanted.plan.actions],
        "basis": dict(wanted.basis),
        "action_digest": wanted.plan.digest,
        "basis_digest": wanted.plan.basis,
        "lane": wanted.plan.lane,
        "people": max(1, wanted.plan.people),
        "policy": dict(wanted.policy),
        "mode": declared.mode,
    }
    return proposal(clock, resource, owner, **(row | given))


def approve(clock: Clock, wish: Proposal, *people: User) -> Proposal:
    """Let people approve a proposal."""
    for person in people:
        wish = answers.approve(
            wish.pk, person=person, seen=seen(wish), now=clock.now, reason="It is right."
        )
    assert wish.state == "approved"
    return wish


def authorise(clock: Clock, wish: Proposal) -> Proposal:
    """Let the policy approve a proposal, as it is when a controller may act alone."""
    Decision.objects.create(
        proposal=wish,
        revision=wish.revision,
        actor=f"policy/{wish.mode}@1",
        answer="approve",
        shown=wish.action_digest,
        at=clock.now,
    )
    Proposal.objects.filter(pk=wish.pk).update(
        state="approved",
        lane="run",
        run_at=clock.now,
        execute_before=clock.now + LAPSES[wish.risk],
    )
    return now(wish)


def run(clock: Clock, holder: str = "worker") -> int:
    """Be a worker for one round."""
    return execution.run_due(holder, Means(clock=lambda: clock.now))


def now(wish: Proposal) -> Proposal:
    """Return a proposal as it is now."""
    return Proposal.objects.select_related("controller", "resource").get(pk=wish.pk)


def state(wish: Proposal) -> str:
    return now(wish).state


def limit(name: str = AGENT) -> int:
    """Return the daily tokens an agent is declared to have."""
    return int(live("Agent", name).spec["tokenBudget"]["maxDaily"])


def steps(wish: Proposal) -> list[Step]:
    """Return the steps of a proposal: those forward, then those back."""
    return list(Step.objects.filter(proposal=wish).order_by("undoes", "sequence"))


def story(wish: Proposal) -> list[str]:
    """Return what the ledger tells about a proposal, in its order."""
    told = LedgerEvent.objects.filter(stream=wish.stream).order_by("seq")
    return [each.removeprefix("proposal.") for each in told.values_list("event", flat=True)]


def wait(clock: Clock) -> None:
    """Let as much time pass as something held waits before it is tried again."""
    clock.advance(seconds=31)


def restarting(name: str = AGENT, **given: Any) -> dict[str, Any]:
    """Write the action that lets an agent start anew, which itself or a machine has to do."""
    return action(name, "restart", parameters={"agent": name}, touches=["status.state"]) | given


def workflow(clock: Clock, name: str = "release") -> Resource:
    """Declare a workflow that one agent works on."""
    document = {
        "apiVersion": "ioa.dev/v0.2",
        "kind": "Workflow",
        "metadata": {"name": name},
        "spec": {
            "description": "Writes what is released.",
            "domainsInvolved": ["growth"],
            "trigger": {"type": "manual"},
            "steps": [{"name": "write", "agent": AGENT, "action": "write"}],
        },
    }
    assert apply(clock.now, document).written
    return live("Workflow", name)


def starting(name: str = "release", **given: Any) -> dict[str, Any]:
    """Write the action that starts a workflow, which must not happen twice."""
    parameters, touches = {"workflow": name}, ["status.state"]
    about = {"target": f"workflow/{name}", "risk": "medium", "touches": touches}
    return action(name, "start", parameters=parameters) | about | given
