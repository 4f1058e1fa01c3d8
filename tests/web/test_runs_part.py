"""The page of a workflow shows its last runs, with their steps, as they are now."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from controllers.access import people
from controllers.web.base.page import PageRequest
from controllers.web.resources.resource_page import ResourcePage
from controllers.workflows import runs
from resources.tables.models import LedgerEvent
from tests.admin.counts import expected, statements
from tests.conftest import Clock
from tests.decisions.making import person
from tests.runs.working import (
    asked,
    begin,
    done,
    failed,
    say,
    start,
    step,
    workflow,
)

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

PAGE = "/resources/workflow/release"
HOSTILE = '<script>alert("x")</script> \u202eGOOD\u202c'


@pytest.fixture
def operator(clock: Clock) -> User:
    return person(clock, "ines", "operator")


@pytest.fixture
def browser(clock: Clock) -> Client:
    client = Client()
    client.force_login(people.ensure_administrator(clock.now))
    return client


def shown(browser: Client) -> str:
    """Return the part of the page about runs."""
    return browser.get(PAGE, headers={"Live-Parts": "runs"}).content.decode()


def test_a_workflow_that_was_not_run_says_so(clock: Clock, browser: Client) -> None:
    workflow(clock)

    assert "It has not been run here." in browser.get(PAGE).content.decode()


def test_the_last_runs_are_shown_with_their_steps(
    clock: Clock, browser: Client, operator: User
) -> None:
    workflow(clock, step("write"), step("check", "write", action="GATE: Right?"))
    for _ in range(6):
        run = start(clock, operator)
    done(clock, run, "write")

    part = shown(browser)

    assert part.count("<tr>") == 1 + 5
    assert "Waits for people" in part
    assert "write, completed" in part
    assert reverse("proposal", args=[asked(run).pk]) in part


def test_a_failed_run_says_why_in_a_quote(clock: Clock, browser: Client, operator: User) -> None:
    workflow(clock)
    run = start(clock, operator)

    failed(clock, run, "write", "validation")

    assert '<q class="sub">write: It broke.</q>' in shown(browser)


def test_what_an_agent_writes_is_quoted_and_harmless(
    clock: Clock, browser: Client, operator: User
) -> None:
    workflow(clock)
    run = start(clock, operator)
    began = begin(clock, run, "write")
    said = runs.AgentStepReport("fail", began.fence, error_class="validation", error=HOSTILE)
    say(clock, run, "write", said)

    part = shown(browser)

    assert "<script>" not in part
    assert "&lt;script&gt;" in part
    assert "\u202e" not in part


def test_every_move_of_a_run_concerns_the_part(clock: Clock, operator: User) -> None:
    workflow(clock)
    run = start(clock, operator)
    look = PageRequest(PAGE, QueryDict(), clock.now)

    piece = ResourcePage(look, "workflow", "release").pieces()["runs"]

    told = LedgerEvent.objects.filter(stream=run.stream)
    assert {each.subject for each in told} <= piece.topics
    assert piece.shared


def test_other_kinds_have_no_such_part(clock: Clock) -> None:
    look = PageRequest("/resources/agent/scribe", QueryDict(), clock.now)

    assert "runs" not in ResourcePage(look, "agent", "scribe").pieces()


@pytest.mark.parametrize("number", [1, 5])
def test_the_page_of_a_workflow_takes_a_known_number_of_statements(
    clock: Clock, browser: Client, operator: User, number: int
) -> None:
    workflow(clock)
    for _ in range(number):
        start(clock, operator)
    browser.get(PAGE)

    taken = statements(browser, PAGE)

    assert taken == expected("each", "resource of a workflow", taken)
