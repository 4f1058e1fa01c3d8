"""A small organisation before open pages: whatever is done in it, they equal fresh ones after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client

from controllers.access import people
from controllers.models import Cycle, Proposal
from controllers.narrative.event_text.sentences import SENTENCES
from controllers.web.resources.resource_parts import SHOWN
from resources.tables import versions
from resources.tables.models import AgentToken, LedgerEvent, Resource
from resources.usecases import tokens
from tests.conftest import Clock
from tests.controllers.making import declare
from tests.decisions import making
from tests.live.pages import Tab, tell
from tests.live.remembering import Memory, remembering
from tests.reference.events import undescribed
from tests.resources.making import ALICE, made
from tests.web import proposing

KEEPER = "agent-performance"
USUAL = (
    "/",
    "/approvals",
    "/resources",
    "/controllers",
    "/overrides",
    "/economics",
    "/audit",
    "/inbox",
    "/more",
)


class World:
    """People, a domain, a controller, agents it watches, and everything that maya has open."""

    def __init__(self, clock: Clock, memory: Memory) -> None:
        self.clock, self.memory = clock, memory
        people.ensure_administrator(clock.now)
        people.ensure_samples(clock.now)
        declare(clock, made("Domain", "growth"))
        self.keeper = making.controller(clock, KEEPER)
        self.agents = 0
        self.client = Client()
        self.client.force_login(self.person())
        self.tabs: dict[str, Tab] = {}
        self.fresh_at: tuple[int, datetime] | None = None
        self.faults: list[str] = []

    def person(self, name: str = "maya") -> User:
        """Return somebody."""
        return User.objects.get(username=name)

    def catch_up(self) -> None:
        """Set the clock to the real time, by which the database ends what does not last long."""
        self.clock.now = max(self.clock.now, datetime.now(UTC))

    def agent(self, **spec: Any) -> Resource:
        """Declare another agent."""
        self.agents += 1
        return making.agent(self.clock, f"growth-scribe-{self.agents}", **spec)

    def wish(self, **given: Any) -> Proposal:
        """Let the controller propose to throttle another agent."""
        with transaction.atomic():
            return proposing.throttled(self.clock, self.agent(), self.keeper, **given)

    @contextmanager
    def watch(self, events: str, more: Sequence[str] = ()) -> Iterator[None]:
        """Look on from all pages while something brings these events about."""
        with time_machine.travel(self.clock.now, tick=False):
            self.open([*USUAL, *more])
            before = versions.horizon()
            self.memory.forget()
            yield
            self.memory.forget()
            rows = LedgerEvent.objects.filter(pk__gt=before).values_list("event", "payload")
            told = [(told_as(event), payload) for event, payload in rows]
            written = {event for event, _ in told}
            missing = set(events.split()) - written
            assert not missing, f"{missing} did not happen, but {written}"
            self.faults += undescribed(told)
            tell(self.tabs.values())
            self.compare(events)

    def open(self, addresses: Sequence[str]) -> None:
        """Open pages; those that are open already are as good as new if nothing happened since."""
        if self.fresh_at != (versions.horizon(), self.clock.now):
            self.memory.forget()
            self.tabs = {}
        kept = self.tabs
        self.tabs = {each: kept.get(each) or Tab(self.client, each) for each in addresses}

    def compare(self, events: str) -> None:
        """Note where the pages differ from fresh ones, which take their place."""
        fresh = {each: Tab(self.client, self.tabs[each].address) for each in self.tabs}
        for address, tab in self.tabs.items():
            assert 200 in (tab.status, fresh[address].status), f"There is no page {address}."
            found = tab.differences(fresh[address])
            self.faults += [f"After {events}:", *found] if found else []
        self.tabs = fresh
        self.fresh_at = (versions.horizon(), self.clock.now)


@pytest.fixture
def world(
    transactional_db: None, clock: Clock, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    """Watch a small organisation; the test fails when a page was not as a fresh one."""
    # No file is asked for, and what serves them starts a loop for every page.
    settings.MIDDLEWARE = [each for each in settings.MIDDLEWARE if "static" not in each]
    with remembering(monkeypatch) as memory:
        world = World(clock, memory)
        yield world
    assert not world.faults, "\n".join(world.faults)


def told_as(event: str) -> str:
    """Return the name under which an event has its sentence: a domain's begin with its own."""
    return event if event in SENTENCES else event.partition(".")[2]


def token_of(world: World, agent: Resource) -> AgentToken:
    """Give an agent a token for everything that agents may do."""
    long, now = timedelta(days=60), world.clock.now
    given = tokens.issue(
        agent.name, scopes=list(tokens.SCOPES), lifetime=long, actor=ALICE, now=now
    )
    return given.token


def last_story() -> str:
    """Return the page of the story that was told last."""
    return f"/audit/trace/{LedgerEvent.objects.latest('pk').correlation_id}"


def about_resource(row: Resource) -> list[str]:
    """Return the pages about a resource."""
    return [f"/resources/{row.kind.lower()}/{row.name}?tab={tab}" for tab in SHOWN]


def glance(row: Resource) -> list[str]:
    """Return the pages about a resource that say most: how it is, and what happened to it."""
    return [each for each in about_resource(row) if each.endswith(("=overview", "=audit"))]


def about_proposal(wish: Proposal) -> list[str]:
    """Return the pages about a proposal: alone, beside the queue, its story, its resource."""
    told = LedgerEvent.objects.filter(stream=wish.stream).order_by("pk").last()
    story = [f"/audit/trace/{told.correlation_id}"] if told else []
    resource = f"/resources/{wish.resource.kind.lower()}/{wish.resource.name}"
    mine = [f"/approvals/{wish.pk}", f"/approvals?at={wish.pk}", resource]
    return [*mine, f"{resource}?tab=proposals", *story]


def about_controller(name: str) -> list[str]:
    """Return the pages about a controller, and about its last cycle."""
    last = Cycle.objects.filter(controller__name=name).order_by("number").last()
    cycle = [f"/controllers/{name}/cycles/{last.number}"] if last else []
    return [f"/controllers/{name}", f"/resources/controller/{name}", *cycle]
