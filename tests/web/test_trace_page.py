"""One story from its trigger to its end, with the proof that it was not touched."""

from __future__ import annotations

import json
import re

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from controllers.models import Cycle, Proposal
from controllers.web.audit import trace
from resources.documents.actor import SYSTEM
from resources.tables import ledger
from resources.tables.models import LedgerEvent
from tests.admin.counts import expected, statements
from tests.conftest import Clock
from tests.web.test_audit_page import tamper, text

pytestmark = pytest.mark.sqlite


def story(name: str = "agent-performance") -> str:
    """Return the correlation id of a controller's first cycle."""
    return Cycle.objects.get(controller__name=name, number=1).correlation_id


def test_a_cycle_is_told_with_its_phases(maya: Client) -> None:
    page = text(maya, f"/audit/trace/{story()}")
    assert '<h1 class="mt">One cycle of agent-performance</h1>' in page
    cycle = Cycle.objects.get(controller__name="agent-performance", number=1)
    assert f"Read {cycle.counts['watched']} agents" in page
    assert f"found {cycle.counts['drifted']} drifting" in page
    for phase in ("Watch", "Diff", "Plan", "Act", "Report"):
        assert f'<span class="nm">{phase}</span>' in page
    assert f"{cycle.counts['healthy']} on target" in page
    assert "Completed" in page
    assert 'href="/controllers/agent-performance/cycles/1"' in page


def test_what_waits_for_people_is_drawn_as_theirs(maya: Client) -> None:
    waiting = Proposal.objects.filter(correlation_id=story(), state="pending")
    assert waiting
    page = text(maya, f"/audit/trace/{story()}")
    for each in waiting:
        assert f'href="/approvals/{each.pk}"' in page
    assert page.count('class="fill t-human"') == len(waiting)
    assert "waits for 1 person" in " ".join(page.split())


def test_every_entry_is_proved_anew(maya: Client) -> None:
    count = LedgerEvent.objects.filter(correlation_id=story()).count()
    assert f"{count} of {count} entries verified" in text(maya, f"/audit/trace/{story()}")


@pytest.mark.sqlite
def test_a_touched_entry_is_not_counted_as_verified(maya: Client) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("The triggers of PostgreSQL are tested with the ledger.")
    found = LedgerEvent.objects.filter(correlation_id=story())
    count = found.count()
    tamper(found.order_by("id")[2].pk)
    page = text(maya, f"/audit/trace/{story()}")
    assert f"{count - 1} of {count} entries verified" in page
    assert "Broken" in page


def test_a_pause_has_a_story_of_its_own_without_a_waterfall(maya: Client) -> None:
    assert maya.post("/pause", {"reason": "Stop.", "lasts": "open"}).status_code == 303
    entry = LedgerEvent.objects.get(event="hold.placed")
    page = text(maya, f"/audit/trace/{entry.correlation_id}")
    assert "Maya Chen paused everything" in page
    assert "1 of 1 entries verified" in page
    assert 'id="trace-bars" aria-label="Waterfall" hidden' in page


def test_a_decision_follows_the_cycle_it_came_from(maya: Client) -> None:
    proposal = Proposal.objects.get(resource__name="growth-optimizer", resource__kind="Agent")
    filled = {"on": "agent/growth-optimizer", "path": "tokenBudget.maxDaily", "value": "90000"}
    filled |= {"reason": "Campaign week.", "lasts": "1d"}
    assert maya.post("/overrides/new", filled).status_code == 303
    page = text(maya, f"/audit/trace/{story()}")
    assert f"did something else than P-{proposal.pk} on growth-optimizer" in page
    assert '<span class="ms">overridden</span>' in page


def test_the_export_has_every_entry_as_a_cloudevent(maya: Client) -> None:
    answer = maya.get(f"/audit/trace/{story()}?format=json")
    documents = json.loads(answer.content)
    assert len(documents) == LedgerEvent.objects.filter(correlation_id=story()).count()
    assert {each["correlationid"] for each in documents} == {story()}
    assert "attachment" in answer["Content-Disposition"]


@pytest.mark.parametrize("correlation", ["nothing-has-this-id", "%00", "x" * 200, "%F0%9F%A6%84"])
def test_an_unknown_story_is_not_found(maya: Client, correlation: str) -> None:
    assert maya.get(f"/audit/trace/{correlation}").status_code == 404


def test_a_story_without_a_cycle_is_told_by_its_first_entry(maya: Client) -> None:
    token = ledger.correlation.set("by-hand")
    try:
        with transaction.atomic():
            entry = ledger.Entry("resource/one", "resource.created", "agent/one")
            ledger.append([entry], actor=SYSTEM, now=timezone.now())
    finally:
        ledger.correlation.reset(token)
    page = text(maya, "/audit/trace/by-hand")
    assert '<h1 class="mt">System declared one</h1>' in page
    assert "Nothing came of it that needs anybody." in page


def test_a_failed_cycle_says_so(maya: Client) -> None:
    cycle = Cycle.objects.get(controller__name="agent-performance", number=1)
    Cycle.objects.filter(pk=cycle.pk).update(outcome="failed")
    assert "Failed" in text(maya, f"/audit/trace/{story()}")


def test_a_long_story_is_cut_and_says_so(maya: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "MOST", 10)
    page = text(maya, f"/audit/trace/{story()}")
    assert "The first 10 entries. Export JSON has all of them." in page
    assert len(re.findall(r'<tr id="entry-', page)) == 10


@pytest.mark.parametrize("name", ["trace-head", "trace-bars", "trace-entries"])
def test_parts_equal_the_page(maya: Client, name: str) -> None:
    address = f"/audit/trace/{story()}"
    part = maya.get(address, headers={"Live-Parts": name}).content.decode().strip()
    ages = re.compile(r"\d+ s ago")
    assert part
    assert ages.sub("", part) in ages.sub("", text(maya, address))


def test_the_page_costs_the_same_for_a_long_story(vera: Client, organisation: Clock) -> None:
    address = f"/audit/trace/{story()}"
    text(vera, address)
    few = statements(vera, address)
    token = ledger.correlation.set(story())
    try:
        with transaction.atomic():
            entries = [
                ledger.Entry(f"resource/{number}", "resource.created", "agent/many")
                for number in range(100)
            ]
            ledger.append(entries, actor=SYSTEM, now=timezone.now())
    finally:
        ledger.correlation.reset(token)
    assert statements(vera, address) == few
    assert few == expected("web", "trace", few)
