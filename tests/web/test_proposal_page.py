"""One proposal on its page: what it rests on, what it would do, who decides, what became of it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.access import people, roles
from controllers.models import Decision, Proposal
from controllers.web.approvals.proposal_page import ProposalPage
from tests.admin.counts import expected, statements
from tests.conftest import Clock
from tests.controllers.making import declare
from tests.decisions import making
from tests.resources.making import made
from tests.web import proposing

pytestmark = pytest.mark.sqlite

PASSING = re.compile(r'<input type="hidden" name="csrfmiddlewaretoken"[^>]*>|(?<=>)[^<]*</time>')


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


def test_the_page_asks_and_says_what_follows(maya: Client, throttle: Proposal) -> None:
    said = page(maya, throttle)

    assert "Throttle growth-optimizer to 58% of its daily tokens?" in said
    assert "from 2,500,000 to 1,450,000 ." in said
    assert "It can be undone for 24 h after it ran." in said
    assert "growth-optimizer goes on." in said
    assert "and nothing runs." in said
    assert "Proposed by agent-performance for Agent/growth-optimizer in growth" in said


def test_the_page_says_which_policy_asks_for_whom(
    maya: Client, organisation: Clock, throttle: Proposal
) -> None:
    admin, tomas = (User.objects.get(username=name) for name in ("admin", "tomas"))
    board = roles.add_group("board", "", by=admin, now=organisation.now)
    roles.add_member(board, tomas, by=admin, now=organisation.now)
    asked = [{"name": "campaigns", "people": 2, "group": "board"}]
    lost = [{"name": "ghostly", "match": {"kinds": ["Agent"]}, "group": "ghosts"}]
    declare(organisation, made("Governance", "one", {"domain": "*", "approvalPolicies": asked}))

    said = page(maya, throttle)
    beside = maya.get(f"/approvals?at={throttle.pk}").content.decode()
    declare(organisation, made("Governance", "two", {"domain": "*", "approvalPolicies": lost}))
    stopped = page(maya, throttle)

    assert "2 people needed" in said
    assert "2 people of board, 0 given" in said
    assert "Policy campaigns of governance/one asks for 2 people of board." in said
    assert "approver, in board" in said
    assert "Can reject" in said
    assert "Policy campaigns of governance/one" in beside
    assert "There is no group ghosts: nobody can approve this until there is." in stopped


def test_what_drifted_is_shown_desired_before_actual(maya: Client, throttle: Proposal) -> None:
    said = page(maya, throttle)

    assert "Field Desired Actual Gap" in said
    assert "Error rate kpi/errorRate 2% or less 6.1% 3 times" in said
    assert "6.1% of calls fail." in said
    assert "Off target 2" in said


def test_all_fields_shows_what_is_not_known_too(maya: Client, throttle: Proposal) -> None:
    unknown = {
        "dimension": "kpi",
        "subject": "kpi/avgLatency",
        "verdict": "unknown",
        "desired": "<= 3 s",
    }
    change(throttle, evidence=[*throttle.evidence, unknown])

    assert "Avg latency" not in page(maya, throttle)
    assert "Avg latency kpi/avgLatency 3 s or less not reported not known" in page(
        maya, throttle, "?fields=all"
    )


def test_the_plan_saves_a_rollback_point_and_says_how_it_is_undone(
    maya: Client, throttle: Proposal
) -> None:
    said = page(maya, throttle)

    assert "Save a rollback point" in said
    assert "Set spec.tokenBudget.maxDaily from 2,500,000 to 1,450,000" in said
    assert "Undo: set back" in said
    assert "Look again, and see whether it helped" in said


def test_what_an_agent_does_saves_no_rollback_point(maya: Client, organisation: Clock) -> None:
    plan = making.action("other", "restart", parameters={"agent": "other"}, touches=[])
    row = making.proposal(organisation, making.agent(organisation, "other"), actions=[plan])

    said = page(maya, row)

    assert "Save a rollback point" not in said
    assert "Restart other" in said
    assert "Nothing to undo" in said


def test_what_cannot_be_undone_says_so(maya: Client, organisation: Clock) -> None:
    plan = making.action("other", reversible=False)
    row = making.proposal(
        organisation, making.agent(organisation, "other"), actions=[plan], reversible=False
    )

    assert "Cannot be undone" in page(maya, row)
    assert "It cannot be undone." in page(maya, row)


def test_the_checks_are_asked_as_things_stand(maya: Client, throttle: Proposal) -> None:
    assert "Spec is still at revision 1" in page(maya, throttle)
    assert "Nobody holds spec.tokenBudget.maxDaily" in page(maya, throttle)
    assert "One approval 0 of 1 given" in page(maya, throttle)

    basis = {**throttle.basis, "generation": 7}
    plan = {**throttle.actions[0], "preconditions": ["agent.status.state == 'paused'"]}
    change(throttle, basis=basis, actions=[plan])

    said = page(maya, throttle)
    assert "this plan was made for 7 and is checked anew" in said
    assert "Not true now: agent.status.state == 'paused'" in said.replace("&#x27;", "'")


def test_it_names_who_can_decide_and_who_did(
    maya: Client, organisation: Clock, throttle: Proposal
) -> None:
    change(throttle, people=2)
    tomas = people.ensure_samples(organisation.now)[1]
    Decision.objects.create(
        proposal=throttle,
        revision=1,
        person=tomas,
        actor="person/tomas",
        answer="approve",
        reason="Campaigns can wait.",
        shown=throttle.action_digest,
        at=organisation.now,
    )

    said = page(maya, throttle)

    assert "1 of 2 approvals" in said
    assert re.search(r"Tomás Silva \d\d:\d\d , “Campaigns can wait.” Approved", said)
    assert "You approver Waiting for you" in said


def test_when_nobody_can_decide_it_says_so(maya: Client, throttle: Proposal) -> None:
    change(throttle, interested=["maya", "tomas", "admin"])

    said = page(maya, throttle)

    assert "Nobody can decide this" in said
    assert "Whoever has a part in it does not approve it." in said


@pytest.mark.parametrize("key", ["0", "424242", "9" * 30])
def test_what_is_not_there_is_not_found(maya: Client, key: str) -> None:
    assert maya.get(f"/approvals/{key}").status_code == 404


def test_each_part_alone_is_as_on_the_page(maya: Client, throttle: Proposal) -> None:
    whole = PASSING.sub("", maya.get(f"/approvals/{throttle.pk}").content.decode())

    for name in ProposalPage.parts:
        alone = maya.get(f"/approvals/{throttle.pk}", headers={"Live-Parts": name})
        assert PASSING.sub("", alone.content.decode()).strip() in whole, name


def test_the_page_costs_the_same_however_much_there_is(
    maya: Client, organisation: Clock, throttle: Proposal
) -> None:
    newest = proposing.throttled(organisation, throttle.resource, None)
    address = f"/approvals/{newest.pk}"
    few = statements(maya, address)
    for number in range(30):
        plan = making.action(throttle.resource.name, reason=number)
        making.proposal(organisation, throttle.resource, actions=[plan], state="rejected")
    last = proposing.throttled(organisation, throttle.resource, None, proposer="agent/ada")

    assert statements(maya, f"/approvals/{last.pk}") <= few + 1
    assert expected("web", "proposal", few) == few
