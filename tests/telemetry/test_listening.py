"""Alert rules ring once and end, chores write statuses, events are forgotten in time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from controllers import telemetry
from controllers.models import Alert, TelemetryCount, TelemetryEvent
from controllers.worker import housekeeping
from resources.tables.models import LedgerEvent, Resource
from tests.conftest import Clock
from tests.resources.making import live
from tests.telemetry.telling import arrival, contract, kept, story, tell, teller

pytestmark = pytest.mark.django_db


def ruled(clock: Clock, **condition: Any) -> Resource:
    """Declare a contract with an alert rule."""
    rule = {"condition": condition, "severity": "error", "channels": ["ops", "pager"]}
    return contract(clock, observability={"alertRule": rule})


def rings() -> list[tuple[str, str, bool]]:
    rows = Alert.objects.order_by("pk")
    return [(each.channel, each.severity, each.resolved_at is None) for each in rows]


def test_a_rate_rings_once_and_ends(clock: Clock) -> None:
    ruled(clock, metric="events.count", operator="gt", value=2, window="5m")
    token = teller(clock)

    tell(token, arrival(), arrival(), now=clock.now)
    telemetry.listen(clock.now)
    quiet = rings()
    tell(token, arrival(), now=clock.now)
    for _ in range(3):
        telemetry.listen(clock.now)
        tell(token, arrival(), now=clock.now)
    loud = rings()
    clock.advance(minutes=7)
    telemetry.listen(clock.now)
    telemetry.listen(clock.now)

    assert quiet == []
    assert loud == [("ops", "error", True), ("pager", "error", True)]
    assert rings() == [("ops", "error", False), ("pager", "error", False)]
    told = [each.event.partition(".")[2] for each in story() if "alert" in each.event]
    assert told == ["alert-triggered", "alert-resolved"]
    assert story("alert-triggered")[0].payload["value"] == 3


def test_it_rings_anew_in_another_episode(clock: Clock) -> None:
    ruled(clock, metric="events.perMinute", operator="gte", value=1, window="2m")
    token = teller(clock)

    for _ in range(2):
        tell(token, arrival(), arrival(), now=clock.now)
        telemetry.listen(clock.now)
        clock.advance(minutes=5)
        telemetry.listen(clock.now)

    assert len(story("alert-triggered")) == len(story("alert-resolved")) == 2


def test_silence_rings_where_events_are_expected(clock: Clock) -> None:
    ruled(clock, metric="events.count", operator="lt", value=1, window="1h")

    telemetry.listen(clock.now)

    assert [each for *_, each in rings()] == [True, True]


def test_a_part_that_breaks_the_contract_rings(clock: Clock) -> None:
    ruled(clock, metric="events.errorRate", operator="gt", value=0.4, window="1h")
    token = teller(clock)

    tell(token, arrival(), arrival(payload={}), now=clock.now)
    telemetry.listen(clock.now)

    assert story("alert-triggered")[0].payload["value"] == 0.5


def test_a_field_of_the_last_payload_rings(clock: Clock) -> None:
    ruled(clock, metric="payload.seats", operator="gte", value=100, window="1h")
    token = teller(clock)

    for seats, ringing in ((100, 2), (99, 0), (250, 2)):
        tell(token, arrival(payload={"plan": "a", "seats": seats}), now=clock.now)
        telemetry.listen(clock.now)
        assert Alert.objects.filter(resolved_at=None).count() == ringing


def test_an_expression_is_asked_in_the_checked_language(clock: Clock) -> None:
    ruled(
        clock,
        expression="telemetry.status.events.count >= 2 && telemetry.status.events.errorRate > 0.9",
        window="1h",
    )
    token = teller(clock)

    tell(token, arrival(payload={}), now=clock.now)
    telemetry.listen(clock.now)
    before = rings()
    tell(token, arrival(payload={}), now=clock.now)
    telemetry.listen(clock.now)

    assert (before, len(rings())) == ([], 2)


def test_an_alert_ends_with_its_rule(clock: Clock) -> None:
    ruled(clock, metric="events.count", operator="gte", value=0, window="1h")
    telemetry.listen(clock.now)

    contract(clock)
    telemetry.listen(clock.now)

    assert not Alert.objects.filter(resolved_at=None).exists()


def test_a_thousand_events_write_the_status_once(clock: Clock) -> None:
    """A-01 A-10"""
    contract(clock)
    token = teller(clock)
    before = live("Telemetry", "signup-completed").resource_version

    for _ in range(4):
        tell(token, *[arrival() for _ in range(250)], now=clock.now)
    untouched = live("Telemetry", "signup-completed").resource_version
    written = telemetry.publish(clock.now)

    assert (untouched, written) == (before, 1)
    row = live("Telemetry", "signup-completed")
    assert row.status == {
        "eventRate": 1000,
        "lastEmitted": clock.now.isoformat().replace("+00:00", "Z"),
        "errorRate": 0,
        "avgPayloadSize": len(b'{"plan":"team","seats":3}'),
    }
    reported = LedgerEvent.objects.filter(event="resource.status-reported")
    assert reported.count() == 1


def test_what_arrives_late_moves_no_time_back(clock: Clock) -> None:
    """A-30 A process whose clock is slow, and an event that happened long ago."""
    contract(clock)
    token = teller(clock)
    last = clock.now.isoformat().replace("+00:00", "Z")

    tell(token, arrival(), now=clock.now)
    tell(token, arrival(at=clock.now - timedelta(days=1)), now=clock.now)
    tell(token, arrival(), now=clock.now - timedelta(minutes=3))
    telemetry.publish(clock.now)

    said = live("Telemetry", "signup-completed").status
    assert (said["lastEmitted"], said["eventRate"]) == (last, 3)


def test_a_day_without_events_writes_nothing(clock: Clock) -> None:
    contract(clock)
    tell(teller(clock), arrival(), now=clock.now)
    telemetry.publish(clock.now)
    version = live("Telemetry", "signup-completed").resource_version

    clock.advance(days=1)

    assert telemetry.publish(clock.now) == 0
    assert live("Telemetry", "signup-completed").resource_version == version


def test_the_loop_listens_publishes_and_forgets(clock: Clock) -> None:
    done = housekeeping.run_due(clock.now)

    assert {"telemetry alerts", "telemetry status", "events"} <= set(done)


def test_a_contract_says_how_long_its_events_are_kept(clock: Clock) -> None:
    contract(clock, retention={"duration": "7d"})
    contract(clock, "kept", event="growth.kept", retention={"duration": "permanent"})
    token = teller(clock)
    tell(token, arrival(), arrival("growth.kept"), now=clock.now)
    clock.advance(days=6)
    tell(token, arrival(), now=clock.now)
    telemetry.forget(clock.now)
    assert len(kept()) == 3

    clock.advance(days=2)
    swept = telemetry.forget(clock.now)

    assert [each.event for each in kept()] == ["growth.kept", "growth.signup_completed"]
    told = LedgerEvent.objects.filter(event="retention.dropped", subject="events")
    assert [each.payload["count"] for each in told] == [1]
    assert (swept.by_age, swept.by_count) == (1, 0)


@pytest.mark.parametrize(
    ("category", "days"), [("metric", 365), ("log", 90), ("trace", 90), ("alert", 365)]
)
def test_without_a_word_the_category_says_how_long(clock: Clock, category: str, days: int) -> None:
    contract(clock, category=category)
    token = teller(clock)
    tell(token, arrival(), now=clock.now)
    tell(token, arrival("growth.unheard_of", category=category), now=clock.now)

    telemetry.forget(clock.now + timedelta(days=days - 1))
    before = TelemetryEvent.objects.count()
    telemetry.forget(clock.now + timedelta(days=days + 1))

    assert (before, TelemetryEvent.objects.count()) == (2, 0)


def test_of_each_event_only_the_newest_are_kept(clock: Clock, settings: Any) -> None:
    settings.TELEMETRY_EVENTS = 3
    contract(clock)
    token = teller(clock)
    tell(token, *[arrival(uid=str(number)) for number in range(5)], now=clock.now)

    swept = telemetry.forget(clock.now)

    assert (swept.by_age, swept.by_count) == (0, 2)
    assert [each.uid for each in kept()] == ["2", "3", "4"]


def test_minutes_are_forgotten_before_hours(clock: Clock) -> None:
    contract(clock)
    tell(teller(clock), arrival(), now=clock.now)

    telemetry.forget(clock.now + timedelta(days=3))

    assert [each.span for each in TelemetryCount.objects.all()] == ["hour"]
