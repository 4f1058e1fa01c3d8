"""Drills of the way to step in, over HTTP and on the page of a Governance."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.worker import drills
from resources.tables.ledger import instant
from tests.admin.counts import expected, statements
from tests.api.conftest import Api
from tests.api.deciding import as_user, good, problem
from tests.conftest import Clock
from tests.decisions.making import person
from tests.resources.making import apply, made

pytestmark = pytest.mark.django_db

PATH = "governance/rules/drills"
PAGE = "/resources/governance/rules"


@pytest.fixture
def ines(today: Clock, db: None) -> User:
    spec = {"domain": "growth", "humanOverride": {"drillEvery": "30d"}}
    assert apply(today.now, made("Domain", "growth"), made("Governance", "rules", spec)).written
    return person(today, "ines", "operator")


def test_a_drill_is_asked_for_run_by_the_loop_and_read(today: Clock, ines: User) -> None:
    asked = good(as_user(ines).post(PATH, {}), "Drill", 202)
    assert (asked["state"], asked["author"]) == ("asked", "person/ines")
    drills.sweep(today.now)

    found = good(as_user(ines).get(PATH), "DrillList")

    assert [each["state"] for each in found["items"]] == ["passed"]
    assert found["lastOverrideTest"] == instant(today.now)
    assert found["every"] == "30d"


def test_a_second_one_waits_for_the_first(ines: User) -> None:
    good(as_user(ines).post(PATH, {}), "Drill", 202)

    problem(as_user(ines).post(PATH, {}), 409, "refused")


def test_a_viewer_reads_drills_and_asks_for_none(today: Clock, ines: User) -> None:
    vera = as_user(person(today, "vera", "viewer"))

    assert good(vera.get(PATH), "DrillList")["items"] == []
    problem(vera.post(PATH, {}), 403, "forbidden")


def test_a_token_asks_for_no_drill(robin: Api, ines: User) -> None:
    assert robin.post(PATH, {}).status_code == 403


def test_there_are_no_drills_of_what_is_not_there(ines: User) -> None:
    problem(as_user(ines).get("governance/nothing/drills"), 404, "not-found")


def test_the_button_on_the_page_asks_for_a_drill(today: Clock, ines: User) -> None:
    browser = Client()
    browser.force_login(ines)
    assert "Drill now" in browser.get(PAGE).content.decode()

    answer = browser.post("/governance/rules/drill", follow=True)

    assert "The loop runs it within seconds." in answer.content.decode()
    drills.sweep(today.now)
    page = browser.get(PAGE).content.decode()
    assert "Passed" in page
    assert "The pause stopped an effect" in page


def test_who_may_not_operate_sees_no_button_and_is_told_why(today: Clock, ines: User) -> None:
    browser = Client()
    browser.force_login(person(today, "vera", "viewer"))

    assert "Drill now" not in browser.get(PAGE).content.decode()
    said = browser.post("/governance/rules/drill", follow=True).content.decode()
    assert "operator" in said


def test_the_page_of_a_governance_takes_a_known_number_of_statements(
    today: Clock, ines: User
) -> None:
    drills.ask("rules", person=ines, now=today.now)
    drills.sweep(today.now)
    browser = Client()
    browser.force_login(ines)
    browser.get(PAGE)

    taken = statements(browser, PAGE)

    assert taken == expected("each", "resource of a governance", taken)
