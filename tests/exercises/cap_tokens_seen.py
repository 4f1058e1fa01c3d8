"""The new operation where people and programs look; run in the copy that has its file."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from controllers.models import Proposal
from resources.tables.models import Resource
from tests.api.conftest import Answer, Api
from tests.api.deciding import as_person, problem, say
from tests.conftest import Clock
from tests.decisions import carrying
from tests.decisions.making import agent

pytestmark = [pytest.mark.sqlite, pytest.mark.django_db]


@pytest.fixture
def scribe(clock: Clock) -> Resource:
    """Declare an agent with a million tokens a day."""
    clock.now = datetime.now(UTC)
    return agent(clock)


def filed(who: Api, tokens: Any) -> Answer:
    """Propose to cap an agent."""
    step = {"operation": "cap-tokens", "parameters": {"tokens": tokens}}
    body = {"resource": "agent/scribe", "actions": [step], "why": "It spends too much."}
    return who.post("proposals", body)


def test_it_is_proposed_read_changed_approved_and_carried_out(
    clock: Clock, scribe: Resource
) -> None:
    ines, maya = as_person(clock, "ines", "operator"), as_person(clock, "maya", "approver")

    assert filed(ines, 900).status_code == 201
    row = Proposal.objects.get()
    page = html.unescape(maya.client.get(f"/approvals/{row.pk}").content.decode())
    form = maya.client.get(f"/approvals/{row.pk}/decide?verdict=change").content.decode()
    said = say(maya, row, "approve")
    clock.now += timedelta(minutes=1)
    carrying.run(clock)

    words = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    assert "Cap scribe at 900 tokens a day" in words
    assert "spec.tokenBudget.maxDaily" in words
    assert "the agent spends no more than that." in words.lower()
    assert 'name="a1-tokens"' in form
    assert said.status_code == 200
    assert Resource.objects.get(pk=scribe.pk).spec["tokenBudget"]["maxDaily"] == 900


@pytest.mark.parametrize("tokens", [0, "many", None, 1.5])
def test_what_does_not_fit_is_refused(clock: Clock, scribe: Resource, tokens: Any) -> None:
    problem(filed(as_person(clock, "ines", "operator"), tokens), 400, "invalid")

    assert not Proposal.objects.exists()


def test_the_description_of_the_api_has_it(client: Client, db: None) -> None:
    found = client.get(reverse("openapi"), headers={"Accept": "application/json"}).json()

    action = found["components"]["schemas"]["FiledAction"]
    assert "cap-tokens" in action["properties"]["operation"]["enum"]
