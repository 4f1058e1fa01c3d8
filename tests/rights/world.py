"""Two domains that know nothing of each other: every text of each carries its own mark.

And people of every role, in the one, in the other, and for the whole organisation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.utils import timezone

from controllers.decisions import holds, proposals
from controllers.loop.cycle_run import Means
from controllers.models import (
    Alert,
    Delivery,
    DriftSample,
    Endpoint,
    Grant,
    Usage,
    WorkflowRun,
)
from controllers.worker import worker_loop
from resources.documents.actor import SYSTEM, Actor
from resources.tables.models import Resource
from resources.usecases import tokens
from tests.conftest import Clock, given
from tests.decisions import making
from tests.resources.making import apply, live, made, report

# What each domain's texts carry; whoever belongs to the one never reads the other's.
MARKS = {"gro4x": "fin7q", "fin7q": "gro4x"}
HERE, THERE = MARKS
KEEPER = "keeper"
ROLES = tuple(Grant.Role.values)
STAFF = ("operator", "administrator", "auditor")


@dataclass(frozen=True)
class Principal:
    """Somebody who asks: a role in a place, or none; or the token of an agent."""

    name: str
    client: Client
    role: str = ""
    place: str | None = None
    token: str = ""

    def ask(self, verb: str, address: str, **sent: Any) -> Any:
        """Send a request."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return getattr(self.client, verb.lower())(address, headers=headers, **sent)


@dataclass(frozen=True)
class Place:
    """What there is in one domain."""

    mark: str
    agent: Resource
    proposal: Any
    hold: Any
    run: Any
    story: str
    token: str = ""
    machine: str = ""


def build() -> dict[str, Place]:
    """Fill both domains, and let the loop look at them."""
    clock = Clock()
    clock.now = timezone.now()
    own = {"description": "Everybody's."}
    making.controller(clock, KEEPER)
    rules = {"apiVersion": "ioa.dev/v0.2", "kind": "Governance", "spec": {"domain": "*"}}
    assert apply(clock.now, rules | {"metadata": {"name": "house-rules", **own}}).written
    for mark in MARKS:
        declare(clock, mark)
    worker_loop.work("test", Means(lambda: clock.now))
    return {mark: filled(clock, mark) for mark in MARKS}


def declare(clock: Clock, mark: str) -> None:
    """Declare the resources of a domain."""
    label = {"labels": {f"{mark}-team": f"{mark}-value"}, "owner": f"{mark} Owner"}
    outcome = apply(
        clock.now,
        made("Domain", mark, {"purpose": f"{mark} purpose."}, metadata=label),
        made(
            "Agent",
            f"{mark}-agent",
            {"domain": mark, "purpose": f"{mark} agent.", "tokenBudget": {"maxDaily": 1000}},
            metadata=label,
        ),
        made("Budget", f"{mark}-budget", {"domain": mark}, metadata=label),
        made("SecurityPolicy", f"{mark}-policy", {"domain": mark}, metadata=label),
        {
            "apiVersion": "ioa.dev/v0.2",
            "kind": "Workflow",
            "metadata": {"name": f"{mark}-flow", **label},
            "spec": {
                "description": f"{mark} flow.",
                "domainsInvolved": [mark],
                "trigger": {"type": "manual"},
                "steps": [
                    {
                        "name": f"{mark}-step",
                        "agent": f"{mark}-agent",
                        "action": f"{mark}-do",
                        "domain": mark,
                    }
                ],
            },
        },
    )
    assert outcome.written, [each.problems for each in outcome.results]
    report(clock.now, f"{mark}-agent", {"phase": "Running", "note": f"{mark} status"})


def filled(clock: Clock, mark: str) -> Place:
    """Let everything happen in a domain that leaves texts behind."""
    now, agent, keeper = clock.now, live("Agent", f"{mark}-agent"), live("Controller", KEEPER)
    story = f"{mark}-story"
    plan = making.action(agent.name, why=f"{mark} why.", otherwise=f"{mark} otherwise.")
    row = making.proposal(
        clock,
        agent,
        keeper,
        actions=[plan],
        explanation=f"{mark} explanation",
        cause=mark * 10,
        correlation_id=story,
    )
    with transaction.atomic():
        proposals.tell(row, "created", actor=SYSTEM, now=now)
    placer = given(User.objects.create(username=f"{mark}-placer"), "operator", domain=mark)
    wanted = holds.HoldRequest(
        "pause",
        "resource",
        f"{mark} reason.",
        resource=live("Budget", f"{mark}-budget").pk,
        ends_at=now + timedelta(hours=1),
    )
    hold = holds.place(wanted, person=placer, now=now).hold
    alert = Alert.objects.create(
        controller=keeper,
        resource=agent,
        reason="Drifted",
        severity="warning",
        message=f"{mark} alert",
        correlation_id=story,
        raised_at=now,
    )
    told: list[dict[str, Any]] = [{"alert": alert}, {"proposal": row}, {"hold": hold}]
    for number, about in enumerate(told):
        Delivery.objects.create(
            key=f"{mark}-{number}",
            severity="warning",
            title=f"{mark} title {number}",
            body=f"{mark} body",
            state="in_app",
            run_at=now,
            created_at=now,
            **about,
        )
    DriftSample.objects.create(
        controller=keeper, resource=agent, at=now, score=0.5, drifted=True, dimensions={}
    )
    Usage.objects.create(
        agent=agent,
        record=f"{mark}-record",
        digest="d" * 64,
        domain=mark,
        day=now.date(),
        at=now,
        received_at=now,
        tokens_in=1,
        tokens_out=1,
        cost=1,
        currency="USD",
        priced="given",
        model=f"{mark}-model",
        correlation_id=story,
    )
    Endpoint.objects.create(
        name=f"{mark}-machine",
        url=f"https://{mark}.example.com/",
        operations=["restart"],
        domain=mark,
        changed_at=now,
        changed_by=f"person/{mark}-placer",
    )
    run = started(mark, now, story)
    return Place(mark, agent, row, hold, run, story, token_of(mark, now), f"{mark}-machine")


def token_of(mark: str, now: datetime) -> str:
    """Give the agent of a domain a token; return what it is called."""
    issued = tokens.issue(
        f"{mark}-agent", scopes=["status:write"], lifetime=timedelta(1), actor=SYSTEM, now=now
    )
    return issued.token.key_id


def started(mark: str, now: datetime, story: str) -> WorkflowRun:
    """Put a run there."""
    flow = live("Workflow", f"{mark}-flow")
    return WorkflowRun.objects.create(
        workflow=flow,
        state="executing",
        generation=flow.generation,
        revision=flow.resource_version,
        plan={"steps": []},
        trigger=f"{mark} trigger",
        started_by=f"person/{mark}-placer",
        created_at=now,
        correlation_id=story,
        request_digest="d" * 64,
        reason=f"{mark} run",
    )


def people() -> Iterator[Principal]:
    """Yield somebody for each role and place, somebody without any, and nobody."""
    yield Principal("anonymous", Client())
    yield Principal("without a role", signed_in(User.objects.create(username="newcomer")))
    for place in (HERE, THERE, ""):
        for role in ROLES:
            name = f"{place or 'whole'}-{role}"
            user = User.objects.create(username=name, is_staff=role in STAFF)
            yield Principal(
                name, signed_in(given(user, role, domain=place)), role=role, place=place
            )


def agents() -> Iterator[Principal]:
    """Yield the token of an agent of each domain, with every scope."""
    for mark in MARKS:
        issued = tokens.issue(
            f"{mark}-agent",
            scopes=tuple(tokens.SCOPES),
            lifetime=timedelta(hours=1),
            actor=Actor("system", "ioa"),
            now=timezone.now(),
        )
        yield Principal(f"{mark} token", Client(), place=mark, token=issued.text)


def signed_in(user: User) -> Client:
    """Return the browser of somebody."""
    client = Client(raise_request_exception=True)
    client.force_login(user)
    return client
