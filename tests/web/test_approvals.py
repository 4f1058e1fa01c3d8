"""The queue: groups, filters, one proposal beside it, and how much of it fits."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.access import roles
from controllers.models import Decision, Grant, Proposal
from controllers.web.approvals.approvals_page import Approvals
from tests.conftest import Clock, given
from tests.decisions import making
from tests.rows import every_row
from tests.web import proposing
from tests.web.conftest import SignIn

pytestmark = pytest.mark.sqlite

# What is different at every look: the token of a form, and how long ago something was.
PASSING = re.compile(r'<input type="hidden" name="csrfmiddlewaretoken"[^>]*>|(?<=>)[^<]*</time>')


@pytest.fixture
def organisation(db: None, clock: Clock) -> Clock:
    """Make a small one: three agents, and something proposed about each."""
    proposing.settle(clock)
    return clock


def text(response: Any) -> str:
    """Return the words of an answer, without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def group(response: Any, name: str) -> str:
    """Return one group of the queue."""
    body = response.content.decode().partition('id="queue"')[2].partition('id="bulk"')[0]
    found = re.search(rf'id="g-{name}".*?(?=id="g-|$)', body, re.DOTALL)
    return found.group() if found else ""


def rows_in(part: str) -> list[int]:
    """Return the numbers of the proposals in a piece of the queue."""
    return [int(each) for each in re.findall(r'id="p-(\d+)"', part)]


def test_the_first_one_is_read_and_stays_in_the_address(maya: Client) -> None:
    first = maya.get("/approvals")

    soonest = Proposal.objects.order_by("expires_at", "pk")[0]
    assert first.status_code == 302
    assert first.headers["Location"] == f"/approvals?at={soonest.pk}&list=1"
    page = maya.get(first.headers["Location"])
    assert f'id="p-{soonest.pk}" aria-current="true"' in page.content.decode()
    assert "Throttle growth-optimizer to 58% of its daily tokens?" in text(page)


def test_a_row_says_what_why_how_grave_and_how_long(maya: Client) -> None:
    mine = group(maya.get("/approvals", follow=True), "mine")

    assert "Throttle growth-optimizer to 58% of its daily tokens" in mine
    assert "6.1% of calls fail" in mine
    assert 'class="risk low"' in mine
    assert "data-left" in mine
    assert "growth</span>" in mine


def test_what_needs_me_and_what_waits_for_others_are_apart(
    maya: Client, organisation: Clock
) -> None:
    own = making.proposal(
        organisation,
        making.agent(organisation, "mine"),
        proposer="person/maya",
        interested=["maya"],
    )
    seen = maya.get("/approvals", follow=True)

    assert own.pk in rows_in(group(seen, "others"))
    assert own.pk not in rows_in(group(seen, "mine"))
    assert len(rows_in(group(seen, "mine"))) == 3


def test_what_i_approved_already_waits_for_others(maya: Client, organisation: Clock) -> None:
    both = making.proposal(organisation, making.agent(organisation, "two"), people=2)
    Decision.objects.create(
        proposal=both,
        revision=both.revision,
        person=User.objects.get(username="maya"),
        actor="person/maya",
        answer="approve",
        shown=both.action_digest,
        at=organisation.now,
    )

    assert both.pk in rows_in(group(maya.get("/approvals", follow=True), "others"))


def test_somebody_who_decides_one_domain_sees_the_rest_as_others(
    maya: Client, organisation: Clock
) -> None:
    Grant.objects.filter(person__username="maya").update(domain="support")
    given(User.objects.get(username="maya"), "viewer")
    there = making.proposal(organisation, making.agent(organisation, "helper", domain="support"))

    seen = maya.get("/approvals", follow=True)

    assert rows_in(group(seen, "mine")) == [there.pk]
    assert len(rows_in(group(seen, "others"))) == 3


def test_what_people_always_approve_is_routine_and_shows_its_record(
    maya: Client, organisation: Clock
) -> None:
    past = [
        making.proposal(
            organisation,
            making.agent(organisation, f"past-{number}"),
            state="succeeded",
            answer="approve",
            cause=proposing.CAUSE,
        )
        for number in range(3)
    ]

    seen = maya.get("/approvals", follow=True)
    routine = group(seen, "routine")

    assert len(rows_in(routine)) == 3
    assert "approved 3 of 3 times" in routine
    assert f"/approvals/automatic?cause={proposing.CAUSE}" in routine
    Proposal.objects.filter(pk=past[0].pk).update(answer="reject", state="rejected")
    assert not group(maya.get("/approvals", follow=True), "routine")


def test_what_made_things_worse_is_not_routine(maya: Client, organisation: Clock) -> None:
    for number in range(4):
        making.proposal(
            organisation,
            making.agent(organisation, f"past-{number}"),
            state="failed",
            answer="approve",
            outcome="worse" if number == 0 else "effective",
            cause=proposing.CAUSE,
        )

    assert not group(maya.get("/approvals", follow=True), "routine")


def test_what_was_decided_is_under_way_and_then_past(maya: Client, organisation: Clock) -> None:
    first = Proposal.objects.order_by("pk")[0]
    Proposal.objects.filter(pk=first.pk).update(state="executing")
    assert rows_in(group(maya.get("/approvals", follow=True), "underway")) == [first.pk]

    Proposal.objects.filter(pk=first.pk).update(state="succeeded")
    past = maya.get("/approvals?state=decided", follow=True)
    assert rows_in(group(past, "past")) == [first.pk]
    assert "Done" in group(past, "past")


def test_what_was_snoozed_is_apart(maya: Client, organisation: Clock) -> None:
    first = Proposal.objects.order_by("pk")[0]
    later = organisation.now + timedelta(days=1)
    Proposal.objects.filter(pk=first.pk).update(quiet_until=later)

    seen = maya.get("/approvals", follow=True)

    assert rows_in(group(seen, "snoozed")) == [first.pk]
    assert first.pk not in rows_in(group(seen, "mine"))


def test_filters_are_plain_parameters(maya: Client, organisation: Clock) -> None:
    other = making.proposal(
        organisation, making.agent(organisation, "helper", domain="support"), risk="medium"
    )
    found = {
        "domain=support": {other.pk},
        "risk=medium": {other.pk},
        "controller=agent-performance": set(
            Proposal.objects.exclude(pk=other.pk).values_list("pk", flat=True)
        ),
        "q=helper": {other.pk},
        f"q=P-{other.pk}": {other.pk},
        "q=nothing": set(),
        f"cause={proposing.CAUSE}": set(
            Proposal.objects.exclude(pk=other.pk).values_list("pk", flat=True)
        ),
        "age=day": set(),
    }
    for query, keys in found.items():
        seen = maya.get(f"/approvals?{query}", follow=True)
        assert set(rows_in(seen.content.decode())) == keys, query


def test_only_mine_leaves_the_others_out(vera: Client, maya: Client) -> None:
    assert len(rows_in(maya.get("/approvals?mine=1", follow=True).content.decode())) == 3
    assert not rows_in(vera.get("/approvals?mine=1", follow=True).content.decode())


@every_row(
    "query",
    [
        "at=abc",
        "at=999999",
        "at=" + "9" * 30,
        "state=x&risk=y&mode=z&age=q&group=no",
        "after=x",
        "group=mine&after=2026-01-01~1",
        "group=mine&after=2026-01-01T00:00:00%2B00:00~" + "9" * 40,
        "domain=%00",
        "q=%00%01",
        "q=" + "x" * 5000,
        "cause=" + "y" * 400,
    ],
    rolled_back=True,
)
def test_what_is_not_understood_is_ignored(maya: Client, query: str) -> None:
    assert maya.get(f"/approvals?{query}", follow=True).status_code == 200


def test_a_viewer_can_select_nothing(vera: Client) -> None:
    seen = vera.get("/approvals", follow=True).content.decode()

    assert 'name="sel"' not in seen
    assert 'data-verdict="reject"' not in seen
    assert "Only an approver of growth decides this." in seen


def test_what_is_grave_cannot_be_selected(maya: Client, organisation: Clock) -> None:
    grave = making.proposal(organisation, making.agent(organisation, "grave"), risk="high")

    seen = maya.get("/approvals", follow=True).content.decode()

    assert f'id="p-{grave.pk}"' in seen
    assert f"sel-{grave.pk}-" not in seen
    assert seen.count('name="sel"') == 3


def test_an_empty_queue_says_what_comes_next(maya: Client) -> None:
    Proposal.objects.all().delete()

    seen = maya.get("/approvals")

    assert seen.status_code == 200
    assert "Nothing needs you" in text(seen)
    assert "What controllers and agents want done appears here." in text(seen)


def test_the_pane_is_fetched_alone(maya: Client) -> None:
    last = Proposal.objects.order_by("-pk")[0]

    pane = maya.get(
        f"/approvals?at={last.pk}", headers={"HX-Request": "true", "HX-Target": "pane"}
    )

    body = pane.content.decode()
    assert " ".join(body.split()).startswith('<article class="pane" id="pane"')
    assert f'data-at="{last.pk}"' in body
    assert "data-chosen" in body
    assert 'id="queue"' not in body


def test_each_part_alone_is_as_on_the_page(maya: Client) -> None:
    address = maya.get("/approvals").headers["Location"]
    whole = PASSING.sub("", maya.get(address).content.decode())

    for name in Approvals.parts:
        alone = maya.get(address, headers={"Live-Parts": name})
        assert PASSING.sub("", alone.content.decode()).strip() in whole, name


def test_somebody_who_decides_for_another_finds_it_in_the_queue(
    sign_in: SignIn, organisation: Clock
) -> None:
    vera, maya = (User.objects.get(username=name) for name in ("vera", "maya"))
    roles.delegate(
        vera,
        person=maya,
        starts_at=organisation.now,
        ends_at=organisation.now + timedelta(days=1),
        now=organisation.now,
    )

    assert len(rows_in(group(sign_in("vera").get("/approvals", follow=True), "mine"))) == 3
