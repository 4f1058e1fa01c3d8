"""The inbox: what people were told and no outside channel took."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.access import people, preferences
from controllers.decisions import holds
from controllers.models import Alert, Channel, Delivery, Preference
from controllers.narrative import proposal_text
from controllers.notifications import alerts, delivery
from controllers.web.find.inbox import SHOWN
from controllers.workqueue.cycle_effects import Notice
from resources.tables.models import Resource
from tests.admin.counts import expected, statements
from tests.conftest import Clock
from tests.decisions import making
from tests.resources.making import live

pytestmark = pytest.mark.sqlite


def told(clock: Clock, title: str, channel: str = "") -> Delivery:
    """Leave a message in the product."""
    delivery.tell(
        channel, title=title, body="It is so.", severity="error", key=title, now=clock.now
    )
    row = Delivery.objects.get(title=title)
    Delivery.objects.filter(pk=row.pk).update(state="in_app")
    return row


def headline(client: Client) -> str:
    """Return the first sentence of the page."""
    found = re.search(r"<h1>\s*(.*?)\s*</h1>", client.get("/inbox").content.decode())
    assert found
    return found[1]


@pytest.fixture
def organisation(db: None, clock: Clock) -> Clock:
    """Begin with people and an empty inbox."""
    people.ensure_administrator(clock.now)
    people.ensure_samples(clock.now)
    return clock


def alarm(clock: Clock, name: str = "scribe") -> Alert:
    """Let a controller tell people that an agent has drifted."""
    keeper = Resource.objects.filter(kind="Controller").first() or making.controller(clock)
    agent = making.agent(clock, name)
    notice = Notice(agent.pk, "Drift", "", "error", "It is far off.")
    alerts.raise_all(keeper.pk, [notice], "story", clock.now)
    return Alert.objects.get(resource=agent)


def test_nobody_told_anything_yet_is_said(organisation: Clock, maya: Client) -> None:
    assert headline(maya) == "No messages"
    assert b"appear here by themselves" in maya.get("/inbox").content


def test_messages_stand_newest_first_and_new_ones_are_marked(
    organisation: Clock, maya: Client
) -> None:
    told(organisation, "First")
    told(organisation, "Second")

    page = maya.get("/inbox").content.decode()

    assert headline(maya) == "2 messages are new"
    assert page.index("Second") < page.index("First")
    assert page.count('class="unread"') == 2


def test_what_was_shown_is_marked_read_and_what_came_since_is_not(
    organisation: Clock, maya: Client
) -> None:
    shown = told(organisation, "First")
    told(organisation, "Second")

    answer = maya.post("/inbox/read", {"upto": shown.pk}, follow=True)

    assert answer.redirect_chain == [("/inbox", 303)]
    assert headline(maya) == "1 message is new"


def test_reading_is_each_persons_own(organisation: Clock, maya: Client, vera: Client) -> None:
    row = told(organisation, "First")

    maya.post("/inbox/read", {"upto": row.pk})

    assert headline(maya) == "You have read everything"
    assert headline(vera) == "1 message is new"


def test_nobody_reads_what_is_still_to_come(organisation: Clock, maya: Client) -> None:
    told(organisation, "First")

    maya.post("/inbox/read", {"upto": 2**63 - 1})
    told(organisation, "Second")

    assert headline(maya) == "1 message is new"


def test_reading_never_goes_back(organisation: Clock) -> None:
    user = User.objects.get(username="maya")
    first, second = told(organisation, "First"), told(organisation, "Second")

    preferences.read_upto(user, second.pk)
    preferences.read_upto(user, first.pk)

    assert Preference.objects.get(person=user).read_upto == second.pk


@pytest.mark.parametrize("upto", ["", "abc", "-1", "9" * 40, "\x00"])
def test_nonsense_marks_nothing(organisation: Clock, maya: Client, upto: str) -> None:
    told(organisation, "First")

    answer = maya.post("/inbox/read", {"upto": upto}, follow=True)

    assert answer.status_code == 200
    assert headline(maya) == "1 message is new"


@pytest.mark.parametrize(
    ("channels", "state", "said"),
    [
        ({}, "in_app", "slack-ops is not connected: read here"),
        ({"slack-ops": False}, "in_app", "slack-ops is switched off: read here"),
        ({"slack-ops": True}, "given_up", "slack-ops did not take it: read here"),
    ],
)
def test_a_channel_that_did_not_take_it_is_named(
    organisation: Clock, maya: Client, channels: dict[str, bool], state: str, said: str
) -> None:
    for name, enabled in channels.items():
        Channel.objects.create(name=name, enabled=enabled, changed_at=organisation.now)
    row = told(organisation, "First", "slack-ops")
    Delivery.objects.filter(pk=row.pk).update(state=state)

    assert said in maya.get("/inbox").content.decode()


def test_what_was_sent_or_is_on_its_way_is_not_here(organisation: Clock, maya: Client) -> None:
    for state in ("waiting", "sent"):
        row = told(organisation, state, "slack-ops")
        Delivery.objects.filter(pk=row.pk).update(state=state)

    assert headline(maya) == "No messages"


def test_an_alert_says_whether_it_is_over(organisation: Clock, maya: Client) -> None:
    alert = alarm(organisation)

    assert b"Still open" in maya.get("/inbox").content
    alerts.resolve(alert.controller_id, [alert.resource_id], organisation.now)
    assert b"Still open" not in maya.get("/inbox").content
    assert b"Over" in maya.get("/inbox").content


def test_messages_lead_to_what_they_are_about(organisation: Clock, maya: Client) -> None:
    alarm(organisation)
    proposal = making.proposal(organisation, live("Agent", "scribe"))
    user = User.objects.get(username="maya")
    wanted = holds.HoldRequest("pause", "resource", "A test.", resource=proposal.resource_id)
    hold = holds.place(wanted, person=user, now=organisation.now).hold
    about: dict[str, Any] = {"severity": "warning", "now": organisation.now, "body": "It waits."}
    delivery.tell("", title="Waiting for people: x", key="1", proposal=proposal, **about)
    delivery.tell("", title="A pause ends soon", key="2", hold=hold, **about)

    page = maya.get("/inbox").content.decode()

    assert 'href="/resources/agent/scribe"' in page
    assert f'href="/approvals/{proposal.pk}"' in page
    assert f'href="/overrides/{hold.pk}"' in page
    assert f"Waiting for people: {proposal_text.title(proposal)}" in page


def test_what_was_deleted_since_leads_nowhere(organisation: Clock, maya: Client) -> None:
    alert = alarm(organisation)
    Resource.objects.filter(pk=alert.resource_id).update(deleted_at=organisation.now)

    page = maya.get("/inbox").content.decode()

    assert "agent/scribe has drifted" in page
    assert 'href="/resources/agent/scribe"' not in page


def test_older_messages_are_on_further_pages(organisation: Clock, maya: Client) -> None:
    rows = [told(organisation, f"Message {number:03}") for number in range(SHOWN + 3)]

    first = maya.get("/inbox").content.decode()
    second = maya.get(f"/inbox?before={rows[3].pk}").content.decode()

    assert f"?before={rows[3].pk}" in first
    assert "Message 002" not in first
    assert "Message 002" in second
    assert "Message 003" not in second


@pytest.mark.parametrize("before", ["abc", "-4", "\x00", "9" * 30, "9" * 19, "٣"])
def test_an_unknown_page_is_no_error(organisation: Clock, maya: Client, before: str) -> None:
    assert maya.get("/inbox", {"before": before}).status_code == 200


def test_the_parts_are_the_same_alone(organisation: Clock, maya: Client) -> None:
    alarm(organisation)
    Delivery.objects.update(created_at=organisation.now - timedelta(days=3))
    whole = maya.get("/inbox").content.decode()

    for name in ("inbox-head", "inbox-list"):
        alone = maya.get("/inbox", headers={"Live-Parts": name}).content.decode().strip()
        assert alone
        assert alone in whole


def test_the_inbox_costs_the_same_whatever_there_is(organisation: Clock, maya: Client) -> None:
    told(organisation, "First", "slack-ops")
    alarm(organisation)
    statements(maya, "/inbox")
    few = statements(maya, "/inbox")
    for number in range(20):
        alarm(organisation, f"scribe-{number}")
        told(organisation, f"Message {number}", f"channel-{number}")

    assert statements(maya, "/inbox") == few
    assert expected("web", "inbox", few) == few


def test_only_people_who_are_signed_in_read_it(organisation: Clock) -> None:
    assert Client().get("/inbox").status_code == 302
    assert Client().post("/inbox/read", {"upto": 1}).status_code == 302
