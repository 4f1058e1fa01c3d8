"""The cycles of a controller, and the page of one of them."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from controllers.models import Cycle
from controllers.web.controllers.cycle_text import phases, sentence
from tests.conftest import Clock
from tests.web.conftest import look
from tests.web.test_controller_page import AGENTS, last
from tests.web.test_controllers import text, without_times

pytestmark = pytest.mark.sqlite


def test_cycles_are_listed_newest_first_and_paged(organisation: Clock, maya: Client) -> None:
    for _ in range(24):
        organisation.advance(minutes=1)
        look(organisation)
    page = "/controllers/security-auditor"

    def numbers(address: str) -> list[int]:
        found = re.findall(r'class="nm" href="[^"]*/cycles/(\d+)"', text(maya, address))
        return [int(each) for each in found]

    assert numbers(page) == list(range(25, 15, -1))
    assert 'href="?before=16"' in text(maya, page)
    assert numbers(f"{page}?before=16") == list(range(15, 5, -1))
    assert numbers(f"{page}?before=6") == [5, 4, 3, 2, 1]
    assert "Older" not in text(maya, f"{page}?before=6")
    assert "Last cycles: 25 found drift" in text(maya, page)


@pytest.mark.parametrize("query", ["before=abc", "before=%00", "before=99999999999999999999"])
def test_a_page_of_cycles_that_makes_no_sense_is_the_newest(maya: Client, query: str) -> None:
    assert f'href="{AGENTS}/cycles/1"' in text(maya, f"{AGENTS}?{query}")


def test_the_record_of_a_cycle_tells_everything(maya: Client) -> None:
    html = text(maya, f"{AGENTS}/cycles/1")

    assert html.count("<h1") == 1
    assert "Cycle 1 of agent-performance" in html
    assert "Throttle" in html
    assert 'href="/resources/agent/growth-optimizer"' in html
    assert "for people to decide" in html
    assert "agent.status.state is degraded" in " ".join(html.split())
    assert f"/audit/trace/{last().correlation_id}" in html


def test_cycles_lead_to_their_neighbours(organisation: Clock, maya: Client) -> None:
    organisation.advance(minutes=5)
    look(organisation)

    assert f'href="{AGENTS}/cycles/1"' in text(maya, f"{AGENTS}/cycles/2")
    assert f'href="{AGENTS}/cycles/2"' in text(maya, f"{AGENTS}/cycles/1")


def test_a_cycle_that_failed_says_what_went_wrong_and_where() -> None:
    cycle = Cycle(outcome="failed", phase="diff", error="On fire.", counts={}, times={})

    assert sentence(cycle) == "Failed: On fire."
    assert [each.hot for each in phases(cycle, None)] == [False, True, False, False, False]


def test_steps_that_are_too_many_to_list_are_counted() -> None:
    cycle = Cycle(
        outcome="acted", counts={"actions": 900, "success": 500, "planned": 400}, times={}
    )

    assert phases(cycle, None)[3].text == "done, 400 planned"


def test_the_record_alone_is_as_in_the_page(ines: Client) -> None:
    address = f"{AGENTS}/cycles/1"
    answer = ines.get(address, headers={"Live-Parts": "record"}).content.decode().strip()

    assert without_times(answer) in without_times(text(ines, address))
