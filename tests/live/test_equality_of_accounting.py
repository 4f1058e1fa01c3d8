"""What agents spend, and what that does to budgets, is on every open page as on a fresh one."""

from __future__ import annotations

from typing import Any

import pytest

from controllers import admission, budgets
from controllers.admission import Request, UsageEntry
from controllers.budgets import Claim, price_list
from resources.tables.models import AgentToken, Resource
from tests.api.spending import budget
from tests.live.watching import World, about_resource, glance, last_story, token_of
from tests.live.watching import world as world
from tests.resources.making import apply, live
from tests.web.conftest import clock as clock

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

BUDGET = "growth-budget"


def declared(world: World, **spec: Any) -> Resource:
    """Declare a budget of 1,000 tokens a month."""
    assert apply(world.clock.now, budget(BUDGET, **spec)).written
    return live("Budget", BUDGET)


def spend(world: World, token: AgentToken, tokens: int) -> None:
    """Let an agent report one call."""
    (result,) = admission.report([UsageEntry(Claim(tokens))], token, world.clock.now)
    assert result.verdict == "counted"


def test_prices(world: World) -> None:
    now, admin = world.clock.now, world.person("admin")
    with world.watch("price.set", ["/audit?event=price.set"]):
        price_list.put("openai", "gpt-4o", ("2.50", "10"), "USD", person=admin, now=now)
    with world.watch("price.removed", [last_story()]):
        price_list.remove("openai", "gpt-4o", person=admin, now=now)


def test_what_is_spent(world: World) -> None:
    agent, spent = world.agent(), declared(world, enforcement="warn")
    token = token_of(world, agent)
    pages = [*glance(agent), *about_resource(spent), "/resources/domain/growth"]
    with world.watch("usage.recorded", pages):
        spend(world, token, 400)
    with world.watch("resource.status-reported", [*pages, last_story()]):
        budgets.publish(world.clock.now)


def test_what_a_budget_comes_to(world: World) -> None:
    clock, agent = world.clock, world.agent()
    shares = [{"name": agent.name, "allocation": 0.5}]
    marks = [{"threshold": 0.6, "severity": "warning"}]
    spent = declared(world, enforcement="warn", agents=shares, alerts=marks)
    token, pages = token_of(world, agent), [*glance(agent), *glance(spent)]
    spend(world, token, 650)
    with world.watch("budget_threshold_reached budget_agent_overspend", pages):
        budgets.publish(clock.now)
    spend(world, token, 400)
    with world.watch("budget_exceeded", [*pages, last_story()]):
        budgets.publish(clock.now)
    clock.advance(days=32)
    with world.watch("resource.status-reported", pages):
        budgets.renew(clock.now)


def test_what_a_budget_does_not_let_pass(world: World) -> None:
    now, agent = world.clock.now, world.agent()
    hard, token = declared(world), token_of(world, agent)
    pages = [*about_resource(agent), *glance(hard)]
    with world.watch("budget_exceeded admission.denied", pages):
        admission.ask(Request("execute", str(agent), Claim(1_001)), token, now)
    with world.watch("usage.recorded system.security_violation_detected", pages):
        spend(world, token, 100)


def test_an_agents_own_limit(world: World) -> None:
    now, agent = world.clock.now, world.agent(tokenBudget={"maxDaily": 50})
    declared(world, enforcement="warn")
    token = token_of(world, agent)
    with world.watch("budget_agent_overspend admission.allowed", about_resource(agent)):
        admission.ask(Request("execute", str(agent), Claim(60)), token, now)
