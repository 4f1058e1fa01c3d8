"""Pages of those who look after the product equal fresh ones, whatever is done there."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from controllers.access import people, session_records
from controllers.notifications.delivery import channels
from controllers.operations import endpoints
from resources.usecases import tokens
from tests.controllers.making import declare
from tests.live.watching import World
from tests.live.watching import world as world
from tests.resources.making import ALICE, made

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

TOKENS = ("/manage", "/manage/tokens", "/manage/tokens?state=all")
CHANNELS = ("/manage", "/manage/channels")
MACHINES = ("/manage", "/manage/machines")


@pytest.fixture(autouse=True)
def _looked_after(world: World) -> None:
    world.client.force_login(world.person("admin"))


def test_tokens(world: World) -> None:
    now, agent = world.clock.now, world.agent()
    issued: list[tokens.Issued] = []
    with world.watch("token.issued", TOKENS):
        scopes, long = ["status:write"], timedelta(days=1)
        issued.append(tokens.issue(agent.name, scopes=scopes, lifetime=long, actor=ALICE, now=now))
    with world.watch("token.revoked", TOKENS):
        tokens.revoke(issued[0].token.key_id, actor=ALICE, now=now)


@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")
def test_channels(world: World) -> None:
    now, admin = world.clock.now, world.person("admin")
    with world.watch("channel.mapped", CHANNELS):
        channels.map_channel("ops", "mailto://ops@example.com", person=admin, now=now)
    with world.watch("channel.tested", CHANNELS):
        channels.test_channel("ops", person=admin, now=now)
    with world.watch("channel.unmapped", CHANNELS):
        channels.unmap_channel("ops", person=admin, now=now)
    with world.watch("resource.created", [*CHANNELS, "/manage/policies"]):
        paths = [{"level": 1, "role": "lead", "channel": "pager", "timeout": "1h"}]
        rules = {"domain": "growth", "escalation": {"paths": paths}}
        declare(world.clock, made("Governance", "rules", rules))


def test_machines(world: World) -> None:
    now, admin = world.clock.now, world.person("admin")
    with world.watch("endpoint.registered", MACHINES):
        url = "https://rig.example.com/hook"
        endpoints.register("rig", url, ["restart"], "", person=admin, now=now)
    with world.watch("endpoint.disabled", MACHINES):
        endpoints.switch("rig", False, person=admin, now=now)


def test_policies_and_sessions(world: World) -> None:
    now, admin, maya = world.clock.now, world.person("admin"), world.person("maya")
    with world.watch("resource.spec-changed", ["/manage/policies"]):
        spec = world.keeper.spec | {"enforcementMode": "enforce", "approval": "auto"}
        declare(world.clock, made("Controller", world.keeper.name, spec))
    with world.watch("person.signed-in", [f"/people/{maya.pk}"]):
        Client().post(people.sign_in_link(maya, "http://testserver/"))
    with world.watch("person.signed-out", [f"/people/{maya.pk}"]):
        session_records.end_all(maya, by=admin, now=now)
