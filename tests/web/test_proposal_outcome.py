"""What became of a proposal, on its page: what ran, what it changed, what came after it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from controllers.access import people
from controllers.decisions import proposals
from controllers.models import DriftSample, Proposal, Step
from tests.conftest import Clock
from tests.decisions import making
from tests.web import proposing

pytestmark = pytest.mark.sqlite


@pytest.fixture
def organisation(db: None, clock: Clock) -> Clock:
    """Make a small one: three agents, and something proposed about each."""
    proposing.settle(clock)
    return clock


@pytest.fixture
def throttle(organisation: Clock) -> Proposal:
    """Return the first proposal."""
    return Proposal.objects.select_related("resource", "controller").order_by("pk")[0]


def page(client: Client, proposal: Proposal, query: str = "") -> str:
    """Return the words of its page."""
    seen = client.get(f"/approvals/{proposal.pk}{query}")
    assert seen.status_code == 200
    body = seen.content.decode().partition('id="main"')[2].partition('id="dialog"')[0]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def change(proposal: Proposal, **fields: Any) -> None:
    """Write something into a proposal."""
    Proposal.objects.filter(pk=proposal.pk).update(**fields)


def test_the_score_is_made_of_its_dimensions(
    maya: Client, organisation: Clock, throttle: Proposal
) -> None:
    assert throttle.controller is not None
    change(throttle, state="rejected", decided_at=organisation.now, answer="reject", score=0.42)
    for days, score in ((8, 0.12), (0, 0.42)):
        DriftSample.objects.create(
            controller=throttle.controller,
            resource=throttle.resource,
            at=organisation.now - timedelta(days=days),
            score=score,
            drifted=True,
            dimensions={"kpi": 0.9, "health": 0.5, "security": 0.0},
        )

    said = page(maya, throttle)

    assert "0.42 drift, limit 0.15. Was 0.12 a week before." in said
    assert "weight 0.3 0.27" in said
    assert "no rule violated, weight 0.2 0.00" in said


def test_it_tells_what_became_of_the_same_before(
    maya: Client, organisation: Clock, throttle: Proposal
) -> None:
    assert throttle.controller is not None
    assert "It is the first time" in page(maya, throttle)
    ran = organisation.now - timedelta(hours=5)
    change(
        throttle,
        state="succeeded",
        answer="approve",
        decided_by="person/tomas",
        decided_at=ran,
        executed_at=ran,
        score=0.29,
    )
    DriftSample.objects.create(
        controller=throttle.controller,
        resource=throttle.resource,
        at=ran + timedelta(hours=3),
        score=0.11,
        drifted=False,
    )
    again = proposing.throttled(organisation, throttle.resource, throttle.controller)

    said = page(maya, again)
    assert "Done Tomás Silva 0.29 to 0.11 in 3 h" in said


def test_what_ran_can_be_undone_while_its_window_is_open(
    maya: Client, organisation: Clock, throttle: Proposal
) -> None:
    change(
        throttle,
        state="succeeded",
        answer="approve",
        decided_by="person/tomas",
        decided_at=organisation.now,
        undo_until=organisation.now + timedelta(hours=2),
    )
    Step.objects.create(
        proposal=throttle,
        sequence=2,
        operation="throttle",
        executor="control-plane",
        idempotent=True,
        state="done",
        key="k",
        ended_at=organisation.now,
        before=[
            {
                "kind": "Agent",
                "name": "growth-optimizer",
                "path": "spec.tokenBudget.maxDaily",
                "had": True,
                "value": 2_500_000,
                "has": True,
                "wrote": 1_450_000,
            }
        ],
    )

    said = page(maya, throttle)
    assert "What was done" in said
    assert "Tomás Silva approved this" in said
    assert "from 2,500,000 to 1,450,000 Done" in said
    assert "It can be undone until" in said
    assert "verdict=undo" in maya.get(f"/approvals/{throttle.pk}").content.decode()
    change(throttle, undo_until=organisation.now - timedelta(hours=1))
    assert "verdict=undo" not in maya.get(f"/approvals/{throttle.pk}").content.decode()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"state": "unknown", "error": "The agent is silent."}, "Nobody saw how it ended."),
        ({"state": "failed", "error": "No such field."}, "It failed. No such field."),
        ({"state": "lapsed"}, "It was approved, but did not begin in time."),
        ({"state": "expired"}, "Nothing ran. A new one appears"),
        ({"state": "succeeded", "outcome": "effective"}, "It worked"),
        ({"state": "succeeded", "outcome": "worse"}, "the drift got worse"),
    ],
)
def test_what_became_of_it_is_said(
    maya: Client, throttle: Proposal, fields: dict[str, str], words: str
) -> None:
    change(throttle, **fields)

    assert words in page(maya, throttle)


def test_what_took_its_place_is_linked(
    maya: Client, organisation: Clock, throttle: Proposal
) -> None:
    new = making.proposal(organisation, throttle.resource, thread=throttle)
    change(throttle, state="superseded", superseded_by=new)

    assert f"A new plan took its place. P-{new.pk}" in page(maya, throttle)
    assert f"It follows an earlier proposal. P-{throttle.pk}" in page(maya, new)


def test_its_story_is_told(maya: Client, organisation: Clock, throttle: Proposal) -> None:
    proposals.tell(
        throttle,
        "confirm",
        actor=people.actor_for(people.ensure_samples(organisation.now)[0]),
        now=organisation.now,
    )

    story = maya.get(f"/approvals/{throttle.pk}", headers={"Live-Parts": "story"})

    assert story.content.decode().count("<li>") == 2
