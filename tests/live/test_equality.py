"""An open page equals a fresh one, whatever happens to the organisation and its people."""

from __future__ import annotations

import re
from copy import copy
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone

from controllers.access import exports, people, refusal_log, roles
from controllers.decisions import holds
from controllers.models import Hold
from controllers.narrative.event_text.sentences import SENTENCES
from controllers.notifications.delivery import channels
from controllers.operations import endpoints
from controllers.web.live import broadcast
from controllers.worker import example_organisation
from resources.documents.actor import SYSTEM, Actor
from resources.tables import ledger
from resources.tables.models import ResourceRevision
from resources.usecases import deletion, retention, tokens
from tests.conftest import Clock, given
from tests.controllers.making import declare
from tests.decisions.carrying import consume
from tests.live.pages import Tab, parts_of, said
from tests.live.watching import (
    KEEPER,
    USUAL,
    World,
    about_controller,
    about_proposal,
    about_resource,
)
from tests.live.watching import world as world
from tests.resources.making import ALICE, apply, made, owned
from tests.web.conftest import clock as clock

pytestmark = pytest.mark.sqlite

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
WATCHED = re.compile(r'world\.watch\(\s*"([^"]+)"')
# Events that no scene brings about, and why.
WITHOUT = {"proposal.confirmed": "That a plan still stands is noted on it, and not told."}


def test_there_is_a_scene_for_every_event() -> None:
    files = Path(__file__).parent.glob("test_equality*.py")
    shown = {
        event
        for file in files
        for events in WATCHED.findall(file.read_text("utf-8"))
        for event in events.split()
    }
    assert set(SENTENCES) - shown == set(WITHOUT)
    assert shown <= set(SENTENCES)


@pytest.mark.parametrize("named", ["agent/scribe", "7", "true", "null", '"quoted"', ""])
def test_a_text_in_an_entry_names_a_resource_on_every_database(
    transactional_db: None, named: str
) -> None:
    entry = ledger.Entry("proposal/1", "proposal.created", "proposal/1", {"resource": named})
    with transaction.atomic():
        ledger.append([entry], actor=SYSTEM, now=timezone.now())

    ((_, topics),) = broadcast.read([0], 0).told

    assert named in topics


@pytest.mark.parametrize("odd", [{"agent": "scribe"}, ["agent/scribe"], 7, 1.5, True, None])
def test_what_is_no_text_in_an_entry_breaks_no_round(transactional_db: None, odd: object) -> None:
    entry = ledger.Entry("proposal/1", "proposal.created", "proposal/1", {"resource": odd})
    with transaction.atomic():
        ledger.append([entry], actor=SYSTEM, now=timezone.now())

    ((_, topics),) = broadcast.read([0], 0).told

    assert {"*", "proposal", "proposal/1"} <= topics


def test_what_is_fetched_is_as_on_a_page_that_read_everything_itself(world: World) -> None:
    wish = world.wish(risk="high", people=2)
    mine = [*about_proposal(wish), *about_resource(wish.resource), *about_controller(KEEPER)]
    with time_machine.travel(world.clock.now, tick=False):
        for address in [*USUAL, *mine]:
            fresh = Tab(world.client, address)
            world.memory.forget()
            tab = copy(fresh)
            tab.hear(said("", parts_of(tab.address)))
            world.memory.forget()
            world.faults += tab.differences(fresh)


def test_nothing_is_remembered_of_what_was_before_a_write(world: World) -> None:
    with time_machine.travel(world.clock.now, tick=False):
        before = Tab(world.client, "/resources")
        agent = world.agent()
        after = Tab(world.client, "/resources")

    assert agent.name not in before.html
    assert agent.name in after.html
    assert before.differences(after)


@pytest.mark.full
def test_resources(world: World) -> None:
    now, agent = world.clock.now, world.agent()
    pages = [*about_resource(agent), "/resources/domain/growth", "/search?q=scribe"]
    spec = {**agent.spec, "purpose": "Writes letters."}
    with world.watch("resource.created", [*pages, "/resources?q=other"]):
        apply(now, made("Agent", "other-scribe", {"domain": "growth"}))
    with world.watch("resource.spec-changed", pages):
        apply(now, made("Agent", agent.name, spec))
    with world.watch("resource.metadata-changed", pages):
        apply(now, made("Agent", agent.name, spec, metadata={"labels": {"tier": "gold"}}))
    with world.watch("resource.status-reported", pages):
        consume(world.clock, agent.name, 2_000_000)
    with world.watch("resource.deleted", [*pages, "/resources/agent/other-scribe"]):
        deletion.delete("Agent", "other-scribe", actor=ALICE, now=now)


@pytest.mark.full
def test_owners_and_tokens(world: World) -> None:
    now, agent = world.clock.now, world.agent()
    apply(now, owned("Agent", "ward", ("Agent", agent.name, "orphan"), spec={"domain": "growth"}))
    pages = ["/resources/agent/ward", "/resources/agent/ward?tab=relations"]
    issued = []
    with world.watch("token.issued", about_resource(agent)):
        scopes = ["resources:read"]
        made_now = tokens.issue(agent.name, scopes=scopes, lifetime=DAY, actor=ALICE, now=now)
        issued.append(made_now)
    with world.watch("token.refused", [*about_resource(agent), *pages]):
        bearer, tried = Actor("agent", agent.name), "POST holds"
        tokens.note_refused(issued[0].token, tried, "It may not.", actor=bearer, now=now)
    with world.watch("token.revoked", about_resource(agent)):
        tokens.revoke(issued[0].token.key_id, actor=ALICE, now=now)
    with world.watch("resource.released", pages):
        deletion.delete("Agent", agent.name, actor=ALICE, now=now)


def test_history_that_is_dropped(world: World) -> None:
    now, agent = world.clock.now, world.agent()
    for purpose in ("Writes letters.", "Writes books."):
        apply(now, made("Agent", agent.name, {**agent.spec, "purpose": purpose}))
    ResourceRevision.objects.update(at=now - 10_000 * DAY)
    with world.watch("retention.dropped", about_resource(agent)):
        retention.sweep(now)


@pytest.mark.full
def test_holds(world: World) -> None:
    now, maya, agent = world.clock.now, world.person(), world.agent()
    ends = now + 2 * DAY
    pages = [*about_resource(agent), f"/controllers/{KEEPER}"]
    wanted = holds.HoldRequest("pause", "resource", "Wait.", resource=agent.pk, ends_at=ends)
    placed = []
    with world.watch("hold.placed", pages):
        placed.append(holds.place(wanted, person=maya, now=now).hold)
    hold = placed[0]
    pages.append(f"/overrides/{hold.pk}")
    with world.watch("hold.renewed", pages):
        holds.renew(hold.pk, ends + DAY, person=maya, now=now, reason="Longer.")
    Hold.objects.filter(pk=hold.pk).update(remind_at=now - HOUR)
    with world.watch("hold.reminded", pages):
        holds.sweep(now)
    with world.watch("hold.lifted", pages):
        holds.lift(hold.pk, person=maya, now=now, reason="Go on.")
    stop = holds.HoldRequest("stop", "organisation", "Fire.")
    with world.watch("hold.placed", pages):
        placed.append(holds.place(stop, person=maya, now=now).hold)
    Hold.objects.filter(pk=placed[1].pk).update(placed_at=now - DAY, ends_at=now - HOUR)
    with world.watch("hold.ended", [*pages, f"/overrides/{placed[1].pk}"]):
        holds.sweep(now)


@pytest.mark.full
def test_people(world: World) -> None:
    now, maya, tomas, admin = world.clock.now, *map(world.person, ("maya", "tomas", "admin"))
    given(maya, "viewer")
    wish = world.wish(risk="high", people=2)
    pages = ["/profile", f"/controllers/{KEEPER}", f"/approvals/{wish.pk}"]
    right = roles.Right("operator", "growth")
    with world.watch("person.added", pages):
        people.add_person("nadia", name="Nadia Roy", role="Approvers", actor=SYSTEM, now=now)
    with world.watch("person.granted", pages):
        roles.grant(maya, right, by=admin, now=now)
    with world.watch("person.revoked", pages):
        roles.revoke(maya, "operator", by=admin, now=now, domain="growth")
    with world.watch("person.delegated", pages):
        deputy = roles.delegate(tomas, person=maya, starts_at=now, ends_at=now + DAY, now=now)
    with world.watch("person.delegation-ended", pages):
        roles.end_delegation(deputy.pk, by=maya, now=now)
    with world.watch("person.signed-in", pages):
        people.redeem(tomas, now)
    with world.watch("person.refused", pages):
        refusal_log.write(maya, "POST /people/invite", "Only administrators do this.", now)
    with world.watch("export.begun", pages):
        exports.begin(maya, "proposals.csv", {"risk": "low"}, now=now)
    with world.watch("export.made", pages):
        exports.end(maya, "proposals.csv", 7, now=now)
    with world.watch("person.revoked", pages):
        roles.revoke(maya, "approver", by=admin, now=now)


@pytest.mark.full
def test_groups(world: World) -> None:
    now, tomas, admin = world.clock.now, *map(world.person, ("tomas", "admin"))
    wish = world.wish()
    pages = ["/people/groups", f"/approvals/{wish.pk}", f"/approvals?at={wish.pk}"]
    rule = {"name": "campaigns", "people": 1, "group": "board"}
    charter = made("Governance", "charter", {"domain": "*", "approvalPolicies": [rule]})
    with world.watch("resource.created", pages):
        declare(world.clock, charter)
    with world.watch("group.made", pages):
        board = roles.add_group("board", "Looks at campaigns.", by=admin, now=now)
    pages.append(f"/people/groups/{board.pk}")
    with world.watch("group.joined", pages):
        roles.add_member(board, tomas, by=admin, now=now)
    with world.watch("group.changed", pages):
        roles.change_group(board, description="Looks at all of them.", by=admin, now=now)
    with world.watch("group.left", pages):
        roles.remove_member(board, tomas, by=admin, now=now)
    other = roles.add_group("other", "", by=admin, now=now)
    with world.watch("group.deleted", pages):
        roles.delete_group(other, by=admin, now=now)


@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")
def test_channels_and_machines(world: World) -> None:
    now, admin = world.clock.now, world.person("admin")
    with world.watch("channel.mapped"):
        channels.map_channel("ops", "mailto://ops@example.com", person=admin, now=now)
    with world.watch("channel.tested"):
        channels.test_channel("ops", person=admin, now=now)
    with world.watch("channel.unmapped"):
        channels.unmap_channel("ops", person=admin, now=now)
    with world.watch("endpoint.registered"):
        url = "https://rig.example.com/hook"
        endpoints.register("rig", url, ["restart"], "", person=admin, now=now)
    with world.watch("endpoint.rotated"):
        endpoints.rotate("rig", person=admin, now=now)
    with world.watch("endpoint.disabled"):
        endpoints.switch("rig", False, person=admin, now=now)
    with world.watch("endpoint.enabled"):
        endpoints.switch("rig", True, person=admin, now=now)


def test_the_example(world: World, clock: Clock) -> None:
    for kind, name in (("Controller", KEEPER), ("Domain", "growth")):
        deletion.delete(kind, name, actor=ALICE, now=clock.now)
    retention.bury(clock.now + 10_000 * DAY)
    with world.watch("example.loaded", ["/welcome"]):
        example_organisation.load(clock.now)
