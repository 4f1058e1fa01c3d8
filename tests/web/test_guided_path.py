"""The guided path of the demo, told by what is in the database."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.decisions import answers
from controllers.models import Proposal
from controllers.web.overview import tour
from controllers.worker import example_organisation
from resources.documents.actor import Actor
from resources.usecases import statuses, tokens
from resources.usecases.statuses import Report
from tests.conftest import Clock
from tests.web.conftest import look
from tests.web.test_overview import seen, text_of

pytestmark = pytest.mark.sqlite


def test_there_is_no_guided_path_without_simulated_agents(maya: Client) -> None:
    page = maya.get("/", headers={"Live-Parts": "guide"})

    assert b"hidden" in page.content
    assert b"Watch" not in page.content


def test_the_guided_path_leads_from_drift_to_decision_and_back(organisation: Clock) -> None:
    """The path is told by what is in the database, step by step."""
    now, name = organisation.now, example_organisation.GUIDED[0]
    simulate(now)

    assert at(organisation) == (name, tour.WATCH)
    drift(organisation, name)
    assert at(organisation) == (name, tour.DECIDE)
    proposal = Proposal.objects.get(resource__name=name)
    maya = User.objects.get(username="maya")
    answers.approve(proposal.pk, person=maya, seen=seen(proposal), now=organisation.now)
    assert at(organisation) == (name, tour.WORK)


def test_the_guided_path_ends_when_somebody_said_no(organisation: Clock, maya: Client) -> None:
    simulate(organisation.now)
    drift(organisation, example_organisation.GUIDED[0])
    proposal = Proposal.objects.get(resource__name=example_organisation.GUIDED[0])
    person = User.objects.get(username="maya")
    answers.reject(
        proposal.pk, person=person, seen=seen(proposal), now=organisation.now, reason="No."
    )

    said = text_of(maya.get("/", headers={"Live-Parts": "guide"}))

    assert "is left as it is" in said
    assert f"Open P-{proposal.pk} : it was rejected." in said


def simulate(now: datetime) -> None:
    """Let a simulated agent be at work."""
    issued = tokens.issue(
        example_organisation.GUIDED[0],
        scopes=["status:write"],
        lifetime=timedelta(days=1),
        actor=example_organisation.SIMULATION,
        now=now,
    )
    assert tokens.authenticate(issued.text, now=now)


def at(clock: Clock) -> tuple[str, int]:
    """Return the agent of the guided path, and the step it is at."""
    guide = tour.path(clock.now)
    assert guide is not None
    return guide.agent, guide.at


def drift(clock: Clock, name: str) -> None:
    """Let an agent report what makes it drift."""
    status = {"avgLatency": "32s", "errorRate": 0.04, "healthScore": 0.5, "state": "degraded"}
    report = Report("Agent", name, status)
    statuses.observe([report], actor=Actor("agent", name), now=clock.now)
    clock.now += timedelta(seconds=2)
    look(clock)
