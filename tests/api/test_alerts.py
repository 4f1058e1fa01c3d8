"""What controllers told people, over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from controllers.models import Delivery
from controllers.notifications import delivery
from tests.api.conftest import Api, assert_fits
from tests.conftest import Clock
from tests.controllers.making import (
    KEEPER,
    controller,
    declare,
    drifted,
    healthy,
    measure,
    work,
)

pytestmark = pytest.mark.django_db

TELL = {"onDrift": [{"type": "alert", "severity": "warning", "channels": ["ops"]}]}


@pytest.fixture
def alerts(today: Clock, db: None) -> None:
    """One alert that is over and two that stand, in this order."""
    declare(today, controller(actions=TELL))
    healthy(today, "farm", "harbour", "mill")
    work(today)
    for name, ships in (("farm", 10), ("farm", 100), ("harbour", 10), ("mill", 10)):
        measure(today, name, ships)
        today.advance(seconds=1)
        work(today)


def about(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.json()
    assert_fits(answer.json(), "AlertList")
    return [each["resource"] for each in answer.json()["items"]]


def test_alerts_come_newest_first(alice: Api, alerts: None) -> None:
    answer = alice.get("alerts")

    assert about(answer) == ["domain/mill", "domain/harbour", "domain/farm"]
    newest = answer.json()["items"][0]
    assert newest["controller"] == "controller/keeper"
    assert (newest["channel"], newest["severity"], newest["reason"]) == ("ops", "warning", "Drift")
    assert newest["open"] is True
    assert "resolvedAt" not in newest
    assert newest["message"].startswith("domain/mill: ")


def test_those_that_stand_and_those_that_are_over(alice: Api, alerts: None) -> None:
    standing, over = alice.get("alerts", "open=true"), alice.get("alerts", "open=false")

    assert about(standing) == ["domain/mill", "domain/harbour"]
    assert about(over) == ["domain/farm"]
    assert over.json()["items"][0]["resolvedAt"] > over.json()["items"][0]["raisedAt"]


def test_one_controllers_alerts(alice: Api, alerts: None, today: Clock) -> None:
    declare(today, controller("other", actions=TELL))

    assert len(about(alice.get("alerts", f"controller={KEEPER}"))) == 3
    assert about(alice.get("alerts", "controller=other")) == []
    assert alice.get("alerts", "controller=nobody").status_code == 404


def test_pages_join(alice: Api, alerts: None) -> None:
    first = alice.get("alerts", "limit=2")
    cursor = first.json()["nextCursor"]
    second = alice.get("alerts", f"limit=2&cursor={cursor}")

    assert about(first) + about(second) == ["domain/mill", "domain/harbour", "domain/farm"]
    assert "nextCursor" not in second.json()
    assert alice.get("alerts", f"open=true&cursor={cursor}").status_code == 400


def test_an_alert_leads_to_its_story(alice: Api, alerts: None) -> None:
    """D-07"""
    newest = alice.get("alerts").json()["items"][0]
    cycle = alice.get("controllers/keeper/cycles").json()["items"][0]

    assert newest["correlationId"] == cycle["correlationId"]


def test_an_alert_says_whether_it_got_to_its_channel(alice: Api, alerts: None) -> None:
    sent = Delivery.objects.get(alert__resource__name="mill")
    Delivery.objects.exclude(pk=sent.pk).update(state="in_app")
    when = datetime(2026, 11, 16, 10, 0, tzinfo=UTC)
    Delivery.objects.filter(pk=sent.pk).update(state="sent", attempts=2, sent_at=when)

    newest, next_one, _ = alice.get("alerts").json()["items"]

    assert newest["delivery"] == {"state": "sent", "attempts": 2, "sentAt": "2026-11-16T10:00:00Z"}
    assert next_one["delivery"] == {"state": "in_app", "attempts": 0}
    Delivery.objects.filter(pk=sent.pk).update(state="given_up", sent_at=None, error="It is gone.")
    delivery.tell("", title="Later", body="", severity="info", key="x", now=when, alert=sent.alert)
    answer = alice.get("alerts")
    about(answer)
    assert answer.json()["items"][0]["delivery"] == {
        "state": "given_up",
        "attempts": 2,
        "error": "It is gone.",
    }


def test_an_agent_reads_what_is_about_its_domain(robin: Api, today: Clock) -> None:
    declare(today, controller(actions=TELL))
    healthy(today, "growth", "finance")
    work(today)
    drifted(today, "growth", "finance")
    work(today)

    assert about(robin.get("alerts")) == ["domain/growth"]


@pytest.mark.parametrize("query", ["open=perhaps", "limit=0", "cursor=x", "resource=domain/mill"])
def test_a_bad_parameter_is_refused(alice: Api, query: str) -> None:
    assert alice.get("alerts", query).status_code == 400
