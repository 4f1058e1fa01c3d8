"""A few agents with proposals about them, quick to make, and forms sent as browsers do."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client

from controllers.access import people
from controllers.decisions import proposals
from controllers.models import Proposal
from resources.documents.actor import SYSTEM
from resources.tables.models import Resource
from tests.conftest import Clock
from tests.decisions import making

HTMX = {"HX-Request": "true"}
CONTROLLER = "agent-performance"
CAUSE = "c" * 64
EVIDENCE = [
    {
        "dimension": "kpi",
        "subject": "kpi/errorRate",
        "verdict": "missed",
        "desired": "<= 0.02 ratio",
        "observed": 0.061,
    },
    {
        "dimension": "health",
        "subject": "condition/ToolsReachable",
        "verdict": "missed",
        "desired": "True",
        "observed": "False",
        "note": "6.1% of calls fail.",
    },
]


def settle(clock: Clock) -> Resource:
    """Add the people and a controller, and propose something about three agents."""
    people.ensure_administrator(clock.now)
    people.ensure_samples(clock.now)
    keeper = making.controller(clock, CONTROLLER)
    for name in ("growth-optimizer", "offer-designer", "support-triage"):
        tokens = {"maxDaily": 2_500_000}
        throttled(clock, making.agent(clock, name, tokenBudget=tokens), keeper)
    return keeper


def throttled(
    clock: Clock, agent: Resource, keeper: Resource | None = None, **given: Any
) -> Proposal:
    """Propose to throttle an agent."""
    plan = making.action(agent.name, sequence=2, parameters={"agent": agent.name, "factor": 0.58})
    usual = {"actions": [plan], "evidence": EVIDENCE, "score": 0.4, "cause": CAUSE}
    row = making.proposal(clock, agent, keeper, **(usual | given))
    proposals.tell(row, "created", actor=SYSTEM, now=clock.now)
    return row


def of(operation: str) -> Proposal:
    """Return the first open proposal that would do something."""
    rows = Proposal.objects.select_related("resource", "controller").order_by("pk")
    return next(each for each in rows if each.actions[0]["operation"] == operation)


def answer(
    client: Client, proposal: Proposal, verdict: str, headers: Any = None, **typed: str
) -> Any:
    """Send a form as a browser does."""
    place = typed.pop("place", "page")
    address = f"/approvals/{proposal.pk}/decide?verdict={verdict}&place={place}"
    data = {"tag": proposal.tag, **typed}
    return client.post(address, data, headers=headers or {})


def text(response: Any) -> str:
    """Return the words of an answer, without its tags."""
    plain = re.sub(r"<[^>]+>", " ", response.content.decode())
    return re.sub(r"\s+", " ", plain)
