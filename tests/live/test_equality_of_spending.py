"""An open page equals a fresh one while agents ask, spend, and start runs by events."""

from __future__ import annotations

from typing import Any

import pytest

from controllers import admission, budgets
from controllers.admission import Request, UsageEntry
from controllers.budgets import Claim, price_list
from controllers.models import Admission
from controllers.workflows import triggers
from resources.documents.actor import Actor
from resources.tables.models import AgentToken
from resources.usecases import tokens
from tests.live.watching import World
from tests.live.watching import world as world
from tests.resources.making import apply, made
from tests.runs.working import workflow
from tests.telemetry.telling import arrival, tell
from tests.web.conftest import clock as clock

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

MORE = ("/economics?domain=growth", "/economics?domain=finance")
SCOPES = ("admission:ask", "usage:write", "telemetry:write")


def bearer(world: World) -> AgentToken:
    """Give an agent a token, and its domain a budget of a thousand tokens."""
    agent = world.agent()
    limits = {"tokens": {"monthly": 1_000}}
    spec = {"domain": "growth", "period": "monthly", "limits": limits, "enforcement": "enforce"}
    share = {"name": agent.name, "allocation": 0.5}
    assert apply(world.clock.now, made("Budget", "growth-budget", spec | {"agents": [share]}))
    issued = tokens.issue(
        agent.name,
        scopes=SCOPES,
        lifetime=tokens.DEFAULT_LIFETIME,
        actor=Actor("person", "alice"),
        now=world.clock.now,
    )
    return issued.token


def ask(world: World, token: AgentToken, count: int) -> tuple[Request, Admission]:
    """Let an agent ask for so many tokens."""
    request = Request("execute", f"agent/{token.agent.name}", Claim(tokens_in=count))
    return request, admission.ask(request, token, world.clock.now)


def test_asking_and_spending(world: World) -> None:
    token, now = bearer(world), world.clock.now
    with world.watch("admission.allowed", MORE):
        request, allowed = ask(world, token, 400)
    permit = admission.text_of(allowed)
    with world.watch("admission.redeemed", MORE):
        admission.redeem(allowed.pk, permit, request, token, now)
    with world.watch("usage.recorded", MORE):
        admission.report([UsageEntry(Claim(tokens_in=400), permit=permit)], token, now)
    with world.watch("admission.denied", MORE):
        ask(world, token, 700)


def test_a_budget_that_rings(world: World) -> None:
    token, now = bearer(world), world.clock.now
    with world.watch("usage.recorded", MORE):
        admission.report([UsageEntry(Claim(tokens_in=950))], token, now)
    with world.watch("budget_threshold_reached budget_agent_overspend", MORE):
        budgets.publish(now)


def test_prices(world: World) -> None:
    now, person = world.clock.now, world.person("admin")
    with world.watch("price.set"):
        price_list.put("openai", "gpt-4o", ("2.5", "10"), "USD", person=person, now=now)
    with world.watch("price.removed"):
        price_list.remove("openai", "gpt-4o", person=person, now=now)


def test_a_run_that_an_event_starts_or_does_not(world: World, monkeypatch: Any) -> None:
    token, now = bearer(world), world.clock.now
    workflow(world.clock, trigger={"event": "growth.signup-completed"})
    triggers.listen(now)
    tell(token, arrival(), arrival(), now=now)
    monkeypatch.setattr("controllers.workflows.runs.run_start.MOST_OPEN", 1)
    pages = ["/resources/workflow/release"]
    with world.watch("workflow.queued workflow.started workflow.start-refused", pages):
        triggers.listen(now)
