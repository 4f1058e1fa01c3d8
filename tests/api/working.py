"""Short ways to work that waits for an agent, for the tests of work over HTTP."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from controllers.models import Proposal, Step
from tests.api.conftest import Answer, Api, issue
from tests.conftest import Clock
from tests.decisions.carrying import approve, restarting, run, steps
from tests.decisions.making import AGENT, agent, person, proposal


def as_agent(name: str = AGENT, *scopes: str) -> Api:
    """Return the client of an agent, with a token of its own."""
    return Api(Client(), issue(name, *scopes))


def manager(clock: Clock, name: str = "maya") -> User:
    """Return somebody who decides; the same each time."""
    found = User.objects.filter(username=name).first()
    return found or person(clock, name, "approver")


def waiting(clock: Clock, name: str = AGENT) -> Proposal:
    """Make a restart that waits for its agent."""
    found = proposal(clock, agent(clock, name), actions=[restarting(name)])
    approve(clock, found, manager(clock))
    run(clock)
    return found


def only(wish: Proposal) -> Step:
    """Return the only step of a proposal."""
    (step,) = steps(wish)
    return step


def claim(who: Api, wish: Proposal, **headers: str) -> Answer:
    """Claim the only step of a proposal."""
    return who.post(f"actions/{only(wish).pk}/claim", {}, **headers)


def tell(who: Api, wish: Proposal, verb: str, held: dict[str, Any], **body: Any) -> Answer:
    """Say something about a claim."""
    kept = {"fence": held["fence"]}
    if verb != "result":
        kept["epoch"] = held["epoch"]
    headers = body.pop("headers", {})
    return who.post(f"actions/{only(wish).pk}/{verb}", kept | body, **headers)
