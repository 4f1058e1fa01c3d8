"""One answer to many, rules instead of answers, and the toast."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.decisions import answers
from controllers.decisions.proposals import SeenRevision
from controllers.models import Proposal
from tests.conftest import Clock
from tests.decisions import making
from tests.web import proposing
from tests.web.proposing import HTMX, answer, of, text

pytestmark = pytest.mark.sqlite


@pytest.fixture
def organisation(db: None, clock: Clock) -> Clock:
    """Make a small one: three agents, and something proposed about each."""
    proposing.settle(clock)
    return clock


@pytest.fixture
def throttle(organisation: Clock) -> Proposal:
    """Return a proposal of low risk."""
    return of("throttle")


def test_many_are_decided_at_once_each_by_itself(maya: Client, organisation: Clock) -> None:
    simple = list(Proposal.objects.filter(risk="low"))
    grave = making.proposal(organisation, simple[0].resource, risk="high")
    changed = simple[0]
    picked = [f"{each.pk}:{each.tag}" for each in [*simple, grave]]
    answers.reject(
        changed.pk,
        person=User.objects.get(username="tomas"),
        seen=SeenRevision(changed.revision, changed.action_digest),
        now=organisation.now,
        reason="No",
    )

    said = maya.post("/approvals/decide", {"sel": picked, "answer": "approve"})

    told = text(said)
    assert said.status_code == 200
    assert f"{len(simple) - 1} of {len(simple) + 1} approved" in told
    assert "decide it by itself" in told
    assert "It is rejected, decided by person/tomas" in told


def test_many_that_all_went_through_lead_back_to_the_queue(
    maya: Client, organisation: Clock
) -> None:
    simple = list(Proposal.objects.filter(risk="low"))
    picked = [f"{each.pk}:{each.tag}" for each in simple]

    said = maya.post("/approvals/decide", {"sel": picked, "answer": "approve"})

    assert said.status_code == 303
    assert Proposal.objects.filter(state="approved").count() == len(simple)
    assert f"{len(simple)} approved. They run in 8 s." in text(maya.get("/approvals", follow=True))


def test_many_are_snoozed_with_one_reason(maya: Client, organisation: Clock) -> None:
    picked = [f"{each.pk}:{each.tag}" for each in Proposal.objects.filter(risk="low")]

    asked = maya.post("/approvals/decide", {"sel": picked, "answer": "snooze"})
    given = {"sel": picked, "answer": "snooze", "said": "1", "reason": "Tomorrow", "for": "7d"}
    said = maya.post("/approvals/decide", given)

    assert asked.status_code == 200
    assert asked.content.decode().count('name="sel"') == len(picked)
    assert said.status_code == 303
    assert Proposal.objects.exclude(quiet_until=None).count() == len(picked)


@pytest.mark.parametrize(
    "data",
    [
        {"answer": "approve", "sel": ["x"]},
        {"answer": "approve", "sel": ["1:1"]},
        {"answer": "dance", "sel": ["1:1:" + "0" * 64]},
        {"answer": "approve", "sel": ["1:1:" + "0" * 64] * 201},
        {"answer": "snooze", "said": "1", "sel": ["1:1:" + "0" * 64]},
    ],
)
def test_many_that_make_no_sense_are_refused(maya: Client, data: dict[str, Any]) -> None:
    assert maya.post("/approvals/decide", data).status_code == 400


def test_nothing_selected_is_said(maya: Client) -> None:
    said = maya.post("/approvals/decide", {"answer": "approve"}, follow=True)

    assert "Select something first." in text(said)


def test_a_rule_is_itself_a_proposal_for_two_others(ines: Client, maya: Client) -> None:
    sample = of("throttle")
    page = text(maya.get(f"/approvals/automatic?cause={sample.cause}"))

    refused = maya.post("/approvals/automatic", {"cause": sample.cause, "reason": "Always"})
    said = ines.post("/approvals/automatic", {"cause": sample.cause, "reason": "Always"})

    rule = Proposal.objects.latest("pk")
    assert "Nobody has decided about it in 90 days." in page
    assert "It would have run 3 of the 3 proposals of this week without asking." in page
    assert "two other people have to approve it" in page
    assert refused.status_code == 403
    assert said.status_code == 303
    assert rule.resource == sample.controller
    assert rule.people == 2
    assert rule.actions[0]["parameters"]["patch"] == {
        "enforcementMode": "enforce",
        "approval": "auto",
    }


@pytest.mark.parametrize("cause", ["", "nobody", "\x00", "x" * 500])
def test_a_rule_for_nothing_is_not_found(maya: Client, cause: str) -> None:
    assert maya.get("/approvals/automatic", {"cause": cause}).status_code == 404


def test_a_rule_needs_a_reason(ines: Client) -> None:
    said = ines.post("/approvals/automatic", {"cause": of("throttle").cause, "reason": " "})

    assert said.status_code == 400
    assert "Say why it should be done." in text(said)


def test_undo_from_the_toast_says_what_came_of_it_there(maya: Client, throttle: Proposal) -> None:
    answer(maya, throttle, "approve", HTMX, place="pane")
    throttle.refresh_from_db()

    undone = answer(maya, throttle, "withdraw", HTMX, place="toast", reason="Taken back")
    Proposal.objects.filter(pk=throttle.pk).update(state="succeeded", answer="approve")
    late = answer(maya, throttle, "withdraw", HTMX, place="toast", reason="Too slow")

    assert "Taken back. Nothing runs." in text(undone)
    assert undone.content.decode().lstrip().startswith('<div class="toast">')
    assert late.status_code == 409
    assert "Your answer was not recorded." in text(late)
    assert 'id="decision"' not in late.content.decode()


def test_a_refusal_never_lands_beside_another_proposal(
    maya: Client, vera: Client, throttle: Proposal
) -> None:
    refused = answer(vera, throttle, "approve", HTMX, place="pane", reason="Please")

    assert refused.headers["HX-Retarget"] == (f'#pane[data-at="{throttle.pk}"] #decision')
