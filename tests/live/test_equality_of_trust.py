"""Drills and what controllers have earned are on open pages as they would be on fresh ones."""

from __future__ import annotations

import pytest
from django.db import transaction

from controllers import execution
from controllers.decisions import answers, attention_checks, autonomy
from controllers.models import Autonomy, Check
from controllers.trust import promotions
from controllers.worker import drills
from tests.controllers.making import work
from tests.decisions.carrying import consume
from tests.decisions.making import controller, proposal, seen
from tests.live.watching import World, about_controller, glance
from tests.live.watching import world as world
from tests.resources.making import apply, live, made
from tests.web.conftest import clock as clock

pytestmark = [pytest.mark.sqlite, pytest.mark.full]


def test_drills(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    now = world.clock.now
    assert apply(now, made("Governance", "rules", {"domain": "growth"})).written
    pages = glance(live("Governance", "rules"))
    with world.watch("drill.asked", pages):
        drills.ask("rules", person=world.person("ines"), now=now)
    with world.watch("drill.begun drill.passed", pages):
        drills.sweep(now)
    monkeypatch.setattr(execution, "execute", lambda *_: None)
    drills.ask("rules", now=now)
    with world.watch("drill.failed", pages):
        drills.sweep(now)


def test_autonomy(world: World) -> None:
    row = controller(world.clock, "truster", autonomy={"approvals": 3})
    given = {"operation": "throttle", "domain": "growth"}
    action = {"sequence": 1, "operation": "grant-autonomy", "kind": "change", "parameters": given}
    wish = proposal(world.clock, row, actions=[action], state="succeeded")
    grant = transaction.atomic(autonomy.grant)
    with world.watch("controller.autonomy-granted", about_controller("truster")):
        grant(wish, given, world.clock.now)
    with world.watch("controller.autonomy-ended", about_controller("truster")):
        promotions.end(row, Autonomy.objects.get().pk, person=world.person(), now=world.clock.now)


def test_checks(world: World) -> None:
    now, maya, agent = world.clock.now, world.person(), world.agent()
    spec = {"domain": "growth", "humanOverride": {"checks": {"perWeek": 1}}}
    assert apply(now, made("Governance", "rules", spec)).written
    consume(world.clock, agent.name, 10)
    work(world.clock)
    pages = [*glance(agent), "/profile"]
    with world.watch("proposal.created", pages):
        assert attention_checks.sweep(now) == 1
    row = Check.objects.get().proposal
    pages.append(f"/approvals/{row.pk}")
    with world.watch("proposal.withdrawn proposal.checked", pages):
        answers.reject(row.pk, person=maya, seen=seen(row), now=now, reason="No.")
