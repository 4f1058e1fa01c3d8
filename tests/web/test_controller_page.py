"""The page of one controller."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from controllers.models import Cycle, Proposal, Runtime
from controllers.web.controllers import modes
from controllers.web.controllers.hook_results import checks_of
from controllers.worker import controller_commands
from controllers.workqueue import compiled_controllers
from resources.documents.actor import SYSTEM
from resources.tables.models import Resource
from resources.usecases import specs, statuses
from resources.usecases.specs import DesiredDocument
from tests.admin.counts import expected, statements
from tests.conftest import Clock
from tests.resources.making import made
from tests.web.conftest import SignIn, look
from tests.web.test_controllers import text, trip, without_times

pytestmark = pytest.mark.sqlite

AGENTS = "/controllers/agent-performance"
PARTS = (
    "header",
    "pausing",
    "loop",
    "modes",
    "checks",
    "breaker",
    "facts",
    "track",
    "cycles",
)


def section(client: Client, name: str, address: str = AGENTS) -> str:
    """Return the words of one part of a page."""
    part = client.get(address, headers={"Live-Parts": name}).content.decode()
    assert f'id="{name}"' in part
    return " ".join(re.sub(r"<[^>]+>", "", part).split())


def last(name: str = "agent-performance") -> Cycle:
    """Return the newest cycle of a controller."""
    found = Cycle.objects.filter(controller__name=name).order_by("number").last()
    assert found is not None
    return found


def test_the_page_says_how_it_stands_and_when_it_looks_next(maya: Client) -> None:
    html = text(maya, AGENTS)

    assert html.count("<h1") == 1
    assert "4 of 23 agents drift. Next cycle" in section(maya, "header")
    assert "Running" in section(maya, "header")
    assert "data-left" in html


def test_the_five_phases_tell_the_last_cycle(maya: Client) -> None:
    html = text(maya, AGENTS)
    strip = re.search(r'<ol class="loop">.*?</ol>', html, re.DOTALL)

    assert strip is not None
    assert re.findall(r"<b>([\d,]+)</b>", strip[0]) == ["23", "23", "12", "8", "23"]
    assert "agents read" in strip[0]
    assert "4 above the limit" in strip[0]
    assert "for people to decide" in strip[0]
    assert f"/audit/trace/{last().correlation_id}" in html


def test_a_cycle_under_way_is_marked(organisation: Clock, maya: Client) -> None:
    cycle = last()
    Runtime.objects.filter(controller=cycle.controller).update(cycles=2)
    Cycle.objects.create(
        controller=cycle.controller,
        number=2,
        correlation_id="c",
        generation=1,
        mode="warn",
        full=True,
        reasons=2,
        holder="w",
        token=9,
        revision=1,
        started_at=organisation.now,
    )
    html = text(maya, AGENTS)

    assert html.count('<li class="now">') == 5
    assert "Cycle 2 is running" in html
    assert "It is running." in text(maya, f"{AGENTS}/cycles/2")


# Modes


def test_each_mode_says_what_it_would_have_done_with_this_weeks_proposals(maya: Client) -> None:
    told = section(maya, "modes")

    assert "Would have asked about 3 of the 3 proposals of this week." in told
    # A person approves every change of this controller, so even enforcing it would have asked.
    assert "Would have run 0 of the 3 proposals of this week without asking." in told
    assert "Would have suggested 3 of the 3" in told
    assert "Would have only noted 3 of the 3" in told


def redeclare(clock: Clock, name: str, **spec: Any) -> Resource:
    """Declare a controller of the example anew, with some fields otherwise."""
    row = Resource.objects.get(kind="Controller", name=name)
    document = made("Controller", name, {**row.spec, **spec}, metadata=row.metadata)
    assert specs.apply(
        [DesiredDocument(document, authorised=True)], actor=SYSTEM, now=clock.now
    ).written
    row.refresh_from_db()
    return row


def test_what_enforcing_would_have_run_follows_approval_and_risk(organisation: Clock) -> None:
    row = redeclare(organisation, "agent-performance", approval="auto")

    def counts() -> dict[str, int]:
        past = modes.consequences(
            row.pk, compiled_controllers.load(row.pk), "warn", organisation.now
        )
        return {each.mode: each.count for each in past.choices}

    # The other two agents ask for a person's approval themselves.
    assert counts() == {"enforce": 1, "warn": 3, "advise": 3, "observe": 3}
    for each in Proposal.objects.filter(controller=row):
        each.actions[0]["risk"] = "medium"
        each.save(update_fields=["actions"])
    assert counts() == {"enforce": 0, "warn": 3, "advise": 3, "observe": 3}


def test_proposals_older_than_a_week_do_not_count(organisation: Clock) -> None:
    key = Resource.objects.get(kind="Controller", name="agent-performance").pk
    organisation.advance(days=8)

    assert modes.consequences(key, None, "warn", organisation.now).total == 0


def test_a_controller_without_proposals_says_that_there_is_nothing_to_compare(
    maya: Client,
) -> None:
    told = section(maya, "modes", "/controllers/domain-health")

    assert "No proposals this week to compare with." in told


def test_only_who_may_propose_is_offered_another_mode(ines: Client, maya: Client) -> None:
    offer = f'href="{AGENTS}/mode?mode=enforce"'

    assert offer in text(ines, AGENTS)
    assert f'href="{AGENTS}/mode?mode=warn"' not in text(ines, AGENTS)
    assert offer not in text(maya, AGENTS)


# Checks, breaker, facts, record


def test_checks_say_what_the_last_cycle_saw(maya: Client) -> None:
    told = section(maya, "checks")

    assert "agent-at-work" in told
    assert "Passed for all 4 above the limit." in told
    assert "Done with the last cycle." in told


def test_a_check_that_failed_names_where_and_what_was_seen(organisation: Clock) -> None:
    cycle = last()
    cycle.hooks[0] |= {"passed": False, "reason": "CheckFailed"}
    cycle.hooks[1] |= {"passed": None, "reason": "FieldMissing", "observed": {}}
    failed, unknown, _ = checks_of(compiled_controllers.load(cycle.controller_id), cycle)

    assert failed.text.startswith("Failed for 1: agent/growth-optimizer, agent.status.state is")
    assert (unknown.tone, unknown.text) == ("wait", "Not known for 1: a field is not reported.")


def test_the_breaker_shows_its_limits_and_its_last_trip(organisation: Clock, ines: Client) -> None:
    assert "Last trip Never" in section(ines, "breaker")
    trip(organisation, "agent-performance", "It talks nonsense.")
    html = text(ines, AGENTS)
    told = section(ines, "breaker")

    assert "Tripped" in told
    assert "Ines Okafor: It talks nonsense." in told
    assert "Stopped until a person resets it: Ines Okafor" in section(ines, "header")
    assert f'href="{AGENTS}/breaker?do=reset"' in html
    assert "do=trip" not in html

    organisation.advance(minutes=11)
    ada = User.objects.get(username="admin")
    actor = controller_commands.permitted("agent-performance", ada, organisation.now)
    controller_commands.reset_breaker(
        "agent-performance", actor=actor, now=organisation.now, reason="Ok."
    )
    assert "Testing" in section(ines, "breaker")
    look(organisation)
    told = section(ines, "breaker")
    assert "Ready" in told
    assert "reset by Administrator after 11 min" in told


def test_a_viewer_is_offered_nothing_that_would_be_refused(vera: Client) -> None:
    html = text(vera, AGENTS)

    for refused in ("/breaker", "Run now", "/pause?controller", "/mode?mode"):
        assert refused not in html


def test_the_record_counts_what_became_of_its_proposals(maya: Client) -> None:
    assert "Proposals 3, 0 decided" in section(maya, "track")


def test_facts_link_to_the_spec_and_to_what_it_watches(maya: Client) -> None:
    html = text(maya, AGENTS)

    assert 'href="/resources/controller/agent-performance"' in html
    assert 'href="/resources?kind=agent"' in html
    assert "company=quillmere" in html
    assert "0.20" in section(maya, "facts")


def test_a_controller_run_by_others_says_so(organisation: Clock, maya: Client) -> None:
    redeclare(organisation, "decision-tracker", runner="external")
    look(organisation)

    address = "/controllers/decision-tracker"
    assert "Runs outside; not heard yet." in section(maya, "header", address)
    runtime = Runtime.objects.filter(controller__name="decision-tracker")
    runtime.update(heard_at=timezone.now() - timedelta(seconds=12))
    assert re.search(r"Runs outside; last heard 1\d s ago\.", section(maya, "header", address))
    runtime.update(stalled_at=timezone.now())
    assert "Silent" in section(maya, "header", address)


# Addresses, parts and costs


@pytest.mark.parametrize(
    "address",
    [
        "/controllers/nobody",
        "/controllers/nobody/cycles/1",
        f"{AGENTS}/cycles/99",
        "/controllers/nobody/run",
        "/controllers/nobody/mode",
        "/controllers/nobody/breaker",
    ],
)
def test_what_does_not_exist_is_not_found(maya: Client, address: str) -> None:
    assert maya.get(address).status_code == 404


@pytest.mark.parametrize("part", PARTS)
def test_each_part_alone_is_as_in_the_page(ines: Client, part: str) -> None:
    answer = ines.get(AGENTS, headers={"Live-Parts": part}).content.decode().strip()

    assert f'id="{part}"' in answer
    assert without_times(answer) in without_times(text(ines, AGENTS))


def test_the_page_costs_the_same_however_much_there_is(
    organisation: Clock, sign_in: SignIn
) -> None:
    vera = sign_in("vera")
    text(vera, AGENTS)
    few = statements(vera, AGENTS)
    for _ in range(3):
        organisation.advance(minutes=5)
        worse = {"state": "degraded", "metrics": {"errorRate": 0.9}}
        told = [
            statuses.Report("Agent", row.name, worse)
            for row in Resource.objects.filter(kind="Agent")[:12]
        ]
        statuses.observe(told, actor=SYSTEM, now=organisation.now)
        look(organisation)
    text(vera, AGENTS)

    assert statements(vera, AGENTS) == few
    assert few == expected("web", "controller", few)
    seen = statements(vera, f"{AGENTS}/cycles/1")
    assert seen == expected("web", "cycle", seen)
