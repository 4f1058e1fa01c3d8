"""Thousands of open proposals: the queue stays as quick and as short."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from controllers.models import Proposal
from resources.tables.models import Resource
from tests.admin.counts import expected, statements
from tests.conftest import Clock
from tests.web import proposing

pytestmark = [pytest.mark.sqlite, pytest.mark.full]


@pytest.fixture
def organisation(db: None, clock: Clock) -> Clock:
    """Make a small one: three agents, and something proposed about each."""
    proposing.settle(clock)
    return clock


def group(response: Any, name: str) -> str:
    """Return one group of the queue."""
    body = response.content.decode().partition('id="queue"')[2].partition('id="bulk"')[0]
    found = re.search(rf'id="g-{name}".*?(?=id="g-|$)', body, re.DOTALL)
    return found.group() if found else ""


def rows_in(part: str) -> list[int]:
    """Return the numbers of the proposals in a piece of the queue."""
    return [int(each) for each in re.findall(r'id="p-(\d+)"', part)]


def agents(clock: Clock, count: int) -> list[Resource]:
    """Make agents quickly: what they declare does not matter here."""
    sample = Resource.objects.get(kind="Agent", name="growth-optimizer")
    fields = {
        each.attname: getattr(sample, each.attname)
        for each in Resource._meta.fields
        if each.attname not in ("id", "uid", "name")
    }
    return Resource.objects.bulk_create(
        Resource(**fields, name=f"agent-{number}") for number in range(count)
    )


def open_many(clock: Clock, count: int) -> None:
    """Open proposals of all sorts, quickly."""
    sample = Proposal.objects.select_related("resource").order_by("pk")[0]
    fields = {
        each.attname: getattr(sample, each.attname)
        for each in Proposal._meta.fields
        if each.attname not in ("id", "uid", "resource_id", "risk", "expires_at")
    }
    Proposal.objects.bulk_create(
        Proposal(
            **fields,
            resource=agent,
            risk=("low", "medium", "high")[number % 3],
            expires_at=clock.now + timedelta(days=1, seconds=number),
        )
        for number, agent in enumerate(agents(clock, count))
    )


def test_five_thousand_open_proposals_fit(maya: Client, organisation: Clock) -> None:
    open_many(organisation, 20)
    address = maya.get("/approvals").headers["Location"]
    few = statements(maya, address)
    open_many_more(organisation)

    seen = maya.get(address)
    assert statements(maya, address) <= few
    assert expected("web", "approvals", few) == few
    assert len(seen.content) < 200_000
    assert len(rows_in(group(seen, "mine"))) == 50
    assert "50+" in group(seen, "mine")


def open_many_more(clock: Clock) -> None:
    """Add five thousand to what is open."""
    Resource.objects.filter(name__startswith="agent-").update(kind="Budget")
    open_many(clock, 5_000)


def test_the_rest_of_a_group_is_a_link_away(maya: Client, organisation: Clock) -> None:
    open_many(organisation, 120)
    seen: list[int] = []
    address = "/approvals?group=mine&list=1&at=1"
    for _ in range(4):
        page = maya.get(address, follow=True)
        part = group(page, "mine")
        seen += rows_in(part)
        more = re.search(r'class="more"><a class="link" href="([^"]+)"', part)
        if more is None:
            break
        address = more.group(1).replace("&amp;", "&")

    assert len(seen) == len(set(seen)) == Proposal.objects.count()
